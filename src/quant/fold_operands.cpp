// SPDX-License-Identifier: Apache-2.0
#include "quant/fold_operands.h"

#include <algorithm>
#include <cmath>

#include "quant/qdq.h"

namespace tosaic {
namespace {

using aten::Constraint;
using aten::ConstraintKind;
using aten::Trait;

const Constraint* bias_constraint(const Node& node) {
  for (const Constraint& constraint : aten::row(node.op()).quant) {
    if (constraint.kind == ConstraintKind::kBias) return &constraint;
  }
  return nullptr;
}

/// Its one operand, or -1.
int single_operand_of(const Node& node, aten::OperandRef ref) {
  const std::vector<int> list = operands_of(node, ref);
  return list.size() == 1 ? list[0] : -1;
}

Value* at(const std::vector<Value*>& operands, int index) {
  return index < 0 ? nullptr : operands[static_cast<size_t>(index)];
}

/// Integers of the accumulator: zero point 0 and scale(x) * scale(w). Quantisers compute the
/// product in float32 or float64, so the last bits of a float32 may differ.
bool is_accumulator_bias(const Value& bias, const Value& x, const Value& w) {
  constexpr double kTolerance = 1e-6;
  if (bias.dtype() != DType::kI32 && bias.dtype() != DType::kI64) return false;
  const Quant& q = *bias.quant();
  const Quant& qw = *w.quant();
  if (q.scales.size() != qw.scales.size()) return false;
  for (size_t i = 0; i < q.scales.size(); ++i) {
    const double wanted = x.quant()->scale() * qw.scales[i];
    if (q.zero_points[i] != 0) return false;
    if (!(std::fabs(q.scales[i] - wanted) <= kTolerance * wanted)) return false;
  }
  return true;
}

/// Which operands the row takes as float constants.
std::vector<bool> real_operands(const Node& node) {
  std::vector<bool> is_real(static_cast<size_t>(node.num_operands()), false);
  for (const Constraint& constraint : aten::row(node.op()).quant) {
    if (constraint.kind != ConstraintKind::kReal) continue;
    const int index = single_operand_of(node, constraint.operands[0]);
    if (index >= 0) is_real[static_cast<size_t>(index)] = true;
  }
  return is_real;
}

/// A bias that does not count in the accumulator's steps is given to the row as the float it means.
void use_float_bias(const Node& node, std::vector<Value*>& operands) {
  const Constraint* constraint = bias_constraint(node);
  if (constraint == nullptr) return;
  const int index = single_operand_of(node, constraint->operands[0]);
  Value* bias = at(operands, index);
  if (bias == nullptr || bias->quant() == nullptr || !bias->is_constant()) return;
  const Value* x = at(operands, single_operand_of(node, constraint->operands[1]));
  const Value* w = at(operands, single_operand_of(node, constraint->operands[2]));
  if (x == nullptr || w == nullptr || x->quant() == nullptr || w->quant() == nullptr) return;
  if (is_accumulator_bias(*bias, *x, *w)) return;
  operands[static_cast<size_t>(index)] = &dequantised_constant(*bias);
}

}  // namespace

std::vector<int> operands_of(const Node& node, aten::OperandRef ref) {
  if (aten::is_out(ref)) return {};
  const aten::Schema& schema = aten::schema(node.op(), node.variant());
  const auto segments = node.segments();
  size_t group = 0;
  int flat = 0;
  for (size_t arg = 0; arg < schema.args.size(); ++arg) {
    if (!schema.is_tensor_arg(arg)) continue;
    if (flat >= node.num_operands() || (!segments.empty() && group >= segments.size())) break;
    const int size = segments.empty() ? -1 : segments[group];
    const int count = size < 0 ? 1 : size;
    if (arg == static_cast<size_t>(ref)) {
      std::vector<int> list;
      for (int i = flat; i < flat + count; ++i) {
        if (node.operand(i) != nullptr) list.push_back(i);
      }
      return list;
    }
    flat += count;
    ++group;
  }
  return {};
}

bool quantised_operands(const Node& node, const Twins& twins, std::vector<Value*>& operands) {
  const Constraint* bias = bias_constraint(node);
  const int bias_index = bias == nullptr ? -1 : single_operand_of(node, bias->operands[0]);
  const std::vector<bool> is_real = real_operands(node);
  bool any = false;
  for (int i = 0; i < node.num_operands(); ++i) {
    Value* value = node.operand(i);
    const bool real = is_real[static_cast<size_t>(i)];
    if (value != nullptr && is_float(value->dtype())) {
      Value* twin = twins.find(*value);
      const bool stays_float = value->is_constant() && (real || i == bias_index);
      if (twin == nullptr && !stays_float) return false;
      if (twin != nullptr) value = twin;
    }
    if (real && value != nullptr && value->is_constant() && value->quant() != nullptr) {
      value = &dequantised_constant(*value);
    }
    if (value != nullptr && value->quant() != nullptr) {
      if (!value->is_constant() && !value->quant()->per_tensor()) return false;
      any = true;
    }
    operands.push_back(value);
  }
  if (any) use_float_bias(node, operands);
  return any || node.num_operands() == 0;
}

bool adds_number(const Node& node) {
  const Attr* number = node.attr("value");  // of padding
  if (number == nullptr || number->is_none()) return false;
  return number->kind() == Attr::Kind::kInt ? number->as_int() != 0 : number->as_real() != 0;
}

bool moves_data(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  return row.has(Trait::kNoOp) || (row.has(Trait::kView) && !adds_number(node));
}

bool keeps_parameters(const Node& node, const std::vector<Value*>& operands) {
  const aten::Row& row = aten::row(node.op());
  std::vector<int> bound;
  if (row.has(Trait::kView) || row.has(Trait::kNoOp)) {
    for (int i = 0; i < node.num_operands(); ++i) {
      const Value* value = at(operands, i);
      if (value != nullptr && value->quant() != nullptr) bound.push_back(i);
    }
  } else {
    for (const Constraint& constraint : row.quant) {
      if (constraint.kind != ConstraintKind::kSame) continue;
      const auto refs = std::span(constraint.operands).first(constraint.count);
      if (std::ranges::find(refs, aten::out(0)) == refs.end()) continue;
      for (aten::OperandRef ref : refs) {
        for (int i : operands_of(node, ref))
          bound.push_back(i);
      }
    }
  }
  if (bound.empty()) return false;
  const Value* first = at(operands, bound[0]);
  return std::ranges::all_of(bound, [&](int i) {
    const Value* value = at(operands, i);
    return value->quant() != nullptr && value->quant()->per_tensor() &&
           same_parameters(value->type(), first->type());
  });
}

}  // namespace tosaic
