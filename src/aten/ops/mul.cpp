// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/elementwise.h"

// Product with broadcast. Quantised: the stored integers without their zero points are multiplied
// in int32, and one RESCALE by s_a * s_b / s_out gives the result.

namespace tosaic::aten {
namespace {

/// A product of 16-bit codes has 31 bits.
Lowered finish(const Call& n, Builder& b, Value* product, double scale) {
  return finish_product(n, b, product, scale, n.out().dtype == DType::kI16);
}

Lowered lower_mul(const Call& n, Builder& b) {
  const int rank = n.out().shape.rank();
  Value* x = n.in(0);
  Value* y = n.in(1);
  if (!n.any_quantised()) {
    const DType dtype = n.out().dtype;
    Value* product =
        b.mul(b.expand_rank(b.cast(x, dtype), rank), b.expand_rank(b.cast(y, dtype), rank));
    return b.cast(product, dtype);  // MUL of narrow integers gives int32
  }
  if (auto r = check_activation(n, x->type(), "operand 0")) return *r;
  if (auto r = check_activation(n, y->type(), "operand 1")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  Value* product = b.mul(centred(b, x, rank), centred(b, y, rank));
  return finish(n, b, product, x->quant()->scale() * y->quant()->scale() / n.out().quant->scale());
}

Lowered lower_mul_scalar(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const double factor = n.f("other");
  const int rank = n.out().shape.rank();
  if (!n.any_quantised()) {
    const DType dtype = n.out().dtype;
    return b.cast(b.mul(b.cast(x, dtype), number(n, b, "other")), dtype);
  }
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const auto times = [&](int64_t whole) {
    return b.mul(centred(b, x, rank), b.scalar_int(DType::kI32, whole, rank));
  };
  constexpr double kAnyScale = 0.25;  // of zeros
  if (factor == 0) return finish(n, b, times(0), kAnyScale);
  const double scale = x->quant()->scale() * std::abs(factor) / n.out().quant->scale();
  if (!(scale > 0)) {
    return reject(Code::kRejectAttribute, "{}: a factor of {}", n.schema().full_name, factor);
  }
  if (factor > 0) {
    const Quant& to = *n.out().quant;
    Value* z = b.rescale(x, n.out().dtype, scale, x->quant()->zero_point(), to.zero_point());
    return clamp_to_range(b, z, n.out());
  }
  return finish(n, b, times(-1), scale);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(mul) = {
    .schemas = schemas("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)"),
    .doc = "Product with broadcast: MUL, quantised in int32.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_mul,
    .cpu = "aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(mul_scalar) = {
    .schemas = schemas("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Product with a number: MUL, quantised one RESCALE.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(out(0))},
    .lower = lower_mul_scalar,
    .cpu = "aten::mul.Scalar_out(Tensor self, Scalar other, *, Tensor(a!) out) -> Tensor(a!)",
};
