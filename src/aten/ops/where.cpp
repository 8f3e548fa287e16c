// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/elementwise.h"

// A choice between two values by a third: SELECT. Quantised operands take the output's parameters;
// a number becomes the output's code for it, which saturates: -inf is the least code.

namespace tosaic::aten {
namespace {

/// A number in place of a tensor operand.
Value* quantised_number(const Call& n, Builder& b, double real) {
  const TensorType& out = n.out();
  if (out.quant == nullptr || !out.quant->per_tensor()) return number(n, b, real);
  const std::vector<int64_t> ones(static_cast<size_t>(out.shape.rank()), 1);
  const TensorType type{out.dtype, Shape(ones), out.quant};
  const int64_t code = quantised_value(real, *out.quant);
  return &b.graph().add_constant(b.module().constant_ints(type.dtype, type.shape, {&code, 1}),
                                 type);
}
Value* number_operand(const Call& n, Builder& b, std::string_view name) {
  return n.out().quant == nullptr ? number(n, b, name) : quantised_number(n, b, n.f(name));
}

/// The choice by a constant condition where there is no SELECT: y + c (x - y), with c of 0 or 1.
Value* choose_by_product(const Call& n, Builder& b, const Value& condition, Value* x, Value* y) {
  const int64_t zero_point = n.out().quant->zero_point();
  const std::vector<int64_t> bits = int_values(*condition.constant());
  Value* c =
      b.expand_rank(b.constant_ints(DType::kI32, condition.shape(), bits), n.out().shape.rank());
  Value* wide_x = b.rescale(x, DType::kI32, 1, zero_point, 0);
  Value* wide_y = b.rescale(y, DType::kI32, 1, zero_point, 0);
  Value* z = b.emit(tosa::add, {wide_y, b.mul(b.emit(tosa::sub, {wide_x, wide_y}), c)});
  return b.rescale(z, n.out().dtype, 1, 0, zero_point);
}

Lowered lower_where(const Call& n, Builder& b) {
  const int rank = n.out().shape.rank();
  const auto operand = [&](Value* x) {
    x = n.out().quant == nullptr ? b.cast(x, n.out().dtype) : with_parameters(n, b, x, n.out());
    return b.expand_rank(x, rank);
  };
  Value* condition = n.in(0);
  if (condition->dtype() != DType::kBool) {
    return reject(Code::kRejectDtype, "{}: the condition is {}; bool is taken",
                  n.schema().full_name, dtype_name(condition->dtype()));
  }
  Value* x = operand(n.in(1));
  Value* y = operand(n.in(2));
  Value* const operands[] = {b.expand_rank(condition, rank), x, y};
  const bool is_quantised = n.out().quant != nullptr && n.out().quant->per_tensor();
  if (condition->is_constant() && is_quantised && !b.legal(tosa::select, operands)) {
    return choose_by_product(n, b, *condition, x, y);
  }
  return b.emit(tosa::select, operands);
}

Lowered call_where(const Call& n, Builder& b, Value* condition, Value* x, Value* y) {
  return b.call("aten.where.self", {condition, x, y}, n.out());
}

/// Zeros above (or below) a diagonal of the last two axes.
Lowered lower_triangle(const Call& n, Builder& b, bool lower) {
  const Shape& s = n.in(0)->shape();
  if (s.rank() < 2) {
    return reject(Code::kRejectShape, "{}: {} has no two axes", n.schema().full_name, to_string(s));
  }
  const int64_t rows = s[s.rank() - 2];
  const int64_t columns = s[s.rank() - 1];
  const int64_t diagonal = std::clamp(n.i("diagonal"), -rows, columns);
  std::vector<int64_t> is_kept;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) {
      const int64_t beyond = j - i - diagonal;
      is_kept.push_back(lower ? beyond <= 0 : beyond >= 0);
    }
  }
  Value* condition = b.constant_ints(DType::kBool, {rows, columns}, is_kept);
  return call_where(n, b, condition, n.in(0), quantised_number(n, b, 0));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(where) = {
    .schemas = schemas("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor"),
    .doc = "One of two values by a condition, with broadcast: SELECT.",
    .quant = {same({1, 2, out(0)})},
    .lower = lower_where,
    .cpu =
        "aten::where.self_out(Tensor condition, Tensor self, Tensor other, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(where_scalar_other) = {
    .schemas =
        schemas("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor"),
    .doc = "A value, or a number where a condition is false: where.",
    .quant = {same({1, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return call_where(n, b, n.in(0), n.in(1), number_operand(n, b, "other"));
        },
};

TOSAIC_ATEN_OP(where_scalar_self) = {
    .schemas =
        schemas("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor"),
    .doc = "A value, or a number where a condition is true: where.",
    .quant = {same({2, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return call_where(n, b, n.in(0), number_operand(n, b, "self"), n.in(1));
        },
};

TOSAIC_ATEN_OP(where_scalars) = {
    .schemas = schemas("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor"),
    .doc = "One of two numbers by a condition: where.",
    .lower =
        [](const Call& n, Builder& b) {
          return call_where(n, b, n.in(0), number_operand(n, b, "self"),
                            number_operand(n, b, "other"));
        },
};

TOSAIC_ATEN_OP(masked_fill) = {
    .schemas = schemas(
        "aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor",
        "aten::masked_fill_.Scalar(Tensor(a!) self, Tensor mask, Scalar value) -> Tensor(a!)"),
    .doc = "A value, or a number where a mask is true: where.",
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          return call_where(n, b, n.in(1), number_operand(n, b, "value"), n.in(0));
        },
    .cpu =
        "aten::masked_fill.Scalar_out(Tensor self, Tensor mask, Scalar value, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(masked_fill_tensor) = {
    .schemas = schemas(
        "aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor",
        "aten::masked_fill_.Tensor(Tensor(a!) self, Tensor mask, Tensor value) -> Tensor(a!)"),
    .doc = "A value, or that of a tensor without axes where a mask is true: where.",
    .quant = {same({0, 2, out(0)})},
    .lower = [](const Call& n, Builder& b) { return call_where(n, b, n.in(1), n.in(2), n.in(0)); },
};

TOSAIC_ATEN_OP(tril) = {
    .schemas = schemas("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor",
                       "aten::tril_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)"),
    .doc = "Zeros above a diagonal: where.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_triangle(n, b, true); },
    .cpu = "aten::tril.out(Tensor self, SymInt diagonal=0, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(triu) = {
    .schemas = schemas("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor",
                       "aten::triu_(Tensor(a!) self, SymInt diagonal=0) -> Tensor(a!)"),
    .doc = "Zeros below a diagonal: where.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_triangle(n, b, false); },
};
