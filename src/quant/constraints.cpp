// SPDX-License-Identifier: Apache-2.0
#include "quant/constraints.h"

#include <fmt/format.h>

#include <cmath>
#include <span>

#include "quant/fold_operands.h"
#include "quant/qdq.h"
#include "support/check.h"

namespace tosaic {
namespace {

using aten::Constraint;
using aten::ConstraintKind;
using aten::OperandRef;

constexpr double kTolerance = 1e-6;  // of a product of scales that somebody computed in float32

/// A value that a constraint names, and how messages call it.
struct Named {
  const Value* value;
  std::string name;
};

std::vector<Named> values_of(const Node& node, OperandRef ref) {
  std::vector<Named> list;
  if (aten::is_out(ref)) {
    const int i = ref - aten::out(0);
    if (i < node.num_results()) list.push_back({&node.result(i), fmt::format("out {}", i)});
    return list;
  }
  for (int i : operands_of(node, ref)) {
    list.push_back({node.operand(i), fmt::format("operand {}", i)});
  }
  return list;
}

std::span<const OperandRef> refs_of(const Constraint& constraint) {
  return std::span(constraint.operands).first(constraint.count);
}

std::string parameters(const Quant& q) {
  return q.per_tensor() ? fmt::format("scale {} and zero point {}", q.scale(), q.zero_point())
                        : fmt::format("{} scales along axis {}", q.scales.size(), q.axis);
}

bool nearly_equal(double a, double b) {
  return std::fabs(a - b) <= kTolerance * std::fabs(b);
}

/// The first named value with quantisation, or nothing.
const Value* quantised_value(const Node& node, OperandRef ref) {
  for (const Named& named : values_of(node, ref)) {
    if (named.value->quant() != nullptr) return named.value;
  }
  return nullptr;
}

std::string check_same(const Node& node, const Constraint& constraint) {
  const Value* first = nullptr;
  std::string first_name;
  for (OperandRef ref : refs_of(constraint)) {
    for (const Named& named : values_of(node, ref)) {
      if (named.value->quant() == nullptr) continue;
      if (first == nullptr) {
        first = named.value;
        first_name = named.name;
      } else if (!same_parameters(first->type(), named.value->type())) {
        return fmt::format("{} has {}, {} has {}", named.name, parameters(*named.value->quant()),
                           first_name, parameters(*first->quant()));
      }
    }
  }
  return {};
}

std::string check_fixed(const Node& node, const Constraint& constraint) {
  const Value* value = quantised_value(node, constraint.operands[0]);
  if (value == nullptr) return {};
  const bool wide = value->dtype() == DType::kI16;
  const double scale = wide ? constraint.scale_i16 : constraint.scale_i8;
  const int32_t zero_point = wide ? 0 : constraint.zero_point_i8;
  const Quant& q = *value->quant();
  if (q.per_tensor() && nearly_equal(q.scale(), scale) && q.zero_point() == zero_point) return {};
  return fmt::format("{} where the operator fixes scale {} and zero point {}", parameters(q), scale,
                     zero_point);
}

std::string check_weight(const Node& node, const Constraint& constraint) {
  const Value* value = quantised_value(node, constraint.operands[0]);
  if (value == nullptr) return {};
  const Quant& q = *value->quant();
  if (!q.per_tensor() && q.axis != constraint.axis) {
    return fmt::format("the weight has scales along axis {}, not {}", q.axis, constraint.axis);
  }
  for (int32_t zero_point : q.zero_points) {
    if (zero_point != 0) return fmt::format("the weight has zero point {}", zero_point);
  }
  return {};
}

std::string check_bias(const Node& node, const Constraint& constraint) {
  const Value* bias = quantised_value(node, constraint.operands[0]);
  const Value* x = quantised_value(node, constraint.operands[1]);
  const Value* w = quantised_value(node, constraint.operands[2]);
  if (bias == nullptr || x == nullptr || w == nullptr) return {};
  const Quant& q = *bias->quant();
  const Quant& qw = *w->quant();
  if (q.scales.size() != qw.scales.size()) {
    return fmt::format("the bias has {} scales, the weight {}", q.scales.size(), qw.scales.size());
  }
  for (size_t i = 0; i < q.scales.size(); ++i) {
    const double wanted = x->quant()->scale() * qw.scales[i];
    if (!nearly_equal(q.scales[i], wanted) || q.zero_points[i] != 0) {
      return fmt::format("the bias has scale {} and zero point {}, input and weight give {} and 0",
                         q.scales[i], q.zero_points[i], wanted);
    }
  }
  return {};
}

std::string check_one(const Node& node, const Constraint& constraint) {
  switch (constraint.kind) {
    case ConstraintKind::kSame:
      return check_same(node, constraint);
    case ConstraintKind::kFixed:
      return check_fixed(node, constraint);
    case ConstraintKind::kWeight:
      return check_weight(node, constraint);
    case ConstraintKind::kBias:
      return check_bias(node, constraint);
    default:
      return {};
  }
}

}  // namespace

ConstraintSolver::ConstraintSolver(const Graph& graph) : graph_(graph) {
  for (const Value* input : graph.inputs())
    index_of(*input);
  for (const Node& node : graph.nodes())
    visit(node);
  for (const Value* output : graph.outputs()) {
    if (output != nullptr) index_of(*output);
  }
  number_groups();
}

int ConstraintSolver::index_of(const Value& value) {
  const auto [it, is_new] = index_.emplace(&value, static_cast<int>(parent_.size()));
  if (is_new) {
    parent_.push_back(it->second);
    fixed_.push_back(nullptr);
  }
  return it->second;
}

int ConstraintSolver::find(int i) const {
  auto at = [&](int k) -> int& { return parent_[static_cast<size_t>(k)]; };
  while (at(i) != i) {
    at(i) = at(at(i));
    i = at(i);
  }
  return i;
}

/// The older value stays the root: values are numbered in execution order.
void ConstraintSolver::unite(int a, int b) {
  a = find(a);
  b = find(b);
  if (a == b) return;
  if (b < a) std::swap(a, b);
  parent_[static_cast<size_t>(b)] = a;
  if (fixed_[static_cast<size_t>(a)] == nullptr) {
    fixed_[static_cast<size_t>(a)] = fixed_[static_cast<size_t>(b)];
  }
}

void ConstraintSolver::visit(const Node& node) {
  for (const Use& use : node.operands()) {
    if (use.value() != nullptr) index_of(*use.value());
  }
  for (const Value& result : node.results())
    index_of(result);
  if (!aten::is_aten(node)) return;
  for (const Constraint& constraint : aten::row(node.op()).quant) {
    if (constraint.kind == ConstraintKind::kFixed) {
      for (const Named& named : values_of(node, constraint.operands[0])) {
        const auto root = static_cast<size_t>(find(index_of(*named.value)));
        if (fixed_[root] == nullptr) fixed_[root] = &constraint;
      }
    }
    if (constraint.kind != ConstraintKind::kSame) continue;
    int first = -1;
    for (OperandRef ref : refs_of(constraint)) {
      for (const Named& named : values_of(node, ref)) {
        const int index = index_of(*named.value);
        if (first < 0) {
          first = index;
        } else {
          unite(first, index);
        }
      }
    }
  }
}

void ConstraintSolver::number_groups() {
  group_.assign(parent_.size(), -1);
  for (size_t i = 0; i < parent_.size(); ++i) {
    if (parent_[i] != static_cast<int>(i)) continue;
    group_[i] = static_cast<int>(root_.size());
    root_.push_back(static_cast<int>(i));
  }
  num_groups_ = root_.size();
}

int ConstraintSolver::group(const Value& value) const {
  const auto it = index_.find(&value);
  TOSAIC_CHECK(it != index_.end(), "a value of the solver's graph");
  return group_[static_cast<size_t>(find(it->second))];
}

const Constraint* ConstraintSolver::fixed(int group) const {
  return fixed_[static_cast<size_t>(root_[static_cast<size_t>(group)])];
}

std::vector<ConstraintSolver::Violation> ConstraintSolver::check() const {
  std::vector<Violation> violations;
  for (const Node& node : graph_.nodes()) {
    if (!aten::is_aten(node)) continue;
    for (const Constraint& constraint : aten::row(node.op()).quant) {
      std::string problem = check_one(node, constraint);
      if (problem.empty()) continue;
      violations.push_back({&node, fmt::format("{}: {}", node.full_name(), problem)});
    }
  }
  return violations;
}

}  // namespace tosaic
