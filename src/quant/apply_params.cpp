// SPDX-License-Identifier: Apache-2.0
// Float nodes become nodes on quantised values where the target takes them so:
//
//   %y: f32 = aten.relu.default(%x)         %q: i8<s,z> = quantize(%x)
//   return %y                          =>   %y: i8<t,u> = aten.relu.default(%q)
//                                           %d: f32 = dequantize(%y)
//                                           return %d
//
// Whether it does is found out by lowering the node, as the partition will do later.
#include "quant/apply_params.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "aten/row.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "quant/fold_operands.h"
#include "quant/qdq.h"

namespace tosaic {
namespace {

using aten::Constraint;
using aten::ConstraintKind;
using aten::Trait;

/// Bits of a bias, with one to spare for the products that are added to it.
constexpr int kBiasBits = 30;
constexpr int kWideBiasBits = 46;
/// A RESCALE has no factor below 2^-32.
constexpr double kLeastRescale = 0x1p-30;

/// What one operand becomes.
struct PlannedOperand {
  TensorType type;                     ///< of an activation, or of `constant`
  const Constant* constant = nullptr;  ///< nullptr: a value of the graph
  bool changes = false;
};

struct Plan {
  std::vector<PlannedOperand> operands;
  bool is_quantised = false;
};

bool is_single(const Value& value) {
  return value.dtype() == DType::kF32;
}

bool moves_data(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  return row.has(Trait::kView) || row.has(Trait::kNoOp);
}

/// Float32 is all that it reads and makes, besides integers and booleans, and there is some.
bool may_be_quantised(const Node& node) {
  if (!aten::is_aten(node)) return false;
  bool any = false;
  const auto fits = [&](const Value* value) {
    if (value == nullptr) return true;
    any = any || is_single(*value);
    return !is_float(value->dtype()) || is_single(*value);
  };
  return std::ranges::all_of(node.operands(), [&](const Use& use) { return fits(use.value()); }) &&
         std::ranges::all_of(node.results(), [&](const Value& v) { return fits(&v); }) && any;
}

/// The constraint of `kind` whose first operand is operand `index`.
const Constraint* constraint_of(const Node& node, ConstraintKind kind, int index) {
  for (const Constraint& constraint : aten::row(node.op()).quant) {
    if (constraint.kind != kind) continue;
    const std::vector<int> list = operands_of(node, constraint.operands[0]);
    if (list.size() == 1 && list[0] == index) return &constraint;
  }
  return nullptr;
}

class Application {
 public:
  Application(Graph& graph, const ChosenParameters& chosen, const Target& target)
      : graph_(graph), module_(graph.module()), chosen_(chosen), target_(target) {}

  Expected<size_t> run() {
    for (Node& node : graph_.nodes()) {
      nodes_.push_back(&node);
      if (!may_be_quantised(node)) continue;
      TOSAIC_CHECK_OK(plan(node));
    }
    leave_lonely_views();
    size_t count = 0;
    for (Node* node : nodes_) {
      if (is_quantised(*node)) {
        quantise(*node);
        ++count;
      } else {
        use_floats(*node);
      }
    }
    use_floats(graph_.return_node());
    return count;
  }

 private:
  bool is_quantised(const Node& node) const {
    const auto it = plans_.find(&node);
    return it != plans_.end() && it->second.is_quantised;
  }

  /// The value's type when it is quantised; nullptr when the samples did not show it.
  const TensorType* type_of(const Value& value) const {
    const auto it = chosen_.types.find(&value);
    return it == chosen_.types.end() ? nullptr : &it->second;
  }

  PlannedOperand constant_of(const Value& value, const TensorType& type) {
    ConstantStage stage;
    stage.quant = type.quant;
    return {type, &module_.staged(*value.constant(), stage, type.dtype), true};
  }

  /// Scales below which the bias or the RESCALE behind the accumulator would not fit.
  std::vector<double> least_weight_scales(const Node& node, int64_t channels) {
    const Constraint* bias = nullptr;
    for (const Constraint& c : aten::row(node.op()).quant) {
      if (c.kind == ConstraintKind::kBias) bias = &c;
    }
    const TensorType* input = bias == nullptr ? nullptr : input_type(node, bias->operands[1]);
    const TensorType* output = type_of(node.result());
    if (input == nullptr || output == nullptr) return {};
    const double input_scale = input->quant->scale();
    std::vector<double> least(static_cast<size_t>(channels),
                              output->quant->scale() * kLeastRescale / input_scale);
    const std::vector<int> at = operands_of(node, bias->operands[0]);
    const Value* value = at.size() == 1 ? node.operand(at[0]) : nullptr;
    if (value == nullptr || !value->is_constant()) return least;
    const std::vector<double> numbers = float_values(*value->constant());
    if (numbers.size() != least.size()) return least;
    const int bits = chosen_.precision == Precision::kInt8 ? kBiasBits : kWideBiasBits;
    for (size_t i = 0; i < least.size(); ++i) {
      least[i] = std::max(least[i], std::ldexp(std::fabs(numbers[i]), -bits) / input_scale);
    }
    return least;
  }

  const TensorType* input_type(const Node& node, aten::OperandRef ref) const {
    const std::vector<int> at = operands_of(node, ref);
    return at.size() != 1 ? nullptr : type_of(*node.operand(at[0]));
  }

