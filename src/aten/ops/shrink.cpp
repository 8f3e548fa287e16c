// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/calls.h"
#include "aten/elementwise.h"

// Activations with a threshold, and gates: calls of other rows in float, one table when quantised.
// Those that jump at their threshold are tables on 8-bit values only.

namespace tosaic::aten {
namespace {

/// PyTorch compares in float32, with the number of the program.
double single(double x) {
  return static_cast<double>(static_cast<float>(x));
}

Value* where_compared(const Call& n, Builder& b, std::string_view comparison, Value* x,
                      double number_of, Value* yes, Value* no) {
  Value* condition = b.call(comparison, {x}, {DType::kBool, n.out().shape, nullptr},
                            {{"other", Attr::real(number_of)}});
  return b.call("aten.where.self", {condition, yes, no}, n.out());
}

Lowered lower_hardshrink(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    return lower_step_table(n, b, [](double x, const Call& c) {
      return std::abs(single(x)) <= single(c.f("lambd")) ? 0.0 : x;
    });
  }
  FloatCalls f(b, n.out());
  Value* x = n.in(0);
  return where_compared(n, b, "aten.le.Scalar", f.unary("aten.abs.default", x), n.f("lambd"),
                        number(n, b, 0), x);
}

Lowered lower_softshrink(const Call& n, Builder& b) {
  const double limit = n.f("lambd");
  FloatCalls f(b, n.out());
  return b.call("aten.sub.Tensor", {n.in(0), f.limit(n.in(0), -limit, limit)}, n.out());
}

Lowered lower_threshold(const Call& n, Builder& b) {
  if (n.any_quantised()) {
    return lower_step_table(n, b, [](double x, const Call& c) {
      return single(x) <= single(c.f("threshold")) ? c.f("value") : x;
    });
  }
  return where_compared(n, b, "aten.le.Scalar", n.in(0), n.f("threshold"),
                        number(n, b, n.f("value")), n.in(0));
}

double mish_value(double x, const Call&) {
  return x * std::tanh(x > 0 ? x + std::log1p(std::exp(-x)) : std::log1p(std::exp(x)));
}

Lowered lower_mish(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  Value* ramp = f.unary("aten.softplus.default", n.in(0));
  return f.mul(n.in(0), f.unary("aten.tanh.default", ramp));
}

double log_sigmoid_value(double x, const Call&) {
  return std::min(x, 0.0) - std::log1p(std::exp(-std::abs(x)));
}

Lowered lower_log_sigmoid(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  const auto negative = [&](Value* x) { return f.unary("aten.neg.default", x); };
  return negative(f.unary("aten.softplus.default", negative(n.in(0))));
}

Lowered lower_rrelu(const Call& n, Builder& b) {
  if (n.b("training")) {
    Reject r = reject(Code::kRejectAttribute, "{}: training is true", n.schema().full_name);
    r.hint = "call model.eval() before exporting";
    return r;
  }
  return b.call("aten.leaky_relu.default", {n.in(0)}, n.out(),
                {{"negative_slope", Attr::real((n.f("lower") + n.f("upper")) / 2)}});
}

/// One half of an axis, times the sigmoid of the other.
Lowered lower_glu(const Call& n, Builder& b) {
  Value* x = n.in(0);
  int64_t axis = n.i("dim");
  const int rank = x->shape().rank();
  if (rank == 0 || !normalise_axis(axis, rank) || x->shape()[static_cast<int>(axis)] % 2 != 0 ||
      n.out().shape.num_elements() * 2 != x->shape().num_elements()) {
    return reject(Code::kRejectShape, "{}: {} has no halves along axis {}", n.schema().full_name,
                  to_string(x->shape()), axis);
  }
  const auto a = static_cast<int>(axis);
  const int64_t half = x->shape()[a] / 2;
  FloatCalls f(b, n.out());
  Value* gate = f.unary("aten.sigmoid.default", call_slice(b, x, a, half, half));
  return f.mul(call_slice(b, x, a, 0, half), gate);
}

double logit_value(double x, const Call& n) {
  if (n.has("eps")) x = std::min(std::max(x, n.f("eps")), 1 - n.f("eps"));
  return std::log(x / (1 - x));
}

Lowered lower_logit(const Call& n, Builder& b) {
  FloatCalls f(b, n.out());
  Value* x = n.in(0);
  if (n.has("eps")) x = f.limit(x, n.f("eps"), 1 - n.f("eps"));
  Value* rest = f.add(f.unary("aten.neg.default", x), 1.0);
  return f.unary("aten.log.default", b.call("aten.div.Tensor", {x, rest}, n.out()));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(hardshrink) = {
    .schemas = schemas("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor"),
    .doc = "The value, 0 within lambd of 0: where in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_hardshrink,
};

TOSAIC_ATEN_OP(softshrink) = {
    .schemas = schemas("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor"),
    .doc = "The value nearer to 0 by lambd: hardtanh and sub in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = [](double x,
                const Call& n) { return x - std::min(std::max(x, -n.f("lambd")), n.f("lambd")); },
    .lower = lower_softshrink,
};

TOSAIC_ATEN_OP(threshold) = {
    .schemas =
        schemas("aten::threshold(Tensor self, Scalar threshold, Scalar value) -> Tensor",
                "aten::threshold_(Tensor(a!) self, Scalar threshold, Scalar value) -> Tensor(a!)"),
    .doc = "The value, or a number where it is not above another: where, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .lower = lower_threshold,
};

TOSAIC_ATEN_OP(mish) = {
    .schemas = schemas("aten::mish(Tensor self) -> Tensor",
                       "aten::mish_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "x * tanh(softplus(x)): calls of these in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = mish_value,
    .lower = lower_mish,
};

TOSAIC_ATEN_OP(log_sigmoid) = {
    .schemas = schemas("aten::log_sigmoid(Tensor self) -> Tensor"),
    .doc = "Logarithm of sigmoid: softplus of the negative in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = log_sigmoid_value,
    .lower = lower_log_sigmoid,
};

TOSAIC_ATEN_OP(rrelu) = {
    .schemas = schemas("aten::rrelu(Tensor self, Scalar lower=0.125, "
                       "Scalar upper=0.33333333333333331, bool training=False, "
                       "Generator? generator=None) -> Tensor"),
    .doc = "At inference leaky_relu with the mean of both slopes.",
    .traits = Trait::kAlias,
    .lower = lower_rrelu,
};

TOSAIC_ATEN_OP(glu) = {
    .schemas = schemas("aten::glu(Tensor self, int dim=-1) -> Tensor"),
    .doc = "One half of an axis times the sigmoid of the other: slice, sigmoid and mul.",
    .traits = Trait::kAlias,
    .lower = lower_glu,
};

TOSAIC_ATEN_OP(logit) = {
    .schemas = schemas("aten::logit(Tensor self, float? eps=None) -> Tensor",
                       "aten::logit_(Tensor(a!) self, float? eps=None) -> Tensor(a!)"),
    .doc = "log(x / (1 - x)): calls of these in float, TABLE when quantised.",
    .quant = {own(0), own(out(0))},
    .table = logit_value,
    .lower = lower_logit,
    .cpu = "aten::logit.out(Tensor self, float? eps=None, *, Tensor(a!) out) -> Tensor(a!)",
};
