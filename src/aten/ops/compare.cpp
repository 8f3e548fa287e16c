// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aten/elementwise.h"
#include "numeric/quantize.h"

// Comparisons, with broadcast; the result is bool.
//
// Quantised operands are compared in int32: without their zero points when they have one scale,
// which is exact, else under a common finer scale. A number is compared by its place among the
// stored codes: x > c is q >= the first code whose real value is above c, which is exact.

namespace tosaic::aten {
namespace {

enum class Comparison : uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

Value* inverted(Builder& b, Value* x) {
  const int rank = x->shape().rank();
  return b.emit(tosa::select,
                {x, b.scalar_int(DType::kBool, 0, rank), b.scalar_int(DType::kBool, 1, rank)});
}

Value* emit_comparison(Builder& b, Comparison c, Value* x, Value* y) {
  switch (c) {
    case Comparison::kEq:
      return b.emit(tosa::equal, {x, y});
    case Comparison::kNe:
      return inverted(b, b.emit(tosa::equal, {x, y}));
    case Comparison::kLt:
      return b.emit(tosa::greater, {y, x});
    case Comparison::kLe:
      return b.emit(tosa::greater_equal, {y, x});
    case Comparison::kGt:
      return b.emit(tosa::greater, {x, y});
    default:
      return b.emit(tosa::greater_equal, {x, y});
  }
}

bool is_equality(Comparison c) {
  return c == Comparison::kEq || c == Comparison::kNe;
}

/// Equality of truth values; they have no order in TOSA.
Lowered compare_bools(const Call& n, Builder& b, Comparison c, Value* x, Value* y) {
  if (!is_equality(c)) {
    return reject(Code::kRejectDtype, "{}: operands are bool, which have no order",
                  n.schema().full_name);
  }
  Value* differs = b.emit(tosa::select, {x, inverted(b, y), y});
  return c == Comparison::kNe ? differs : inverted(b, differs);
}

/// The dtype in which PyTorch compares: the wider of the higher kind (bool, integer, float).
DType common_dtype(DType x, DType y) {
  const auto kind = [](DType d) { return d == DType::kBool ? 0 : is_float(d) ? 2 : 1; };
  if (kind(x) != kind(y)) return kind(x) > kind(y) ? x : y;
  return element_bytes(x) >= element_bytes(y) ? x : y;
}

Lowered compare_quantised(const Call& n, Builder& b, Comparison c, int rank) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  if (auto r = check_activation(n, x->type(), "operand 0")) return *r;
  if (auto r = check_activation(n, y->type(), "operand 1")) return *r;
  const double sx = x->quant()->scale();
  const double sy = y->quant()->scale();
  if (sx == sy) return emit_comparison(b, c, centred(b, x, rank), centred(b, y, rank));
  const bool narrow = x->dtype() == DType::kI8 && y->dtype() == DType::kI8;
  const double step = 2 * std::max(sx, sy) / (narrow ? 0x1p20 : 0x1p15);
  const auto in_steps = [&](Value* v) {
    return b.rescale(b.expand_rank(v, rank), DType::kI32, v->quant()->scale() / step,
                     v->quant()->zero_point(), 0);
  };
  return emit_comparison(b, c, in_steps(x), in_steps(y));
}

Lowered compare_tensors(const Call& n, Builder& b, Comparison c) {
  const int rank = n.out().shape.rank();
  if (n.any_quantised()) return compare_quantised(n, b, c, rank);
  const DType dtype = common_dtype(n.in(0)->dtype(), n.in(1)->dtype());
  Value* x = b.expand_rank(b.cast(n.in(0), dtype), rank);
  Value* y = b.expand_rank(b.cast(n.in(1), dtype), rank);
  if (dtype == DType::kBool) return compare_bools(n, b, c, x, y);
  return emit_comparison(b, c, x, y);
}

/// The first code from qmin on whose real value fulfils `holds`, or qmax + 1.
template <typename Fn>
int64_t first_code(const Quant& quant, Fn holds) {
  const auto quantizer = numeric::tensor_quantizer({.scale = quant.scale(),
                                                    .zero_point = quant.zero_point(),
                                                    .qmin = static_cast<int32_t>(quant.qmin),
                                                    .qmax = static_cast<int32_t>(quant.qmax)});
  int64_t q = quant.qmin;
  while (q <= quant.qmax && !holds(quantizer.dequantize(q)))
    ++q;
  return q;
}

Lowered compare_codes(const Call& n, Builder& b, Comparison c, float number) {
  Value* x = n.in(0);
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  const Quant& quant = *x->quant();
  Value* q = b.cast(x, DType::kI32);
  const auto code = [&](auto holds) {
    return b.scalar_int(DType::kI32, first_code(quant, holds), n.out().shape.rank());
  };
  if (is_equality(c)) {
    return emit_comparison(b, c, q, code([=](float real) { return real == number; }));
  }
  const bool from_equal = c == Comparison::kGe || c == Comparison::kLt;
  Value* first = code([=](float real) { return from_equal ? real >= number : real > number; });
  const bool above = c == Comparison::kGe || c == Comparison::kGt;
  return emit_comparison(b, above ? Comparison::kGe : Comparison::kLt, q, first);
}

Lowered compare_number(const Call& n, Builder& b, Comparison c) {
  const double number = n.f("other");
  if (n.any_quantised()) return compare_codes(n, b, c, static_cast<float>(number));
  const int rank = n.out().shape.rank();
  Value* x = n.in(0);
  if (x->dtype() == DType::kBool && (number == 0 || number == 1)) {
    return compare_bools(n, b, c, x, b.scalar_int(DType::kBool, number != 0, rank));
  }
  const bool is_integer = n.arg("other").kind() != Attr::Kind::kFloat;
  if (!is_float(x->dtype()) && !(std::abs(number) < 0x1p31)) {
    return reject(Code::kRejectAttribute, "{}: {} is outside int32", n.schema().full_name, number);
  }
  const DType dtype = is_float(x->dtype()) || is_integer ? x->dtype() : DType::kF32;
  Value* y = is_float(dtype) ? b.scalar_float(dtype, number, rank)
                             : b.scalar_int(dtype, static_cast<int64_t>(number), rank);
  return emit_comparison(b, c, b.cast(x, dtype), y);
}

/// In-place forms keep the operand's dtype, in which true is 1.
Lowered in_dtype_of_result(const Call& n, Builder& b, const Lowered& truth) {
  if (!truth.ok() || n.out().dtype == DType::kBool) return truth;
  if (n.out().quant != nullptr) {
    return reject(Code::kRejectQuantParams, "{}: the result is a quantised truth value",
                  n.schema().full_name);
  }
  return b.emit(tosa::select, {truth.values()[0], number(n, b, 1), number(n, b, 0)});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(eq) = {
    .schemas = schemas("aten::eq.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::eq_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Whether one value is equal to another: EQUAL, quantised in int32.",
    .quant = {same({0, 1})},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_tensors(n, b, Comparison::kEq));
        },
    .cpu = "aten::eq.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(eq_scalar) = {
    .schemas = schemas("aten::eq.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::eq_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Whether a value is equal to a number: EQUAL, quantised in int32.",
    .quant = {own(0)},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_number(n, b, Comparison::kEq));
        },
    .cpu = "aten::eq.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ne) = {
    .schemas = schemas("aten::ne.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::ne_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::not_equal.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::not_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Whether one value is different from another: EQUAL and SELECT, quantised in int32.",
    .quant = {same({0, 1})},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_tensors(n, b, Comparison::kNe));
        },
    .cpu = "aten::ne.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ne_scalar) = {
    .schemas = schemas("aten::ne.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::ne_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::not_equal.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::not_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Whether a value is different from a number: EQUAL and SELECT, quantised in int32.",
    .quant = {own(0)},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_number(n, b, Comparison::kNe));
        },
    .cpu = "aten::ne.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(lt) = {
    .schemas = schemas("aten::lt.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::lt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::less.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::less_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc =
        "Whether one value is less than another: GREATER of exchanged operands, quantised in "
        "int32.",
    .quant = {same({0, 1})},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_tensors(n, b, Comparison::kLt));
        },
    .cpu = "aten::lt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(lt_scalar) = {
    .schemas = schemas("aten::lt.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::lt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::less.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::less_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc =
        "Whether a value is less than a number: GREATER of exchanged operands, quantised in int32.",
    .quant = {own(0)},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_number(n, b, Comparison::kLt));
        },
    .cpu = "aten::lt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(le) = {
    .schemas = schemas("aten::le.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::le_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::less_equal.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::less_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc =
        "Whether one value is at most another: GREATER_EQUAL of exchanged operands, quantised in "
        "int32.",
    .quant = {same({0, 1})},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_tensors(n, b, Comparison::kLe));
        },
    .cpu = "aten::le.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(le_scalar) = {
    .schemas = schemas("aten::le.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::le_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::less_equal.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::less_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc =
        "Whether a value is at most a number: GREATER_EQUAL of exchanged operands, quantised in "
        "int32.",
    .quant = {own(0)},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_number(n, b, Comparison::kLe));
        },
    .cpu = "aten::le.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(gt) = {
    .schemas = schemas("aten::gt.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::gt_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::greater.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::greater_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Whether one value is greater than another: GREATER, quantised in int32.",
    .quant = {same({0, 1})},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_tensors(n, b, Comparison::kGt));
        },
    .cpu = "aten::gt.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(gt_scalar) = {
    .schemas = schemas("aten::gt.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::gt_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::greater.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::greater_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Whether a value is greater than a number: GREATER, quantised in int32.",
    .quant = {own(0)},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_number(n, b, Comparison::kGt));
        },
    .cpu = "aten::gt.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ge) = {
    .schemas = schemas("aten::ge.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::ge_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::greater_equal.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::greater_equal_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Whether one value is at least another: GREATER_EQUAL, quantised in int32.",
    .quant = {same({0, 1})},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_tensors(n, b, Comparison::kGe));
        },
    .cpu = "aten::ge.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ge_scalar) = {
    .schemas = schemas("aten::ge.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::ge_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::greater_equal.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::greater_equal_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Whether a value is at least a number: GREATER_EQUAL, quantised in int32.",
    .quant = {own(0)},
    .lower =
        [](const Call& n, Builder& b) {
          return in_dtype_of_result(n, b, compare_number(n, b, Comparison::kGe));
        },
    .cpu = "aten::ge.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};
