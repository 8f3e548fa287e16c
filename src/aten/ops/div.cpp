// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/elementwise.h"
#include "aten/integers.h"

// Quotients and rests, with broadcast.
//
// In float x / y is x times RECIPROCAL(y), and times the number 1 / y where y is a constant. The
// rounded quotient of floor and trunc is corrected by its rest, so that 6 / 3 never gives 1.
// Quantised, a quotient by one number is a RESCALE, by other constants a product with what they are
// the inverse of, and by a value a product with its inverse, which is a table of 24 bits or made in
// int32 (docs/composites.md). The rounded ones need one number and are tables, on 8-bit values
// since they have jumps.

namespace tosaic::aten {
namespace {

enum class Rounding : uint8_t { kNone, kFloor, kTrunc };

std::optional<Rounding> rounding_of(const Call& n) {
  if (!n.has("rounding_mode")) return Rounding::kNone;
  const std::string_view mode = n.s("rounding_mode");
  if (mode == "floor") return Rounding::kFloor;
  if (mode == "trunc") return Rounding::kTrunc;
  return std::nullopt;
}

/// The real numbers of a constant.
std::vector<double> numbers(const Value& constant) {
  if (is_float(constant.dtype())) return float_values(*constant.constant());
  const Quant* quant = constant.quant();
  std::vector<double> values;
  for (int64_t code : int_values(*constant.constant())) {
    const auto value = static_cast<double>(quant == nullptr ? code : code - quant->zero_point());
    values.push_back(quant == nullptr ? value : value * quant->scale());
  }
  return values;
}

/// The divisor when it is one number; else NaN.
double divisor_number(const Call& n) {
  if (n.num_in() < 2) return n.f("other");
  const Value& y = *n.in(1);
  return y.is_constant() && y.shape().num_elements() == 1 ? numbers(y)[0] : std::nan("");
}

/// PyTorch's remainder has the divisor's sign, fmod the dividend's.
double remainder_value(double x, double y) {
  const double rest = std::fmod(x, y);
  return rest != 0 && (rest < 0) != (y < 0) ? rest + y : rest;
}
double floor_quotient_value(double x, double y) {
  return std::round((x - remainder_value(x, y)) / y);
}

// ---- Float ------------------------------------------------------------------------------------

/// Operands that are not quantised, of equal rank.
struct Operands {
  Value* x;
  Value* y;
};

Operands operands_of(const Call& n, Builder& b) {
  const int rank = n.out().shape.rank();
  const DType dtype = n.out().dtype;
  Value* y = n.num_in() < 2 ? number(n, b, "other") : b.cast(n.in(1), dtype);
  return {b.expand_rank(b.cast(n.in(0), dtype), rank), b.expand_rank(y, rank)};
}

Value* quotient(Builder& b, const Operands& o) {
  if (!o.y->is_constant() || !is_float(o.y->dtype())) {
    return b.mul(o.x, b.emit(tosa::reciprocal, {o.y}));
  }
  std::vector<double> values = float_values(*o.y->constant());
  for (double& v : values)
    v = 1 / v;
  return b.mul(o.x, b.constant_floats(o.y->dtype(), o.y->shape(), values));
}

/// Greatest integer below the quotient, and what is left of x.
struct Division {
  Value* quotient;
  Value* rest;
};

/// The quotient's rounding may be one off, which its rest tells: it must lie between 0 and y.
Division floor_division(const Call& n, Builder& b, const Operands& o) {
  Value* zero = number(n, b, 0);
  Value* one = number(n, b, 1);
  Value* q = floor_of(n, b, quotient(b, o));
  Value* rest = b.emit(tosa::sub, {o.x, b.mul(q, o.y)});
  Value* y_negative = b.emit(tosa::greater, {zero, o.y});
  // Of the sign of y, as if y were positive.
  Value* directed = b.emit(tosa::select, {y_negative, b.emit(tosa::sub, {zero, rest}), rest});
  Value* below = b.emit(tosa::greater, {zero, directed});
  Value* above = b.emit(tosa::greater_equal, {directed, b.emit(tosa::abs, {o.y})});
  Value* up = b.emit(tosa::select, {above, one, zero});
  Value* step = b.emit(tosa::select, {below, number(n, b, -1), up});
  return {b.emit(tosa::add, {q, step}), b.emit(tosa::sub, {rest, b.mul(step, o.y)})};
}

/// Division of magnitudes, with the signs put back.
Division trunc_division(const Call& n, Builder& b, const Operands& o) {
  Value* zero = number(n, b, 0);
  const auto negative = [&](Value* v) { return b.emit(tosa::greater, {zero, v}); };
  const auto signed_as = [&](Value* v, Value* is_negative) {
    return b.emit(tosa::select, {is_negative, b.emit(tosa::sub, {zero, v}), v});
  };
  const Division d = floor_division(n, b, {b.emit(tosa::abs, {o.x}), b.emit(tosa::abs, {o.y})});
  Value* q = signed_as(signed_as(d.quotient, negative(o.x)), negative(o.y));
  return {q, signed_as(d.rest, negative(o.x))};
}

// ---- Rows -------------------------------------------------------------------------------------

Lowered refuse_dtype(const Call& n) {
  return reject(Code::kRejectDtype, "{}: no form for {}", n.schema().full_name,
                dtype_name(n.out().dtype));
}

Lowered refuse_divisor(const Call& n) {
  return reject(
      Code::kRejectNotConstant,
      "{}: it needs a finite constant other than 0 to divide by, of one element if it rounds",
      n.schema().full_name);
}

bool can_divide(double divisor) {
  return std::isfinite(divisor) && divisor != 0;
}

/// Bits of a code without its zero point.
int code_bits(DType dtype) {
  return dtype == DType::kI8 ? 8 : 16;
}

/// Quotients have up to 31 bits.
Lowered finish(const Call& n, Builder& b, const Scaled& quotient) {
  return finish_product(n, b, quotient.value, quotient.scale, true);
}

/// Times int32 multiples of the inverses.
Lowered divide_by_constants(const Call& n, Builder& b) {
  const Value& y = *n.in(1);
  if (y.quant() != nullptr && !y.quant()->per_tensor()) {
    return reject(Code::kRejectQuantParams, "{}: operand 1 is quantised per channel",
                  n.schema().full_name);
  }
  std::vector<double> inverses = numbers(y);
  double most = 0;
  for (double& v : inverses) {
    if (!can_divide(v)) return refuse_divisor(n);
    v = 1 / v;
    most = std::max(most, std::abs(v));
  }
  const double unit = most / 0x1p30;
  if (!(unit > 0 && std::isfinite(unit))) return refuse_divisor(n);
  std::vector<int64_t> codes;
  for (double v : inverses)
    codes.push_back(std::llrint(v / unit));
  const int rank = n.out().shape.rank();
  const int shift = code_bits(n.in(0)->dtype());
  Value* multiples = b.expand_rank(b.constant_ints(DType::kI32, y.shape(), codes), rank);
  const double scale = n.in(0)->quant()->scale() * unit / n.out().quant->scale();
  return finish(n, b,
                {b.mul(centred(b, n.in(0), rank), multiples, shift), std::ldexp(scale, shift)});
}

/// By 8-bit codes: 2^22 / d is a table of d. A divisor of 0 is taken as half a step.
Scaled quotient_of_bytes(Builder& b, Value* x, Value* y, int rank) {
  Integers in(b);
  constexpr int kBits = 22;
  const int64_t zero_point = y->quant()->zero_point();
  Value* inverse = in.table(y, 3, [=](int code) {
    const int64_t d = code - zero_point;
    return d == 0 ? (int64_t{2} << kBits) - 1 : std::llrint(std::ldexp(1.0, kBits) / d);
  });
  return {b.mul(centred(b, x, rank), b.expand_rank(inverse, rank)), std::ldexp(1.0, -kBits)};
}

/// By 16-bit codes. `ratio`: steps of the output that a quotient of 1 has.
Scaled quotient_of_words(Builder& b, Value* x, Value* y, int rank, double ratio) {
  Integers in(b);
  // Half steps, so that a divisor of 0 can be taken as one of them.
  Value* d = in.centred(b.expand_rank(y, rank), *y->quant(), 2);
  Value* sign = in.at_most(in.at_least(in.add(d, 1), -1), 1);
  Value* magnitude = in.at_least(in.mul(d, sign, 0), 1);
  // So that 2^30 are 2^16 steps of the output, or more.
  const int bits = std::clamp(static_cast<int>(std::floor(std::log2(ratio))) + 14, 0, 30);
  Value* numerator = in.mul(centred(b, x, rank), sign, 0);
  return {in.quotient(numerator, magnitude, bits), std::ldexp(2.0, -bits)};
}

Lowered divide_by_value(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* y = n.in(1);
  if (auto r = check_activation(n, y->type(), "operand 1")) return *r;
  const int rank = n.out().shape.rank();
  const double ratio = x->quant()->scale() / y->quant()->scale() / n.out().quant->scale();
  const bool is_bytes = x->dtype() == DType::kI8 && y->dtype() == DType::kI8;
  Scaled q =
      is_bytes ? quotient_of_bytes(b, x, y, rank) : quotient_of_words(b, x, y, rank, 2 * ratio);
  q.scale *= ratio;
  return finish(n, b, q);
}

/// By one number one RESCALE, for a negative divisor of the negative.
Lowered divide_quantised(const Call& n, Builder& b) {
  if (auto r = check_activation(n, n.in(0)->type(), "operand 0")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const double divisor = divisor_number(n);
  if (!std::isnan(divisor)) {
    if (!can_divide(divisor)) return refuse_divisor(n);
    return b.call("aten.mul.Scalar", {n.in(0)}, n.out(), {{"other", Attr::real(1 / divisor)}});
  }
  return n.in(1)->is_constant() ? divide_by_constants(n, b) : divide_by_value(n, b);
}

Lowered lower_div(const Call& n, Builder& b, Rounding rounding) {
  if (n.any_quantised()) {
    if (rounding == Rounding::kNone) return divide_quantised(n, b);
    if (!can_divide(divisor_number(n))) return refuse_divisor(n);
    if (rounding == Rounding::kFloor) {
      return lower_step_table(
          n, b, [](double x, const Call& c) { return floor_quotient_value(x, divisor_number(c)); });
    }
    return lower_step_table(
        n, b, [](double x, const Call& c) { return std::trunc(x / divisor_number(c)); });
  }
  if (!is_float(n.out().dtype)) return refuse_dtype(n);
  const Operands o = operands_of(n, b);
  if (rounding == Rounding::kNone) return quotient(b, o);
  return rounding == Rounding::kFloor ? floor_division(n, b, o).quotient
                                      : trunc_division(n, b, o).quotient;
}

Lowered lower_div_mode(const Call& n, Builder& b) {
  const auto rounding = rounding_of(n);
  if (rounding) return lower_div(n, b, *rounding);
  return reject(Code::kRejectAttribute, "{}: rounding_mode {}; there are floor and trunc",
                n.schema().full_name, n.s("rounding_mode"));
}

/// ExecuTorch's kernel divides by tensors only.
Lowered lower_div_scalar_mode(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_div_mode(n, b);
  Value* divisor = number(n, b, "other");
  return b.call("aten.div.Tensor_mode", {n.in(0), divisor}, n.out(),
                {{"rounding_mode", n.arg("rounding_mode")}});
}

/// ExecuTorch's kernel divides by tensors only.
Lowered lower_floor_divide_scalar(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_div(n, b, Rounding::kFloor);
  return b.call("aten.floor_divide.default", {n.in(0), number(n, b, "other")}, n.out());
}

/// Rest of x / y of the sign of x, in int32.
Value* int_rest(Builder& b, const Operands& o) {
  return b.emit(tosa::sub, {o.x, b.mul(b.emit(tosa::intdiv, {o.x, o.y}), o.y)});
}

/// ExecuTorch's kernel gives the rest of integers the dividend's sign.
bool remainder_is_real(const Call& n) {
  return is_float(n.out().dtype);
}
Lowered call_int_remainder(const Call& n, Builder& b) {
  Value* x = n.in(0);
  Value* y = n.num_in() < 2 ? number(n, b, "other") : n.in(1);
  Value* whole = b.call("aten.floor_divide.default", {x, y}, n.out());
  Value* multiple = b.call("aten.mul.Tensor", {whole, y}, n.out());
  return b.call("aten.sub.Tensor", {x, multiple}, n.out());
}

Lowered lower_remainder(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    if (!can_divide(divisor_number(n))) return refuse_divisor(n);
    return lower_step_table(
        n, b, [](double x, const Call& c) { return remainder_value(x, divisor_number(c)); });
  }
  if (b.mode() == Builder::Mode::kRecord && !remainder_is_real(n)) return call_int_remainder(n, b);
  if (n.out().dtype == DType::kI32) {
    const Operands o = operands_of(n, b);
    return int_rest(b, {b.emit(tosa::add, {int_rest(b, o), o.y}), o.y});
  }
  if (!is_float(n.out().dtype)) return refuse_dtype(n);
  return floor_division(n, b, operands_of(n, b)).rest;
}

Lowered lower_fmod(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    if (!can_divide(divisor_number(n))) return refuse_divisor(n);
    return lower_step_table(
        n, b, [](double x, const Call& c) { return std::fmod(x, divisor_number(c)); });
  }
  if (n.out().dtype == DType::kI32) return int_rest(b, operands_of(n, b));
  if (!is_float(n.out().dtype)) return refuse_dtype(n);
  return trunc_division(n, b, operands_of(n, b)).rest;
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(div) = {
    .schemas = schemas("aten::div.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::div_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::divide.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::true_divide.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::true_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc =
        "Quotient with broadcast: RECIPROCAL and MUL; quantised in int32, by a number one RESCALE.",
    .quant = {own(0), real(1), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_div(n, b, Rounding::kNone); },
    .cpu = "aten::div.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(div_scalar) = {
    .schemas = schemas("aten::div.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::div_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::divide.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)",
                       "aten::true_divide.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::true_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Quotient by a number: MUL, quantised one RESCALE.",
    .quant = {own(0), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_div(n, b, Rounding::kNone); },
    .cpu = "aten::div.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(div_mode) = {
    .schemas = schemas(
        "aten::div.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
        "aten::div_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> "
        "Tensor(a!)",
        "aten::divide.Tensor_mode(Tensor self, Tensor other, *, str? rounding_mode) -> Tensor",
        "aten::divide_.Tensor_mode(Tensor(a!) self, Tensor other, *, str? rounding_mode) -> "
        "Tensor(a!)"),
    .doc =
        "Quotient, rounded down or towards 0: quotient, corrected by its rest; TABLE when "
        "quantised.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_div_mode,
    .cpu =
        "aten::div.out_mode(Tensor self, Tensor other, *, str? rounding_mode, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(div_scalar_mode) = {
    .schemas = schemas(
        "aten::div.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
        "aten::div_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> "
        "Tensor(a!)",
        "aten::divide.Scalar_mode(Tensor self, Scalar other, *, str? rounding_mode) -> Tensor",
        "aten::divide_.Scalar_mode(Tensor(a!) self, Scalar other, *, str? rounding_mode) -> "
        "Tensor(a!)"),
    .doc =
        "Quotient by a number, rounded down or towards 0: quotient, corrected by its rest; TABLE "
        "when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_div_scalar_mode,
};

TOSAIC_ATEN_OP(floor_divide) = {
    .schemas = schemas("aten::floor_divide(Tensor self, Tensor other) -> Tensor",
                       "aten::floor_divide_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Quotient, rounded down: quotient, corrected by its rest; TABLE when quantised.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_div(n, b, Rounding::kFloor); },
    .cpu = "aten::floor_divide.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(floor_divide_scalar) = {
    .schemas = schemas("aten::floor_divide.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::floor_divide_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc =
        "Quotient by a number, rounded down: quotient, corrected by its rest; TABLE when "
        "quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_floor_divide_scalar,
};

TOSAIC_ATEN_OP(remainder) = {
    .schemas = schemas("aten::remainder.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::remainder_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Rest of a division, of the divisor's sign; TABLE when quantised.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_remainder,
    .cpu = "aten::remainder.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = remainder_is_real,
};

TOSAIC_ATEN_OP(remainder_scalar) = {
    .schemas = schemas("aten::remainder.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::remainder_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Rest of a division by a number, of its sign; TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_remainder,
    .cpu = "aten::remainder.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = remainder_is_real,
};

TOSAIC_ATEN_OP(fmod) = {
    .schemas = schemas("aten::fmod.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::fmod_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Rest of a division, of the dividend's sign; TABLE when quantised.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_fmod,
    .cpu = "aten::fmod.Tensor_out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(fmod_scalar) = {
    .schemas = schemas("aten::fmod.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::fmod_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Rest of a division by a number, of the dividend's sign; TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_fmod,
    .cpu = "aten::fmod.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};
