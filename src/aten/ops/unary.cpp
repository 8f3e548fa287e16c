// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <numbers>

#include "aten/elementwise.h"

// Functions of one value. In float they are one TOSA operation or a few; quantised they are tables.
// Those with jumps are tables on 8-bit values only, and abs and neg, which integers compute
// exactly, on 16-bit values are arithmetic.

namespace tosaic::aten {
namespace {

Lowered emit_unary(const Call& n, Builder& b, const OpDef& op) {
  return b.emit(op, {promoted_operand(n, b)});
}

/// abs and neg of a quantised value: a table on 8-bit values; else in int32.
template <typename Fn>
Lowered lower_exact(const Call& n, Builder& b, double (*function)(double, const Call&), Fn op) {
  Value* x = n.in(0);
  if (x->dtype() == DType::kI8 && n.out().dtype == DType::kI8) return lower_table(n, b, function);
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const Quant& to = *n.out().quant;
  Value* y = op(centred(b, x, n.out().shape.rank()));
  y = b.rescale(y, n.out().dtype, x->quant()->scale() / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, y, n.out());
}

Lowered lower_abs(const Call& n, Builder& b) {
  if (!n.any_quantised()) return b.emit(tosa::abs, {n.in(0)});
  return lower_exact(
      n, b, [](double x, const Call&) { return std::abs(x); },
      [&](Value* x) { return b.emit(tosa::abs, {x}); });
}

Value* negated(Builder& b, Value* x) {
  Value* zero = b.zero_point(x->dtype(), 0);
  return b.emit(tosa::negate, {x, zero, zero});
}

Lowered lower_neg(const Call& n, Builder& b) {
  if (!n.any_quantised()) return negated(b, n.in(0));
  return lower_exact(
      n, b, [](double x, const Call&) { return -x; }, [&](Value* x) { return negated(b, x); });
}

/// 1, 0 or -1.
Lowered lower_sign(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    return lower_step_table(
        n, b, [](double x, const Call&) { return static_cast<double>((x > 0) - (x < 0)); });
  }
  Value* x = n.in(0);
  Value* zero = number(n, b, 0);
  Value* negative =
      b.emit(tosa::select, {b.emit(tosa::greater, {zero, x}), number(n, b, -1), zero});
  return b.emit(tosa::select, {b.emit(tosa::greater, {x, zero}), number(n, b, 1), negative});
}

// exp(x) - 1 and log(1 + x) lose all digits of a small x to the 1. Kahan's remedy: what the sum
// kept of the number stands in a quotient with the function of the sum, which is nearly that of the
// number.

/// `near` where |x| is below 1 (and x itself where the sum kept nothing of it), else `far`.
Value* choose_small(const Call& n, Builder& b, Value* x, Value* kept, Value* near, Value* far) {
  Value* none_kept = b.emit(tosa::equal, {kept, number(n, b, 0)});
  near = b.emit(tosa::select, {none_kept, x, near});
  Value* is_small = b.emit(tosa::greater, {number(n, b, 1), b.emit(tosa::abs, {x})});
  return b.emit(tosa::select, {is_small, near, far});
}

Lowered lower_expm1(const Call& n, Builder& b) {
  Value* x = promoted_operand(n, b);
  Value* power = b.emit(tosa::exp, {x});
  Value* kept = b.emit(tosa::sub, {power, number(n, b, 1)});
  Value* ratio = b.mul(x, b.emit(tosa::reciprocal, {b.emit(tosa::log, {power})}));
  return choose_small(n, b, x, kept, b.mul(kept, ratio), kept);
}

/// (exp(x) + sign * exp(-x)) / 2.
Lowered lower_hyperbolic(const Call& n, Builder& b, const OpDef& op) {
  Value* x = promoted_operand(n, b);
  Value* sum = b.emit(op, {b.emit(tosa::exp, {x}), b.emit(tosa::exp, {negated(b, x)})});
  return b.mul(sum, number(n, b, 0.5));
}

/// Logarithm to a base, of which the natural logarithm is given.
Lowered lower_log(const Call& n, Builder& b, double of_base) {
  Value* x = b.emit(tosa::log, {promoted_operand(n, b)});
  return b.mul(x, number(n, b, 1 / of_base));
}

Lowered lower_log1p(const Call& n, Builder& b) {
  Value* x = promoted_operand(n, b);
  Value* one = number(n, b, 1);
  Value* sum = b.emit(tosa::add, {x, one});
  Value* kept = b.emit(tosa::sub, {sum, one});
  Value* logarithm = b.emit(tosa::log, {sum});
  Value* ratio = b.mul(logarithm, b.emit(tosa::reciprocal, {kept}));
  return choose_small(n, b, x, kept, b.mul(x, ratio), logarithm);
}

Lowered lower_tan(const Call& n, Builder& b) {
  Value* x = promoted_operand(n, b);
  return b.mul(b.emit(tosa::sin, {x}), b.emit(tosa::reciprocal, {b.emit(tosa::cos, {x})}));
}

Lowered table_only(const Call& n, Builder&) {
  return reject(Code::kRejectDtype,
                "{}: TOSA has no operation for it on {}; quantised it is a table",
                n.schema().full_name, dtype_name(n.in(0)->dtype()));
}

// ---- Functions with jumps ---------------------------------------------------------------------

Lowered lower_floor(const Call& n, Builder& b) {
  if (!n.any_quantised()) return floor_of(n, b, n.in(0));
  return lower_step_table(n, b, [](double x, const Call&) { return std::floor(x); });
}

/// The negative of the floor of the negative.
Value* ceil_of(const Call& n, Builder& b, Value* x) {
  return negated(b, floor_of(n, b, negated(b, x)));
}

Lowered lower_ceil(const Call& n, Builder& b) {
  if (!n.any_quantised()) return ceil_of(n, b, n.in(0));
  return lower_step_table(n, b, [](double x, const Call&) { return std::ceil(x); });
}

Lowered lower_trunc(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    return lower_step_table(n, b, [](double x, const Call&) { return std::trunc(x); });
  }
  Value* x = n.in(0);
  return b.emit(tosa::select,
                {b.emit(tosa::greater, {number(n, b, 0), x}), ceil_of(n, b, x), floor_of(n, b, x)});
}

