// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/broadcast_calls.h"

// Weighted means, and sums with products and quotients: calls of add, sub, mul and div.

namespace tosaic::aten {
namespace {

/// PyTorch starts from the nearer end, so that weights of 0 and 1 give the ends themselves.
Lowered lower_lerp_scalar(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  BroadcastCalls c(b, n);
  const double weight = n.f("weight");
  Value* start = n.in(0);
  Value* end = n.in(1);
  Value* distance = c.sub(end, start);
  if (std::abs(weight) < 0.5) return c.add(start, c.mul(distance, weight));
  return c.sub(end, c.mul(distance, 1 - weight));
}

Lowered lower_lerp(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  BroadcastCalls c(b, n);
  return c.add(n.in(0), c.mul(c.sub(n.in(1), n.in(0)), n.in(2)));
}

Lowered lower_addcmul(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  BroadcastCalls c(b, n);
  return c.add(n.in(0), c.mul(c.mul(n.in(1), n.in(2)), n.f("value")));
}

Lowered lower_addcdiv(const Call& n, Builder& b) {
  if (auto r = check_floats(n)) return *r;
  BroadcastCalls c(b, n);
  return c.add(n.in(0), c.mul(c.div(n.in(1), n.in(2)), n.f("value")));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(lerp_scalar) = {
    .schemas =
        schemas("aten::lerp.Scalar(Tensor self, Tensor end, Scalar weight) -> Tensor",
                "aten::lerp_.Scalar(Tensor(a!) self, Tensor end, Scalar weight) -> Tensor(a!)"),
    .doc = "A mean of two values with a number as weight: sub, mul and add.",
    .traits = Trait::kAlias,
    .lower = lower_lerp_scalar,
};

TOSAIC_ATEN_OP(lerp) = {
    .schemas =
        schemas("aten::lerp.Tensor(Tensor self, Tensor end, Tensor weight) -> Tensor",
                "aten::lerp_.Tensor(Tensor(a!) self, Tensor end, Tensor weight) -> Tensor(a!)"),
    .doc = "A weighted mean of two values: sub, mul and add.",
    .traits = Trait::kAlias,
    .lower = lower_lerp,
};

TOSAIC_ATEN_OP(addcmul) = {
    .schemas = schemas("aten::addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, "
                       "Scalar value=1) -> Tensor",
                       "aten::addcmul_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, "
                       "Scalar value=1) -> Tensor(a!)"),
    .doc = "A value plus a product: mul and add.",
    .traits = Trait::kAlias,
    .lower = lower_addcmul,
};

TOSAIC_ATEN_OP(addcdiv) = {
    .schemas = schemas("aten::addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, "
                       "Scalar value=1) -> Tensor",
                       "aten::addcdiv_(Tensor(a!) self, Tensor tensor1, Tensor tensor2, *, "
                       "Scalar value=1) -> Tensor(a!)"),
    .doc = "A value plus a quotient: div, mul and add.",
    .traits = Trait::kAlias,
    .lower = lower_addcdiv,
};
