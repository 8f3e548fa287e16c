// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numbers>

#include "aten/elementwise.h"

// Activations made of simpler functions: calls of other rows in float, one table when quantised.

namespace tosaic::aten {
namespace {

// ---- elu and its relatives --------------------------------------------------------------------

// PyTorch's constants of selu.
constexpr double kSeluAlpha = 1.6732632423543772848170429916717;
constexpr double kSeluScale = 1.0507009873554804934193349852946;

double elu_value(double x, double alpha, double scale, double input_scale) {
  return x > 0 ? scale * x : alpha * scale * std::expm1(input_scale * x);
}

/// scale * x where x is positive, else alpha * scale * (exp(input_scale * x) - 1). Each part is 0
/// where the other counts, so that the result is their sum.
Lowered lower_elu(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const double scale = n.f("scale");
  Value* zero = number(n, b, 0);
  Value* positive = b.emit(tosa::maximum, {x, zero}, tosa::NanModeAttrs{});
  Value* negative = b.emit(tosa::minimum, {x, zero}, tosa::NanModeAttrs{});
  Value* power = b.emit(tosa::exp, {b.mul(negative, number(n, b, n.f("input_scale")))});
  Value* below = b.emit(tosa::sub, {power, number(n, b, 1)});
  return b.emit(tosa::add, {b.mul(positive, number(n, b, scale)),
                            b.mul(below, number(n, b, n.f("alpha") * scale))});
}

Lowered call_elu(const Call& n, Builder& b, double alpha, double scale, double input_scale) {
  return b.call("aten.elu.default", {n.in(0)}, n.out(),
                {{"alpha", Attr::real(alpha)},
                 {"scale", Attr::real(scale)},
                 {"input_scale", Attr::real(input_scale)}});
}

Lowered lower_celu(const Call& n, Builder& b) {
  const double alpha = n.f("alpha");
  if (alpha == 0) {
    return reject(Code::kRejectAttribute, "{}: alpha is 0", n.schema().full_name);
  }
  return call_elu(n, b, alpha, 1, 1 / alpha);
}

// ---- Products of the value with a gate --------------------------------------------------------

Lowered lower_silu(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  return f.mul(n.in(0), f.unary("aten.sigmoid.default", n.in(0)));
}

Lowered lower_hardsigmoid(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  return f.mul(f.limit(f.add(n.in(0), 3.0), 0, 6), 1.0 / 6);
}

Lowered lower_hardswish(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  Value* gate = f.limit(f.add(n.in(0), 3.0), 0, 6);
  return f.mul(f.mul(n.in(0), gate), 1.0 / 6);
}

bool is_tanh_form(const Call& n) {
  return n.s("approximate") == "tanh";
}

/// Real value of gelu, by the error function or by its usual approximation with tanh.
double gelu_value(double x, const Call& n) {
  if (!is_tanh_form(n)) return 0.5 * x * std::erfc(-x / std::numbers::sqrt2);
  const double inner = std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x);
  return 0.5 * x * (1 + std::tanh(inner));
}

Lowered lower_gelu(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  Value* x = n.in(0);
  Value* gate = nullptr;
  if (is_tanh_form(n)) {
    Value* cubic = f.add(f.mul(f.mul(x, x), 0.044715), 1.0);
    Value* inner = f.mul(f.mul(x, cubic), std::sqrt(2 / std::numbers::pi));
    gate = f.unary("aten.tanh.default", inner);
  } else {
    gate = f.unary("aten.erf.default", f.mul(x, 1 / std::numbers::sqrt2));
  }
  return f.mul(f.mul(x, f.add(gate, 1.0)), 0.5);
}
}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(elu) = {
    .schemas = schemas(
        "aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor",
        "aten::elu_(Tensor(a!) self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> "
        "Tensor(a!)"),
    .doc =
        "The value, alpha * (exp(x) - 1) where it is negative: EXP in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table =
        [](double x, const Call& n) {
          return elu_value(x, n.f("alpha"), n.f("scale"), n.f("input_scale"));
        },
    .lower = lower_elu,
    .cpu =
        "aten::elu.out(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(celu) = {
    .schemas = schemas("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor",
                       "aten::celu_(Tensor(a!) self, Scalar alpha=1.) -> Tensor(a!)"),
    .doc = "elu of x / alpha, continuous in its slope: elu in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x,
                const Call& n) { return elu_value(x, n.f("alpha"), 1, 1 / n.f("alpha")); },
    .lower = lower_celu,
};

TOSAIC_ATEN_OP(selu) = {
    .schemas = schemas("aten::selu(Tensor self) -> Tensor",
                       "aten::selu_(Tensor(a!) self) -> Tensor(a!)"),
    .doc =
        "elu with the constants of self-normalising networks: elu in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return elu_value(x, kSeluAlpha, kSeluScale, 1); },
    .lower = [](const Call& n, Builder& b) { return call_elu(n, b, kSeluAlpha, kSeluScale, 1); },
};

TOSAIC_ATEN_OP(silu) = {
    .schemas = schemas("aten::silu(Tensor self) -> Tensor",
                       "aten::silu_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "x * sigmoid(x): sigmoid and mul in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return x / (1 + std::exp(-x)); },
    .lower = lower_silu,
};

TOSAIC_ATEN_OP(hardsigmoid) = {
    .schemas = schemas("aten::hardsigmoid(Tensor self) -> Tensor",
                       "aten::hardsigmoid_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "x + 3 limited to 0 to 6, over 6: add, hardtanh and mul in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return std::clamp(x + 3, 0.0, 6.0) / 6; },
    .lower = lower_hardsigmoid,
};

TOSAIC_ATEN_OP(hardswish) = {
    .schemas = schemas("aten::hardswish(Tensor self) -> Tensor",
                       "aten::hardswish_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "x * hardsigmoid(x): add, hardtanh and mul in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x, const Call&) { return x * std::clamp(x + 3, 0.0, 6.0) / 6; },
    .lower = lower_hardswish,
};

TOSAIC_ATEN_OP(gelu) = {
    .schemas = schemas("aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor",
                       "aten::gelu_(Tensor(a!) self, *, str approximate=\"none\") -> Tensor(a!)"),
    .doc =
        "x times the normal distribution's integral: erf or tanh, and mul in float, TABLE when "
        "quantised.",
    .quant = {own(0), own(out(0))},
    .table = gelu_value,
    .lower = lower_gelu,
    .cpu = "aten::gelu.out(Tensor self, *, str approximate=\"none\", Tensor(a!) out) -> Tensor(a!)",
};
