// SPDX-License-Identifier: Apache-2.0
#include "aten/broadcast_calls.h"
#include "aten/elementwise.h"

// Greater and lesser of two values, with broadcast. Quantised, both are brought to the output's
// scale in int32, which rounds as the output does: q(max(x, y)) = max(q(x), q(y)), as q is
// monotonic.

namespace tosaic::aten {
namespace {

Lowered lower_choice(const Call& n, Builder& b, const OpDef& op,
                     tosa::NanMode mode = tosa::NanMode::kPropagate) {
  const int rank = n.out().shape.rank();
  if (!n.any_quantised()) {
    Value* x = b.expand_rank(b.cast(n.in(0), n.out().dtype), rank);
    Value* y = b.expand_rank(b.cast(n.in(1), n.out().dtype), rank);
    return b.emit(op, {x, y}, tosa::NanModeAttrs{mode});
  }
  if (auto r = check_activation(n, n.in(0)->type(), "operand 0")) return *r;
  if (auto r = check_activation(n, n.in(1)->type(), "operand 1")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const Quant& to = *n.out().quant;
  const auto in_steps_of_output = [&](Value* x) {
    return b.rescale(b.expand_rank(x, rank), DType::kI32, x->quant()->scale() / to.scale(),
                     x->quant()->zero_point(), 0);
  };
  Value* x = in_steps_of_output(n.in(0));
  Value* y = in_steps_of_output(n.in(1));
  Value* z = b.emit(op, {x, y}, tosa::NanModeAttrs{});
  return clamp_to_range(b, b.rescale(z, n.out().dtype, 1, 0, to.zero_point()), n.out());
}

/// fmax and fmin as calls of kernels: of what is no number, the other operand takes the place.
Lowered record_without_nan(const Call& n, Builder& b, std::string_view full_name) {
  BroadcastCalls c(b, n);
  Value* x = n.in(0);
  Value* y = n.in(1);
  if (!is_float(n.out().dtype)) return c.binary(full_name, x, y, n.out().dtype);
  const auto or_else = [&](Value* v, Value* other) {
    Value* is_nan = c.binary("aten.ne.Tensor", v, v, DType::kBool);
    return b.call("aten.where.self", {is_nan, other, v}, n.out());
  };
  return c.binary(full_name, or_else(x, y), or_else(y, x), n.out().dtype);
}

Lowered lower_fmax(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kRecord) return record_without_nan(n, b, "aten.maximum.default");
  return lower_choice(n, b, tosa::maximum, tosa::NanMode::kIgnore);
}

Lowered lower_fmin(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kRecord) return record_without_nan(n, b, "aten.minimum.default");
  return lower_choice(n, b, tosa::minimum, tosa::NanMode::kIgnore);
}

/// PyTorch: where the limits cross, the upper one.
Lowered lower_clamp(const Call& n, Builder& b) {
  const auto limited = [&](std::string_view overload, Value* x, std::string_view name) {
    Value* limit = n.tensor(name);
    if (limit == nullptr) return x;
    Shape shape;
    if (!broadcast(x->shape(), limit->shape(), shape)) shape = n.out().shape;
    return b.call(overload, {x, limit}, {n.out().dtype, shape, n.out().quant});
  };
  Value* x = limited("aten.maximum.default", n.in(0), "min");
  x = limited("aten.minimum.default", x, "max");
  if (x != n.in(0)) return x;
  return reject(Code::kRejectAttribute, "{}: there are no limits", n.schema().full_name);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(maximum) = {
    .schemas = schemas("aten::maximum(Tensor self, Tensor other) -> Tensor",
                       "aten::max.other(Tensor self, Tensor other) -> Tensor"),
    .doc = "Greater of two values: MAXIMUM, quantised in int32.",
    .quant = {same({0, 1, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_choice(n, b, tosa::maximum); },
    .cpu = "aten::maximum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(minimum) = {
    .schemas = schemas("aten::minimum(Tensor self, Tensor other) -> Tensor",
                       "aten::min.other(Tensor self, Tensor other) -> Tensor"),
    .doc = "Lesser of two values: MINIMUM, quantised in int32.",
    .quant = {same({0, 1, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_choice(n, b, tosa::minimum); },
    .cpu = "aten::minimum.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(clamp_tensor) = {
    .schemas = schemas(
        "aten::clamp.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
        "aten::clamp_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)",
        "aten::clip.Tensor(Tensor self, Tensor? min=None, Tensor? max=None) -> Tensor",
        "aten::clip_.Tensor(Tensor(a!) self, Tensor? min=None, Tensor? max=None) -> Tensor(a!)"),
    .doc = "A value between two others, of which one may be missing: maximum and minimum.",
    .quant = {same({0, 1, 2, out(0)})},
    .lower = lower_clamp,
    .cpu =
        "aten::clamp.Tensor_out(Tensor self, Tensor? min=None, Tensor? max=None, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(clamp_min_tensor) = {
    .schemas = schemas("aten::clamp_min.Tensor(Tensor self, Tensor min) -> Tensor",
                       "aten::clamp_min_.Tensor(Tensor(a!) self, Tensor min) -> Tensor(a!)"),
    .doc = "maximum.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.maximum.default", {n.in(0), n.in(1)}, n.out());
    },
};

TOSAIC_ATEN_OP(clamp_max_tensor) = {
    .schemas = schemas("aten::clamp_max.Tensor(Tensor self, Tensor max) -> Tensor",
                       "aten::clamp_max_.Tensor(Tensor(a!) self, Tensor max) -> Tensor(a!)"),
    .doc = "minimum.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) -> Lowered {
      return b.call("aten.minimum.default", {n.in(0), n.in(1)}, n.out());
    },
};

TOSAIC_ATEN_OP(fmax) = {
    .schemas = schemas("aten::fmax(Tensor self, Tensor other) -> Tensor"),
    .doc = "Greater of two values, of which one may be no number: MAXIMUM, quantised in int32.",
    .quant = {same({0, 1, out(0)})},
    .lower = lower_fmax,
};

TOSAIC_ATEN_OP(fmin) = {
    .schemas = schemas("aten::fmin(Tensor self, Tensor other) -> Tensor"),
    .doc = "Lesser of two values, of which one may be no number: MINIMUM, quantised in int32.",
    .quant = {same({0, 1, out(0)})},
    .lower = lower_fmin,
};