/// To the nearest integer, ties to even: floor(x) plus 1 when the rest is above 1/2, or is 1/2 and
/// the floor is odd.
Lowered lower_round(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    return lower_step_table(n, b, [](double x, const Call&) { return std::nearbyint(x); });
  }
  Value* x = n.in(0);
  Value* half = number(n, b, 0.5);
  Value* below = floor_of(n, b, x);
  Value* rest = b.emit(tosa::sub, {x, below});
  Value* even = floor_of(n, b, b.mul(below, half));
  Value* is_odd = b.emit(tosa::sub, {below, b.emit(tosa::add, {even, even})});
  Value* at_tie =
      b.emit(tosa::select, {b.emit(tosa::equal, {rest, half}), is_odd, number(n, b, 0)});
  Value* up = b.emit(tosa::select, {b.emit(tosa::greater, {rest, half}), number(n, b, 1), at_tie});
  return b.emit(tosa::add, {below, up});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(sigmoid) = {
    .schemas = schemas("aten::sigmoid(Tensor self) -> Tensor",
                       "aten::sigmoid_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "1 / (1 + exp(-x)): SIGMOID in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return 1 / (1 + std::exp(-x)); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::sigmoid); },
    .cpu = "aten::sigmoid.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(tanh) = {
    .schemas = schemas("aten::tanh(Tensor self) -> Tensor",
                       "aten::tanh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Hyperbolic tangent: TANH in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::tanh(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::tanh); },
    .cpu = "aten::tanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(exp) = {
    .schemas = schemas("aten::exp(Tensor self) -> Tensor",
                       "aten::exp_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Exponential function: EXP in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::exp(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::exp); },
    .cpu = "aten::exp.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(expm1) = {
    .schemas = schemas("aten::expm1(Tensor self) -> Tensor",
                       "aten::expm1_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "exp(x) - 1: EXP and SUB in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::expm1(x); },
    .lower = lower_expm1,
    .cpu = "aten::expm1.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(log) = {
    .schemas = schemas("aten::log(Tensor self) -> Tensor",
                       "aten::log_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Natural logarithm: LOG in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::log(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::log); },
    .cpu = "aten::log.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(log2) = {
    .schemas = schemas("aten::log2(Tensor self) -> Tensor",
                       "aten::log2_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Logarithm to base 2: LOG and a factor in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::log2(x); },
    .lower = [](const Call& n, Builder& b) { return lower_log(n, b, std::numbers::ln2); },
    .cpu = "aten::log2.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(log10) = {
    .schemas = schemas("aten::log10(Tensor self) -> Tensor",
                       "aten::log10_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Logarithm to base 10: LOG and a factor in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::log10(x); },
    .lower = [](const Call& n, Builder& b) { return lower_log(n, b, std::numbers::ln10); },
    .cpu = "aten::log10.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(log1p) = {
    .schemas = schemas("aten::log1p(Tensor self) -> Tensor",
                       "aten::log1p_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "log(1 + x): ADD and LOG in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::log1p(x); },
    .lower = lower_log1p,
    .cpu = "aten::log1p.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(rsqrt) = {
    .schemas = schemas("aten::rsqrt(Tensor self) -> Tensor",
                       "aten::rsqrt_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "1 / sqrt(x): RSQRT in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return 1 / std::sqrt(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::rsqrt); },
    .cpu = "aten::rsqrt.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(reciprocal) = {
    .schemas = schemas("aten::reciprocal(Tensor self) -> Tensor",
                       "aten::reciprocal_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "1 / x: RECIPROCAL in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return 1 / x; },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::reciprocal); },
    .cpu = "aten::reciprocal.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(square) = {
    .schemas = schemas("aten::square(Tensor self) -> Tensor",
                       "aten::square_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "x * x: mul in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return x * x; },
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.mul.Tensor", {n.in(0), n.in(0)}, n.out());
    },
};

TOSAIC_ATEN_OP(sin) = {
    .schemas = schemas("aten::sin(Tensor self) -> Tensor",
                       "aten::sin_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Sine: SIN in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::sin(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::sin); },
    .cpu = "aten::sin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(cos) = {
    .schemas = schemas("aten::cos(Tensor self) -> Tensor",
                       "aten::cos_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Cosine: COS in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::cos(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::cos); },
    .cpu = "aten::cos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(tan) = {
    .schemas = schemas("aten::tan(Tensor self) -> Tensor",
                       "aten::tan_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Tangent: SIN over COS in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::tan(x); },
    .lower = lower_tan,
    .cpu = "aten::tan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(sinh) = {
    .schemas = schemas("aten::sinh(Tensor self) -> Tensor",
                       "aten::sinh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Hyperbolic sine: of EXP in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::sinh(x); },
    .lower = [](const Call& n, Builder& b) { return lower_hyperbolic(n, b, tosa::sub); },
    .cpu = "aten::sinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(cosh) = {
    .schemas = schemas("aten::cosh(Tensor self) -> Tensor",
                       "aten::cosh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Hyperbolic cosine: of EXP in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::cosh(x); },
    .lower = [](const Call& n, Builder& b) { return lower_hyperbolic(n, b, tosa::add); },
    .cpu = "aten::cosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(asin) = {
    .schemas = schemas("aten::asin(Tensor self) -> Tensor",
                       "aten::asin_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Inverse sine: TABLE when quantised; TOSA has it in no float form.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::asin(x); },
    .lower = table_only,
    .cpu = "aten::asin.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(acos) = {
    .schemas = schemas("aten::acos(Tensor self) -> Tensor",
                       "aten::acos_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Inverse cosine: TABLE when quantised; TOSA has it in no float form.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::acos(x); },
    .lower = table_only,
    .cpu = "aten::acos.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(atan) = {
    .schemas = schemas("aten::atan(Tensor self) -> Tensor",
                       "aten::atan_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Inverse tangent: TABLE when quantised; TOSA has it in no float form.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::atan(x); },
    .lower = table_only,
    .cpu = "aten::atan.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(asinh) = {
    .schemas = schemas("aten::asinh(Tensor self) -> Tensor",
                       "aten::asinh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Inverse hyperbolic sine: TABLE when quantised; TOSA has it in no float form.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::asinh(x); },
    .lower = table_only,
    .cpu = "aten::asinh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(acosh) = {
    .schemas = schemas("aten::acosh(Tensor self) -> Tensor",
                       "aten::acosh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Inverse hyperbolic cosine: TABLE when quantised; TOSA has it in no float form.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::acosh(x); },
    .lower = table_only,
    .cpu = "aten::acosh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(atanh) = {
    .schemas = schemas("aten::atanh(Tensor self) -> Tensor",
                       "aten::atanh_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Inverse hyperbolic tangent: TABLE when quantised; TOSA has it in no float form.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::atanh(x); },
    .lower = table_only,
    .cpu = "aten::atanh.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(erf) = {
    .schemas = schemas("aten::erf(Tensor self) -> Tensor",
                       "aten::erf_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Gauss error function: ERF in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::erf(x); },
    .lower = [](const Call& n, Builder& b) { return emit_unary(n, b, tosa::erf); },
    .cpu = "aten::erf.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(abs) = {
    .schemas = schemas("aten::abs(Tensor self) -> Tensor",
                       "aten::abs_(Tensor(a!) self) -> Tensor(a!)",
                       "aten::absolute(Tensor self) -> Tensor",
                       "aten::absolute_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Absolute value: ABS; quantised TABLE, on 16-bit values ABS in int32.",
    .quant = {own(0), own(out(0))},
    .lower = lower_abs,
    .cpu = "aten::abs.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(neg) = {
    .schemas = schemas("aten::neg(Tensor self) -> Tensor",
                       "aten::neg_(Tensor(a!) self) -> Tensor(a!)",
                       "aten::negative(Tensor self) -> Tensor",
                       "aten::negative_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Negative: NEGATE; quantised TABLE, on 16-bit values NEGATE in int32.",
    .quant = {own(0), own(out(0))},
    .lower = lower_neg,
    .cpu = "aten::neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(sign) = {
    .schemas = schemas("aten::sign(Tensor self) -> Tensor",
                       "aten::sign_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "1, 0 or -1: GREATER and SELECT in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_sign,
    .cpu = "aten::sign.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(floor) = {
    .schemas = schemas("aten::floor(Tensor self) -> Tensor",
                       "aten::floor_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Greatest integer below: CAST in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_floor,
    .cpu = "aten::floor.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ceil) = {
    .schemas = schemas("aten::ceil(Tensor self) -> Tensor",
                       "aten::ceil_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Least integer above: CAST in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_ceil,
    .cpu = "aten::ceil.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(trunc) = {
    .schemas = schemas("aten::trunc(Tensor self) -> Tensor",
                       "aten::trunc_(Tensor(a!) self) -> Tensor(a!)",
                       "aten::fix(Tensor self) -> Tensor",
                       "aten::fix_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Integer towards 0: CAST and SELECT in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_trunc,
    .cpu = "aten::trunc.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(round) = {
    .schemas = schemas("aten::round(Tensor self) -> Tensor",
                       "aten::round_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "Nearest integer, ties to even: CAST and SELECT in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_round,
    .cpu = "aten::round.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)",
};
