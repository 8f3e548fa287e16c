// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/elementwise.h"

// Difference with exchanged operands: other - alpha * self, as a call of sub. A quantised number is
// a constant of code 1 or -1 under a scale of its own, so that it is exact.

namespace tosaic::aten {
namespace {

Lowered call_sub(const Call& n, Builder& b, Value* other) {
  return b.call("aten.sub.Tensor", {other, n.in(0)}, n.out(), {{"alpha", n.arg("alpha")}});
}

Lowered lower_rsub_scalar(const Call& n, Builder& b) {
  const double value = n.f("other");
  if (!n.any_quantised()) return call_sub(n, b, number(n, b, "other"));
  Value* x = n.in(0);
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  const DType dtype = x->dtype();
  const double scale = value == 0 ? x->quant()->scale() : std::abs(value);
  const Quant* quant = b.module().quant(scale, 0, integer_min(dtype), integer_max(dtype));
  const std::vector<int64_t> ones(static_cast<size_t>(n.out().shape.rank()), 1);
  const TensorType type{dtype, Shape(ones), quant};
  const int64_t code = (value > 0) - (value < 0);
  return call_sub(
      n, b, &b.graph().add_constant(b.module().constant_ints(dtype, type.shape, {&code, 1}), type));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(rsub) = {
    .schemas = schemas("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
    .doc = "Second operand less the first: sub.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(1), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return call_sub(n, b, n.in(1)); },
};

TOSAIC_ATEN_OP(rsub_scalar) = {
    .schemas = schemas("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    .doc = "A number less the value: sub.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(out(0))},
    .lower = lower_rsub_scalar,
    .cpu =
        "aten::rsub.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
