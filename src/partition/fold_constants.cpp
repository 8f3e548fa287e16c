// SPDX-License-Identifier: Apache-2.0
// Computes what depends on no input:
//
//   %a: f32[6] = aten.arange.default() {end = 6}
//   %m: bool[6] = aten.ge.Scalar(%a) {other = 3.0}       =>   return const bool[6]
//   return %m
//
// by the nodes' own lowering and the reference, which computes int64 in int32: a node stays when
// int32 does not hold all of its numbers. What only moves or requantises the data of constants
// stays, as weights are not copied, unless a node that computes reads it.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "aten/builder.h"
#include "partition/partition.h"
#include "passes/passes.h"
#include "quant/qdq.h"
#include "target/targets.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

using aten::Trait;

/// Greater results are left to be computed where they are used.
constexpr int64_t kMaxElements = int64_t{1} << 22;

bool is_border(const Node& node) {
  return is_quantize(node) || is_dequantize(node);
}

bool moves_data(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  return row.has(Trait::kView) || row.has(Trait::kNoOp);
}

/// Some operand is what a quantize or dequantize node made of constants: others are constants by
/// now.
bool reads_border(const Node& node) {
  return std::ranges::any_of(node.operands(), [](const Use& use) {
    return use.value() != nullptr && !use.value()->is_constant();
  });
}

/// TOSA computes int64 as int32.
DType narrow(DType dtype) {
  return dtype == DType::kI64 ? DType::kI32 : dtype;
}

/// An operand or a result is of one of some dtypes.
bool has_dtype(const Node& node, std::initializer_list<DType> dtypes) {
  const auto is_one = [&](const Value& v) {
    return std::ranges::find(dtypes, v.dtype()) != dtypes.end();
  };
  return std::ranges::any_of(node.results(), is_one) ||
         std::ranges::any_of(node.operands(), [&](const Use& use) {
           return use.value() != nullptr && is_one(*use.value());
         });
}

class Folding {
 public:
  explicit Folding(Graph& graph) : graph_(graph), module_(graph.module()) {}

  Expected<bool> run() {
    bool changed = false;
    for (Node& node : graph_.nodes()) {
      if (!depends_on_constants(node)) continue;
      for (const Value& result : node.results())
        fixed_.insert(&result);
      if (is_border(node) || (moves_data(node) && reads_border(node))) continue;
      TOSAIC_TRY(const bool known, compute(node));
      if (!known) continue;
      for (Value& result : node.results()) {
        graph_.replace_all_uses(
            result, graph_.add_constant(*constants_.at(&result), result.type(), result.name()));
      }
      changed = true;
    }
    if (changed) graph_.erase_dead_nodes();
    return changed;
  }

 private:
  bool depends_on_constants(const Node& node) const {
    if (!aten::is_aten(node) || node.num_results() == 0) return false;
    if (aten::row(node.op()).lower == nullptr && !is_border(node)) return false;
    for (const Value& result : node.results()) {
      if (!result.shape().is_static() || result.shape().num_elements() > kMaxElements) return false;
    }
    return std::ranges::all_of(node.operands(), [&](const Use& use) {
      return use.value() == nullptr || use.value()->is_constant() || fixed_.contains(use.value());
    });
  }

  const Constant* find(const Value& value) const {
    if (value.is_constant()) return value.constant();
    const auto it = constants_.find(&value);
    return it == constants_.end() ? nullptr : it->second;
  }

  /// Computes the node after all that it reads. False when something has no lowering on the host;
  /// nothing that depends on it is tried again.
  Expected<bool> compute(Node& node) {
    std::vector<Node*> stack = {&node};
    while (!stack.empty()) {
      Node& next = *stack.back();
      const size_t size = stack.size();
      for (const Use& use : next.operands()) {
        if (use.value() == nullptr || find(*use.value()) != nullptr) continue;
        if (!fixed_.contains(use.value())) return give_up(node);
        stack.push_back(use.value()->def());
      }
      if (stack.size() > size) continue;
      stack.pop_back();
      if (find(next.result()) != nullptr) continue;
      TOSAIC_TRY(const bool known, evaluate(next));
      if (!known) {
        give_up(next);
        return give_up(node);
      }
    }
    return true;
  }
  bool give_up(const Node& node) {
    for (const Value& result : node.results())
      fixed_.erase(&result);
    return false;
  }

  Expected<bool> evaluate(const Node& node) {
    if (is_quantize(node)) {
      TOSAIC_TRY(const TensorType type, quantised_type_of(node));
      ConstantStage stage;
      stage.quant = type.quant;
      const Constant& real = *find(*node.operand(0));
      if (real.dtype != DType::kF32) return false;
      constants_[&node.result()] = &module_.staged(real, stage, type.dtype);
      return true;
    }
    if (is_dequantize(node)) {
      TOSAIC_TRY(const TensorType type, quantised_type_of(node));
      if (node.result().dtype() != DType::kF32) return false;
      Graph scratch(module_, "scratch", Dialect::kAten);
      const Value& stored = scratch.add_constant(*find(*node.operand(0)), type);
      constants_[&node.result()] = dequantised_constant(stored).constant();
      return true;
    }
    return evaluate_row(node);
  }

