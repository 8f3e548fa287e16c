// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "aten/row.h"
#include "ir/graph.h"

namespace tosaic {

/// The quantisation constraints of all rows of a graph, solved by union-find over its values
/// (DESIGN §4 `.quant`). Nearly linear.
class ConstraintSolver {
 public:
  explicit ConstraintSolver(const Graph& graph);

  /// Values in one group must have the same parameters (cat, pooling, views). The value is an
  /// input, a result or an operand of the graph.
  int group(const Value& value) const;
  size_t num_groups() const { return num_groups_; }
  /// The parameters that an operator fixes for the group, for 8-bit activations; nullptr: free.
  /// Where two operators fix different ones, those of the first in execution order.
  const aten::Constraint* fixed(int group) const;

  struct Violation {
    const Node* node = nullptr;
    std::string message;  ///< "aten.cat.default: out 0 has scale 0.1, operand 0 has scale 0.2"
  };
  /// Where the types in the graph break a constraint. A lowering may still repair it by RESCALE.
  std::vector<Violation> check() const;

 private:
  int index_of(const Value& value);
  int find(int i) const;
  void unite(int a, int b);
  void visit(const Node& node);
  void number_groups();

  const Graph& graph_;
  std::unordered_map<const Value*, int> index_;
  mutable std::vector<int> parent_;
  std::vector<const aten::Constraint*> fixed_;  // by root
  std::vector<int> group_;                      // by root
  std::vector<int> root_;                       // by group
  size_t num_groups_ = 0;
};

}  // namespace tosaic
