// SPDX-License-Identifier: Apache-2.0
#include "quant/quantised_form.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "aten/row.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "quant/fold_operands.h"

namespace tosaic {
namespace {

using aten::Constraint;
using aten::ConstraintKind;
using aten::Trait;
using Operand = QuantisedForm::Operand;

/// Bits of a bias, with one to spare for the products that are added to it.
constexpr int kBiasBits = 30;
constexpr int kWideBiasBits = 46;
/// A RESCALE has no factor below 2^-32.
constexpr double kLeastRescale = 0x1p-30;

bool is_single(const Value& value) {
  return value.dtype() == DType::kF32;
}

/// What a node's floats are: kF32, kUnknown when it has none, else the first that is not float32.
DType float_dtype(const Node& node) {
  DType found = DType::kUnknown;
  const auto see = [&](const Value* value) {
    if (value == nullptr || !is_float(value->dtype())) return;
    if (found == DType::kUnknown || found == DType::kF32) found = value->dtype();
  };
  for (const Use& use : node.operands())
    see(use.value());
  for (const Value& result : node.results())
    see(&result);
  return found;
}

bool may_be_quantised(const Node& node) {
  return aten::is_aten(node) && float_dtype(node) == DType::kF32;
}

const Constraint* bias_constraint(const Node& node) {
  for (const Constraint& constraint : aten::row(node.op()).quant) {
    if (constraint.kind == ConstraintKind::kBias) return &constraint;
  }
  return nullptr;
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

/// Works out the form of one node.
class Planning {
 public:
  Planning(const Node& node, const ActivationTypes& type_of, Precision precision)
      : node_(node), module_(node.graph().module()), type_of_(type_of), precision_(precision) {}

  Expected<Planned> plan() {
    for (int i = 0; i < node_.num_operands(); ++i) {
      TOSAIC_TRY(const bool fits, plan_operand(i));
      if (!fits) return unknown(fmt::format("operand {}", i));
    }
    for (const Value& result : node_.results()) {
      const std::optional<TensorType> type = is_single(result) ? type_of_(result) : result.type();
      if (!type) return unknown("a result");
      form_.results.push_back(*type);
    }
    return Planned{std::move(form_), {}};
  }

 private:
  Planned unknown(std::string_view what) const {
    return {std::nullopt, reject(Code::kRejectNotQuantised, "{}: {} has no quantised form",
                                 aten::shown_name(node_), what)};
  }
  Operand quantised_constant(const Value& value, const TensorType& type) {
    ConstantStage stage;
    stage.quant = type.quant;
    return {type, &module_.staged(*value.constant(), stage, type.dtype), true};
  }

  /// False when the operand has no quantised form.
  Expected<bool> plan_operand(int index) {
    const Value* value = node_.operand(index);
    Operand& operand = form_.operands.emplace_back();
    if (value == nullptr) return true;
    operand.type = value->type();
    if (!is_single(*value)) return true;
    if (value->is_constant()) {
      if (constraint_of(node_, ConstraintKind::kBias, index) != nullptr) return true;
      if (constraint_of(node_, ConstraintKind::kReal, index) != nullptr) return true;
      if (const Constraint* weight = constraint_of(node_, ConstraintKind::kWeight, index)) {
        return plan_weight(*value, weight->axis, operand);
      }
    }
    const std::optional<TensorType> type = type_of_(*value);
    if (!type) return false;
    operand =
        value->is_constant() ? quantised_constant(*value, *type) : Operand{*type, nullptr, true};
    return true;
  }

  Expected<bool> plan_weight(const Value& value, int axis, Operand& operand) {
    if (axis < 0 || axis >= value.shape().rank() || value.shape().num_elements() == 0) return false;
    const auto quant =
        weight_quant(module_, *value.constant(), axis, least_scales(value.shape()[axis]));
    if (!quant) {
      return node_error(quant.error().code, node_, "{}", quant.error().message);
    }
    operand = quantised_constant(value, {DType::kI8, value.shape(), *quant});
    return true;
  }

  /// Scales of the weight below which the bias, or the RESCALE behind the accumulator, does not
  /// fit.
  std::vector<double> least_scales(int64_t channels) {
    const Constraint* constraint = bias_constraint(node_);
    if (constraint == nullptr) return {};
    const std::vector<int> inputs = operands_of(node_, constraint->operands[1]);
    const auto input = inputs.size() == 1 ? type_of_(*node_.operand(inputs[0])) : std::nullopt;
    const auto output = type_of_(node_.result());
    if (!input || !output) return {};
    const double input_scale = input->quant->scale();
    std::vector<double> least(static_cast<size_t>(channels),
                              output->quant->scale() * kLeastRescale / input_scale);
    const std::vector<int> biases = operands_of(node_, constraint->operands[0]);
    const Value* bias = biases.size() == 1 ? node_.operand(biases[0]) : nullptr;
    if (bias == nullptr || !bias->is_constant()) return least;
    const std::vector<double> values = float_values(*bias->constant());
    if (values.size() != least.size()) return least;
    const int bits = precision_ == Precision::kInt8 ? kBiasBits : kWideBiasBits;
    for (size_t i = 0; i < least.size(); ++i)
      least[i] = std::max(least[i], std::ldexp(std::fabs(values[i]), -bits) / input_scale);
    return least;
  }

  const Node& node_;
  Module& module_;
  const ActivationTypes& type_of_;
  Precision precision_;
  QuantisedForm form_;
};

/// Lowers a copy of the node that reads and makes quantised values.
std::optional<Reject> try_form(const Node& node, const QuantisedForm& form, const Target& target) {
  Graph scratch(node.graph().module(), "scratch", Dialect::kAten);
  std::unordered_map<const Value*, Value*> made;
  std::vector<Value*> operands;
  for (int i = 0; i < node.num_operands(); ++i) {
    const Value* value = node.operand(i);
    const Operand& operand = form.operands[static_cast<size_t>(i)];
    Value* copy = nullptr;
    if (value != nullptr && value->is_constant()) {
      const Constant& data = operand.constant != nullptr ? *operand.constant : *value->constant();
      copy = &scratch.add_constant(data, operand.type);
    } else if (value != nullptr) {
      Value*& known = made[value];
      if (known == nullptr) known = &scratch.add_input(operand.type, value->name());
      copy = known;
    }
    operands.push_back(copy);
  }
  const Node& copy = scratch.insert({.op = &node.op(),
                                     .variant = node.variant(),
                                     .operands = operands,
                                     .segments = node.segments(),
                                     .results = form.results,
                                     .attrs = node.attrs(),
                                     .loc = node.loc()});
  return try_lower(copy, target);
}

/// Finds composites that have to be expanded.
class Expansion {
 public:
  Expansion(Precision precision, const Target& target)
      : precision_(precision),
        target_(target),
        types_([this](const Value& value) -> std::optional<TensorType> {
          return activation_type(value.graph().module(), {}, precision_, value.shape());
        }) {}

  Status run(Graph& graph) {
    for (Node& node : graph.nodes())
      TOSAIC_CHECK_OK(visit(node));
    graph.erase_dead_nodes();
    graph.renumber();
    return ok();
  }

 private:
  Status visit(Node& node) {
    if (!may_be_quantised(node) || aten::row(node.op()).lower == nullptr) return ok();
    TOSAIC_TRY(const Planned planned, quantised_form(node, types_, precision_, target_));
    if (planned.form) return ok();
    TOSAIC_TRY(const bool is_worth_it, helps(node));
    if (!is_worth_it) return ok();
    Node* before = node.prev();
    Node* after = node.next();
    Graph& graph = node.graph();
    if (expand(node)) return ok();
    for (Node* call = before == nullptr ? graph.first() : before->next(); call != after;) {
      Node* next = call->next();
      TOSAIC_CHECK_OK(visit(*call));
      call = next;
    }
    return ok();
  }

  /// The target takes a call of the composite's that computes something.
  Expected<bool> helps(const Node& node) {
    Graph scratch(node.graph().module(), "scratch", Dialect::kAten);
    std::vector<Value*> operands;
    std::unordered_map<const Value*, Value*> made;
    for (const Use& use : node.operands()) {
      const Value* value = use.value();
      Value*& known = made[value];
      if (value != nullptr && known == nullptr) {
        known = value->is_constant() ? &scratch.add_constant(*value->constant(), value->type())
                                     : &scratch.add_input(value->type(), value->name());
      }
      operands.push_back(known);
    }
    std::vector<TensorType> results;
    for (const Value& result : node.results())
      results.push_back(result.type());
    Node& copy = scratch.insert({.op = &node.op(),
                                 .variant = node.variant(),
                                 .operands = operands,
                                 .segments = node.segments(),
                                 .results = results,
                                 .attrs = node.attrs(),
                                 .loc = node.loc()});
    if (expand(copy)) return false;
    for (const Node& call : scratch.nodes()) {
      const aten::Row& row = aten::row(call.op());
      if (row.has(Trait::kView) || row.has(Trait::kNoOp) || !may_be_quantised(call)) continue;
      TOSAIC_TRY(const Planned planned, quantised_form(call, types_, precision_, target_));
      if (planned.form) return true;
      TOSAIC_TRY(const bool inner, helps(call));
      if (inner) return true;
    }
    return false;
  }

  Precision precision_;
  const Target& target_;
  ActivationTypes types_;
};

}  // namespace

Expected<Planned> quantised_form(const Node& node, const ActivationTypes& type_of,
                                 Precision precision, const Target& target) {
  const DType dtype = float_dtype(node);
  if (!aten::is_aten(node) || dtype == DType::kUnknown) return Planned{};
  if (dtype != DType::kF32) {
    return Planned{std::nullopt,
                   reject(Code::kRejectDtype, "{}: it has {}, and only float32 is quantised",
                          aten::shown_name(node), torch_name(dtype))};
  }
  TOSAIC_TRY(Planned planned, Planning(node, type_of, precision).plan());
  if (!planned.form) return planned;
  if (auto reason = try_form(node, *planned.form, target)) return Planned{std::nullopt, *reason};
  return planned;
}

Status expand_composites(Graph& graph, Precision precision, const Target& target) {
  return Expansion(precision, target).run(graph);
}

}  // namespace tosaic
