// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>
#include <vector>

#include "aten/row.h"
#include "ir/graph.h"

/// What fold_qdq asks about the operands of one node.
namespace tosaic {

/// Float values and the quantised values that they stand for, exactly.
class Twins {
 public:
  void add(const Value& real, Value& quantised) { twins_[&real] = &quantised; }
  /// nullptr: there is none.
  Value* find(const Value& real) const {
    const auto it = twins_.find(&real);
    return it == twins_.end() ? nullptr : it->second;
  }

 private:
  std::unordered_map<const Value*, Value*> twins_;
};

/// Whether a node pads with a number other than 0.
bool adds_number(const Node& node);

/// Whether a node moves or relabels elements and adds none but zeros, which are themselves under
/// any parameters: what may change places with a quantize node.
bool moves_data(const Node& node);

/// The operands that a constraint's reference names in a node: none when absent or a result.
std::vector<int> operands_of(const Node& node, aten::OperandRef ref);

/// Operands of the node on quantised values: twins of the floats, with a constant bias left float
/// (the row quantises it). False when some float operand has no twin, or no operand is quantised
/// although there are some.
bool quantised_operands(const Node& node, const Twins& twins, std::vector<Value*>& operands);

/// The node's results have the parameters of its operands, which are all per tensor and the same:
/// nodes that move data, and rows with same({0, out(0)}).
bool keeps_parameters(const Node& node, const std::vector<Value*>& operands);

}  // namespace tosaic