  Status plan_operand(const Node& node, int index, Plan& plan, bool& fits) {
    const Value* value = node.operand(index);
    PlannedOperand& planned = plan.operands.emplace_back();
    if (value == nullptr) return ok();
    planned.type = value->type();
    if (!is_single(*value)) return ok();
    if (value->is_constant()) {
      if (constraint_of(node, ConstraintKind::kBias, index) != nullptr) return ok();
      if (const Constraint* c = constraint_of(node, ConstraintKind::kWeight, index)) {
        if (c->axis < 0 || c->axis >= value->shape().rank()) {
          fits = false;
          return ok();
        }
        const auto least = least_weight_scales(node, value->shape()[c->axis]);
        auto quant = weight_quant(module_, *value->constant(), c->axis, least);
        if (!quant) {
          return node_error(quant.error().code, node, "{}", quant.error().message);
        }
        planned = constant_of(*value, {DType::kI8, value->shape(), *quant});
        return ok();
      }
    }
    const TensorType* type = type_of(*value);
    fits = fits && type != nullptr;
    if (!fits) return ok();
    planned =
        value->is_constant() ? constant_of(*value, *type) : PlannedOperand{*type, nullptr, true};
    return ok();
  }

  /// Lowers a copy of the node that reads and makes quantised values.
  Status plan(const Node& node) {
    Plan& plan = plans_[&node];
    bool fits = true;
    for (int i = 0; fits && i < node.num_operands(); ++i)
      TOSAIC_CHECK_OK(plan_operand(node, i, plan, fits));
    std::vector<TensorType> results;
    for (const Value& result : node.results()) {
      const TensorType* type = is_single(result) ? type_of(result) : &result.type();
      fits = fits && type != nullptr;
      if (fits) results.push_back(*type);
    }
    if (!fits) return ok();
    Graph scratch(module_, "scratch", Dialect::kAten);
    std::unordered_map<const Value*, Value*> made;
    std::vector<Value*> operands;
    for (int i = 0; i < node.num_operands(); ++i) {
      const Value* value = node.operand(i);
      Value* copy = nullptr;
      if (value != nullptr) {
        Value*& known = made[value];
        if (known == nullptr)
          known = &copy_into(scratch, *value, plan.operands[static_cast<size_t>(i)]);
        copy = known;
      }
      operands.push_back(copy);
    }
    const Node& copy = scratch.insert({.op = &node.op(),
                                       .variant = node.variant(),
                                       .operands = operands,
                                       .segments = node.segments(),
                                       .results = results,
                                       .attrs = node.attrs(),
                                       .loc = node.loc()});
    plan.is_quantised = !try_lower(copy, target_);
    return ok();
  }

  static Value& copy_into(Graph& scratch, const Value& value, const PlannedOperand& planned) {
    if (planned.constant != nullptr) return scratch.add_constant(*planned.constant, planned.type);
    if (value.is_constant()) return scratch.add_constant(*value.constant(), value.type());
    return scratch.add_input(planned.type, value.name());
  }

  /// What only moves data between float nodes stays float.
  void leave_lonely_views() {
    std::unordered_map<const Node*, bool> wanted;
    for (const Node* node : nodes_) {
      if (!is_quantised(*node)) continue;
      wanted[node] =
          !moves_data(*node) || std::ranges::any_of(node->operands(), [&](const Use& use) {
            const Node* def = use.value() == nullptr ? nullptr : use.value()->def();
            return def != nullptr && wanted.contains(def) && wanted[def];
          });
    }
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      if (!is_quantised(**it) || wanted[*it]) continue;
      for (const Value& result : (*it)->results()) {
        for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
          const auto user = wanted.find(&use->user());
          if (user != wanted.end() && user->second) wanted[*it] = true;
        }
      }
    }
    for (const auto& [node, is_wanted] : wanted)
      plans_[node].is_quantised = is_wanted;
  }

  /// The value in quantised form: itself, or what a quantize node makes of a float.
  Value& quantised(Value& value, const TensorType& type) {
    if (value.quant() != nullptr) return value;
    Value*& known = quantised_[&value];
    if (known == nullptr) {
      Node* def = value.def();
      Node* before = def != nullptr ? def->next() : nodes_.front();
      known = &insert_quantize(value, type, before,
                               def != nullptr ? def->loc() : value.first_use()->user().loc());
    }
    return *known;
  }

  void quantise(Node& node) {
    const Plan& plan = plans_[&node];
    for (int i = 0; i < node.num_operands(); ++i) {
      const PlannedOperand& planned = plan.operands[static_cast<size_t>(i)];
      Value* value = node.operand(i);
      if (!planned.changes) continue;
      Value& made = planned.constant != nullptr
                        ? graph_.add_constant(*planned.constant, planned.type, value->name())
                        : quantised(*value, planned.type);
      if (&made != value) graph_.set_operand(node, i, &made);
    }
    for (Value& result : node.results()) {
      if (is_single(result)) result.set_type(*type_of(result));
    }
  }

  void use_floats(Node& node) {
    for (int i = 0; i < node.num_operands(); ++i) {
      Value* value = node.operand(i);
      if (value == nullptr || value->def() == nullptr || value->quant() == nullptr) continue;
      Value*& known = real_[value];
      if (known == nullptr) {
        known = &insert_dequantize(*value, value->def()->next(), value->def()->loc());
        known->set_name(value->name());
      }
      graph_.set_operand(node, i, known);
    }
  }

  Graph& graph_;
  Module& module_;
  const ChosenParameters& chosen_;
  const Target& target_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, Plan> plans_;
  std::unordered_map<const Value*, Value*> quantised_;
  std::unordered_map<const Value*, Value*> real_;
};

}  // namespace

Expected<size_t> apply_parameters(Graph& graph, const ChosenParameters& chosen,
                                  const Target& target) {
  return Application(graph, chosen, target).run();
}

}  // namespace tosaic