  /// The result of a row that makes it without any operation of TOSA, which lacks dtypes of 64
  /// bits: it states, moves or converts numbers. nullptr for other rows.
  const Constant* stated(const Node& node) {
    const aten::Row& row = aten::row(node.op());
    if (row.lower == nullptr || node.num_results() != 1) return nullptr;
    Graph scratch(module_, "scratch", Dialect::kTosa);
    std::vector<Value*> operands;
    for (const Use& use : node.operands()) {
      const Constant* constant = use.value() == nullptr ? nullptr : find(*use.value());
      if (constant != nullptr && constant->dtype != aten::held_as(use.value()->type()).dtype) {
        return nullptr;
      }
      operands.push_back(constant == nullptr ? nullptr : &scratch.add_constant(*constant));
    }
    const TensorType type{node.result().dtype(), node.result().shape(), nullptr};
    const aten::Call call(node.op(), node.variant(), operands, node.segments(), node.attrs(),
                          std::span(&type, 1), node.loc());
    aten::Builder b(scratch, host_, aten::Builder::Mode::kLower, node.loc());
    const aten::Lowered lowered = row.lower(call, b);
    if (b.failure() || !lowered.ok() || lowered.values()[0] == nullptr) return nullptr;
    const Value& made = *lowered.values()[0];
    if (!made.is_constant() || made.shape() != type.shape ||
        made.dtype() != aten::held_as(type).dtype) {
      return nullptr;
    }
    if (made.dtype() == type.dtype) return made.constant();
    return &module_.constant(type.dtype, type.shape,
                             module_.materialised(*made.constant()).plain_bytes());
  }

  /// An operand as a constant of a scratch graph; nullptr: an int64 that int32 does not hold.
  Value* operand_of(Graph& scratch, const Constant& constant) {
    if (constant.dtype != DType::kI64) return &scratch.add_constant(constant);
    const std::vector<int64_t> values = int_values(constant);
    const auto fits = [](int64_t v) { return v == static_cast<int32_t>(v); };
    if (!std::ranges::all_of(values, fits)) return nullptr;
    return &scratch.add_constant(module_.constant_ints(DType::kI32, constant.shape, values));
  }

  Expected<bool> evaluate_row(const Node& node) {
    if (has_dtype(node, {DType::kI64, DType::kF64})) {
      if (const Constant* constant = stated(node)) {
        constants_[&node.result()] = constant;
        return true;
      }
    }
    // The reference would take unsigned numbers for signed ones of the same bits.
    const auto is_unsigned = [](const Value& v) {
      return aten::held_as(v.type()).dtype != v.dtype();
    };
    if (!moves_data(node) && (std::ranges::any_of(node.results(), is_unsigned) ||
                              std::ranges::any_of(node.operands(), [&](const Use& use) {
                                return use.value() != nullptr && is_unsigned(*use.value());
                              }))) {
      return false;
    }
    Graph scratch(module_, "scratch", Dialect::kAten);
    std::vector<Value*> operands;
    for (const Use& use : node.operands()) {
      operands.push_back(use.value() == nullptr ? nullptr
                                                : operand_of(scratch, *find(*use.value())));
      if (use.value() != nullptr && operands.back() == nullptr) return false;
    }
    std::vector<TensorType> results;
    for (const Value& result : node.results())
      results.push_back({narrow(result.dtype()), result.shape(), nullptr});
    const Node& copy = scratch.insert({.op = &node.op(),
                                       .variant = node.variant(),
                                       .operands = operands,
                                       .segments = node.segments(),
                                       .results = results,
                                       .attrs = node.attrs(),
                                       .loc = node.loc()});
    std::vector<Value*> outputs;
    for (Value& result : copy.results())
      outputs.push_back(&result);
    scratch.set_outputs(outputs);
    LoweredValues lowered_values;
    const auto lowered = lower_beside(scratch, host_, lowered_values);
    if (!lowered) return false;
    tosa::Reference reference(**lowered);
    const auto made = reference.run({});
    const bool cuts = has_dtype(node, {DType::kI64}) && reference.wrapped();
    const bool known = made && reference.unpredictable().empty() && !cuts;
    for (int i = 0; known && i < node.num_results(); ++i) {
      const Constant& constant =
          module_.constant(results[static_cast<size_t>(i)].dtype, node.result(i).shape(),
                           (*made)[static_cast<size_t>(i)].bytes);
      constants_[&node.result(i)] =
          node.result(i).dtype() == DType::kI64
              ? &module_.constant_ints(DType::kI64, constant.shape, int_values(constant))
              : &constant;
    }
    module_.erase_graph((*lowered)->name());
    return known;
  }

  Graph& graph_;
  Module& module_;
  const Target host_ = host_target();
  std::unordered_set<const Value*> fixed_;  // results that no input changes
  std::unordered_map<const Value*, const Constant*> constants_;
};

}  // namespace

Status run_fold_constants(Graph& graph, PassContext& context) {
  TOSAIC_TRY(const bool changed, Folding(graph).run());
  context.changed = context.changed || changed;
  return ok();
}

}  // namespace tosaic
