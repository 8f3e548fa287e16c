// SPDX-License-Identifier: Apache-2.0
#include "aten/elementwise.h"

// Greater and lesser of two values, with broadcast. Quantised, both are brought to the output's
// scale in int32, which rounds as the output does: q(max(x, y)) = max(q(x), q(y)), as q is
// monotonic.

namespace tosaic::aten {
namespace {

Lowered lower_choice(const Call& n, Builder& b, const OpDef& op) {
  const int rank = n.out().shape.rank();
  if (!n.any_quantised()) {
    Value* x = b.expand_rank(b.cast(n.in(0), n.out().dtype), rank);
    Value* y = b.expand_rank(b.cast(n.in(1), n.out().dtype), rank);
    return b.emit(op, {x, y}, tosa::NanModeAttrs{});
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
