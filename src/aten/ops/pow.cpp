// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/elementwise.h"

// Powers. With small whole exponents they are products, with 1/2 square roots, else POW. Quantised
// they are tables.

namespace tosaic::aten {
namespace {

constexpr int kMaxWholeExponent = 64;

/// x^exponent for exponent >= 1, by squaring.
Value* whole_power(Builder& b, Value* x, int exponent) {
  Value* result = nullptr;
  for (Value* square = x;; square = b.mul(square, square)) {
    if (exponent % 2 == 1) result = result == nullptr ? square : b.mul(result, square);
    exponent /= 2;
    if (exponent == 0) return result;
  }
}

/// 1 / (1 / sqrt(x)), which is right for 0 and infinity.
Value* square_root(Builder& b, Value* x) {
  return b.emit(tosa::reciprocal, {b.emit(tosa::rsqrt, {x})});
}

/// POW, which knows no negative bases: their powers have the sign of the magnitude's, or the other
/// for odd exponents, and are no numbers for those that are not whole.
Value* power_of_any(const Call& n, Builder& b, Value* x, Value* exponent, bool may_be_whole) {
  Value* magnitude = b.emit(tosa::pow, {b.emit(tosa::abs, {x}), exponent});
  Value* of_negative = number(n, b, std::nan(""));
  if (may_be_whole) {
    const auto is_whole = [&](Value* v) { return b.emit(tosa::equal, {floor_of(n, b, v), v}); };
    Value* zero = b.zero_point(magnitude->dtype(), 0);
    Value* opposite = b.emit(tosa::negate, {magnitude, zero, zero});
    Value* is_even = is_whole(b.mul(exponent, number(n, b, 0.5)));
    Value* whole_power = b.emit(tosa::select, {is_even, magnitude, opposite});
    of_negative = b.emit(tosa::select, {is_whole(exponent), whole_power, of_negative});
  }
  Value* is_negative = b.emit(tosa::greater, {number(n, b, 0), x});
  return b.emit(tosa::select, {is_negative, of_negative, magnitude});
}

Lowered lower_pow_scalar(const Call& n, Builder& b) {
  const double exponent = n.f("exponent");
  const double size = std::abs(exponent);
  if (!is_float(n.out().dtype)) {
    return reject(Code::kRejectDtype, "{}: no form for {}", n.schema().full_name,
                  dtype_name(n.out().dtype));
  }
  Value* x = promoted_operand(n, b);
  if (exponent == 0) return b.emit(tosa::add, {b.mul(x, number(n, b, 0)), number(n, b, 1)});
  if (exponent == -0.5) return b.emit(tosa::rsqrt, {x});
  if (exponent == 0.5) return square_root(b, x);
  if (size == std::floor(size) && size <= kMaxWholeExponent) {
    Value* power = whole_power(b, x, static_cast<int>(size));
    return exponent > 0 ? power : b.emit(tosa::reciprocal, {power});
  }
  if (size == std::floor(size)) {
    return reject(Code::kRejectAttribute, "{}: exponent {}; whole numbers up to {} are taken",
                  n.schema().full_name, exponent, kMaxWholeExponent);
  }
  return power_of_any(n, b, x, number(n, b, exponent), false);
}

Lowered lower_pow_tensor(const Call& n, Builder& b) {
  const DType dtype = n.out().dtype;
  const int rank = n.out().shape.rank();
  if (n.any_quantised() || !is_float(dtype)) {
    return reject(Code::kRejectDtype, "{}: no form for {}", n.schema().full_name,
                  dtype_name(dtype));
  }
  return power_of_any(n, b, b.expand_rank(b.cast(n.in(0), dtype), rank),
                      b.expand_rank(b.cast(n.in(1), dtype), rank), true);
}

/// base^x = exp(x * log(base)).
Lowered lower_pow_of_number(const Call& n, Builder& b) {
  const double base = n.f("self");
  if (!(base > 0) || !is_float(n.out().dtype)) {
    return reject(Code::kRejectAttribute, "{}: base {}; positive numbers are taken in float",
                  n.schema().full_name, base);
  }
  return b.emit(tosa::exp, {b.mul(promoted_operand(n, b), number(n, b, std::log(base)))});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(sqrt) = {
    .schemas = schemas("aten::sqrt(Tensor self) -> Tensor",
                       "aten::sqrt_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Square root: RSQRT and RECIPROCAL in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::sqrt(x); },
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return square_root(b, promoted_operand(n, b));
    },
    .cpu = "aten::sqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(pow_scalar) = {
    .schemas = schemas("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor",
                       "aten::pow_.Scalar(Tensor(a!) self, Scalar exponent) -> Tensor(a!)"),
    .doc =
        "Power with a number as exponent: MUL, RSQRT and RECIPROCAL, or POW, in float, TABLE when "
        "quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call& n) { return std::pow(x, n.f("exponent")); },
    .lower = lower_pow_scalar,
    .cpu =
        "aten::pow.Tensor_Scalar_out(Tensor self, Scalar exponent, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(pow_of_number) = {
    .schemas = schemas("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor"),
    .doc = "Power of a number: MUL and EXP in float, TABLE when quantised.",
    .quant = {own(1), own(out(0))},
    .table = [](double x, const Call& n) { return std::pow(n.f("self"), x); },
    .lower = lower_pow_of_number,
    .cpu = "aten::pow.Scalar_out(Scalar self, Tensor exponent, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(pow_tensor) = {
    .schemas = schemas("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor",
                       "aten::pow_.Tensor(Tensor(a!) self, Tensor exponent) -> Tensor(a!)"),
    .doc = "Power of two tensors, in float: POW.",
    .lower = lower_pow_tensor,
    .cpu =
        "aten::pow.Tensor_Tensor_out(Tensor self, Tensor exponent, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
