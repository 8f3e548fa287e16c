// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <numbers>

#include "aten/arithmetic.h"
#include "aten/broadcast_calls.h"
#include "aten/elementwise.h"

// Functions of one or two values that are made of others, and questions about what is no number.

namespace tosaic::aten {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double value_of_sinc(double x) {
  const double angle = std::numbers::pi * x;
  return angle == 0 ? 1 : std::sin(angle) / angle;
}

TensorType truth_like(const Value* x) {
  return {DType::kBool, x->shape(), nullptr};
}

Value* compare(Builder& b, std::string_view full_name, Value* x, double number) {
  return b.call(full_name, {x}, truth_like(x), {{"other", Attr::real(number)}});
}

Value* choose(Builder& b, Value* condition, Value* x, Value* y, const TensorType& type) {
  return b.call("aten.where.self", {condition, x, y}, type);
}

/// sin(pi x) / (pi x); where that has no value, the angle is 1 and the result too.
Lowered lower_sinc(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  Value* angle = f.mul(n.in(0), std::numbers::pi);
  Value* is_zero = compare(b, "aten.eq.Scalar", angle, 0);
  Value* one = b.scalar_float(n.out().dtype, 1, n.out().shape.rank());
  Value* ratio = f.mul(f.unary("aten.sin.default", angle),
                       f.unary("aten.reciprocal.default", choose(b, is_zero, one, angle, n.out())));
  return choose(b, is_zero, one, ratio, n.out());
}

Lowered lower_erfc(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  return f.add(f.mul(f.unary("aten.erf.default", n.in(0)), -1.0), 1.0);
}

Lowered lower_exp2(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  return f.unary("aten.exp.default", f.mul(n.in(0), std::numbers::ln2));
}

Lowered lower_hypot(const Call& n, Builder& b) {
  BroadcastCalls c(b, n);
  return c.unary("aten.sqrt.default", c.add(c.mul(n.in(0), n.in(0)), c.mul(n.in(1), n.in(1))));
}

/// max(x, y) + log(1 + exp(-|x - y|)), which leaves no range.
Lowered lower_logaddexp(const Call& n, Builder& b) {
  BroadcastCalls c(b, n);
  Value* distance = c.unary("aten.abs.default", c.sub(n.in(0), n.in(1)));
  Value* power = c.unary("aten.exp.default", c.mul(distance, -1.0));
  return c.add(c.greatest(n.in(0), n.in(1)), c.unary("aten.log1p.default", power));
}

/// x * log(y), and 0 for an x of 0 whatever y is.
Lowered lower_xlogy(const Call& n, Builder& b) {
  BroadcastCalls c(b, n);
  Value* product = c.mul(n.in(0), c.unary("aten.log.default", n.in(1)));
  Value* is_zero = compare(b, "aten.eq.Scalar", n.in(0), 0);
  return choose(b, is_zero, b.scalar_float(n.out().dtype, 0, n.out().shape.rank()), product,
                n.out());
}

Lowered lower_heaviside(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const int rank = n.out().shape.rank();
  const DType dtype = n.out().dtype;
  Value* step = choose(b, compare(b, "aten.gt.Scalar", x, 0), b.scalar_float(dtype, 1, rank),
                       b.scalar_float(dtype, 0, rank), {dtype, x->shape(), nullptr});
  return choose(b, compare(b, "aten.eq.Scalar", x, 0), n.in(1), step, n.out());
}

/// The greatest finite value of a float dtype.
double greatest_of(DType dtype) {
  if (dtype == DType::kF16) return 65504;
  if (dtype == DType::kBF16) return 0x1.fep127;
  return std::numeric_limits<float>::max();
}

Lowered lower_nan_to_num(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (n.any_quantised()) return with_parameters(n, b, x, n.out());
  if (!is_float(n.out().dtype)) return x;
  const auto given = [&](std::string_view name, double otherwise) {
    return b.scalar_float(n.out().dtype, n.has(name) ? n.f(name) : otherwise, n.out().shape.rank());
  };
  const double most = greatest_of(n.out().dtype);
  Value* is_nan = b.call("aten.ne.Tensor", {x, x}, truth_like(x));
  Value* y =
      choose(b, compare(b, "aten.eq.Scalar", x, kInfinity), given("posinf", most), x, n.out());
  y = choose(b, compare(b, "aten.eq.Scalar", x, -kInfinity), given("neginf", -most), y, n.out());
  return choose(b, is_nan, given("nan", 0), y, n.out());
}

/// Truth of a comparison of the value, or of its magnitude, with infinity.
Lowered lower_finiteness(const Call& n, Builder& b, std::string_view comparison, bool magnitude,
                         double bound) {
  Value* x = n.in(0);
  if (!is_float(x->dtype())) {
    return reject(Code::kRejectDtype, "{}: of {}; floats are taken", n.schema().full_name,
                  dtype_name(x->dtype()));
  }
  if (magnitude) x = b.call("aten.abs.default", {x}, x->type());
  return compare(b, comparison, x, bound);
}

Lowered multiply_by(const Call& n, Builder& b, double factor) {
  return b.call("aten.mul.Scalar", {n.in(0)}, n.out(), {{"other", Attr::real(factor)}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(exp2) = {
    .schemas = schemas("aten::exp2(Tensor self) -> Tensor",
                       "aten::exp2_(Tensor(a!) self) -> Tensor(a!)",
                       "aten::special_exp2(Tensor self) -> Tensor"),
    .doc = "2 to the power of the value: mul and exp in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::exp2(x); },
    .lower = lower_exp2,
};

TOSAIC_ATEN_OP(erfc) = {
    .schemas = schemas("aten::erfc(Tensor self) -> Tensor",
                       "aten::special_erfc(Tensor self) -> Tensor"),
    .doc = "1 less the error function: erf in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::erfc(x); },
    .lower = lower_erfc,
};

TOSAIC_ATEN_OP(sinc) = {
    .schemas = schemas("aten::sinc(Tensor self) -> Tensor",
                       "aten::special_sinc(Tensor self) -> Tensor"),
    .doc = "sin(pi x) / (pi x), 1 at 0: sin, reciprocal and where in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return value_of_sinc(x); },
    .lower = lower_sinc,
};

TOSAIC_ATEN_OP(rad2deg) = {
    .schemas = schemas("aten::rad2deg(Tensor self) -> Tensor"),
    .doc = "Degrees of an angle: mul.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return multiply_by(n, b, 180 / std::numbers::pi); },
};

TOSAIC_ATEN_OP(deg2rad) = {
    .schemas = schemas("aten::deg2rad(Tensor self) -> Tensor"),
    .doc = "An angle of degrees: mul.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return multiply_by(n, b, std::numbers::pi / 180); },
};

TOSAIC_ATEN_OP(frac) = {
    .schemas = schemas("aten::frac(Tensor self) -> Tensor"),
    .doc = "The value without its whole part: trunc and sub.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      Value* whole = b.call("aten.trunc.default", {n.in(0)}, n.out());
      return b.call("aten.sub.Tensor", {n.in(0), whole}, n.out());
    },
};

TOSAIC_ATEN_OP(hypot) = {
    .schemas = schemas("aten::hypot(Tensor self, Tensor other) -> Tensor"),
    .doc = "Root of the sum of two squares: mul, add and sqrt.",
    .traits = Trait::kAlias,
    .lower = lower_hypot,
};

TOSAIC_ATEN_OP(logaddexp) = {
    .schemas = schemas("aten::logaddexp(Tensor self, Tensor other) -> Tensor"),
    .doc = "Logarithm of the sum of two exponentials: maximum, exp and log1p.",
    .traits = Trait::kAlias,
    .lower = lower_logaddexp,
};

TOSAIC_ATEN_OP(xlogy) = {
    .schemas = schemas("aten::xlogy.Tensor(Tensor self, Tensor other) -> Tensor"),
    .doc = "A value times the logarithm of another: log, mul and where.",
    .traits = Trait::kAlias,
    .lower = lower_xlogy,
};

TOSAIC_ATEN_OP(heaviside) = {
    .schemas = schemas("aten::heaviside(Tensor self, Tensor values) -> Tensor"),
    .doc = "0 below 0, 1 above it, another value at it: comparisons and where.",
    .traits = Trait::kAlias,
    .lower = lower_heaviside,
};

TOSAIC_ATEN_OP(nan_to_num) = {
    .schemas = schemas("aten::nan_to_num(Tensor self, float? nan=None, float? posinf=None, "
                       "float? neginf=None) -> Tensor"),
    .doc = "Numbers in place of what is none or infinite: where; nothing when quantised.",
    .quant = {same({0, out(0)})},
    .lower = lower_nan_to_num,
};

TOSAIC_ATEN_OP(isnan) = {
    .schemas = schemas("aten::isnan(Tensor self) -> Tensor"),
    .doc = "Whether a value is no number: ne with itself.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.ne.Tensor", {n.in(0), n.in(0)}, n.out());
    },
};

TOSAIC_ATEN_OP(isinf) = {
    .schemas = schemas("aten::isinf(Tensor self) -> Tensor"),
    .doc = "Whether a value is infinite: abs and eq.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return lower_finiteness(n, b, "aten.eq.Scalar", true, kInfinity); },
};

TOSAIC_ATEN_OP(isfinite) = {
    .schemas = schemas("aten::isfinite(Tensor self) -> Tensor"),
    .doc = "Whether a value is a number and not infinite: abs and lt.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return lower_finiteness(n, b, "aten.lt.Scalar", true, kInfinity); },
};

TOSAIC_ATEN_OP(isposinf) = {
    .schemas = schemas("aten::isposinf(Tensor self) -> Tensor"),
    .doc = "Whether a value is infinite and above 0: eq.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return lower_finiteness(n, b, "aten.eq.Scalar", false, kInfinity); },
};

TOSAIC_ATEN_OP(isneginf) = {
    .schemas = schemas("aten::isneginf(Tensor self) -> Tensor"),
    .doc = "Whether a value is infinite and below 0: eq.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n,
                Builder& b) { return lower_finiteness(n, b, "aten.eq.Scalar", false, -kInfinity); },
};

TOSAIC_ATEN_OP(atan2) = {
    .schemas = schemas("aten::atan2(Tensor self, Tensor other) -> Tensor",
                       "aten::arctan2(Tensor self, Tensor other) -> Tensor"),
    .doc = "Angle of a point in the plane; of no form in TOSA.",
    .cpu = "aten::atan2.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};
