// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "aten/arithmetic.h"

// Product with broadcast. Quantised: the stored integers without their zero points are multiplied
// in int32, and one RESCALE by s_a * s_b / s_out gives the result.

namespace tosaic::aten {
namespace {

/// The stored integers without their zero point, as int32.
Value* centred(Builder& b, Value* x, int rank) {
  const int64_t zero_point = x->quant()->zero_point();
  if (!x->is_constant()) {
    return b.rescale(b.expand_rank(x, rank), DType::kI32, 1, zero_point, 0);
  }
  std::vector<int64_t> values = int_values(*x->constant());
  for (int64_t& v : values)
    v -= zero_point;
  return b.expand_rank(b.constant_ints(DType::kI32, x->shape(), values), rank);
}

Value* finish(const Call& n, Builder& b, Value* product, double scale) {
  const Quant& to = *n.out().quant;
  // A product of 16-bit values has 31 bits, which apply_scale_32 takes for factors below 1/2 only.
  if (n.out().dtype == DType::kI16 && scale >= 0.5) {
    b.fail(reject(Code::kRejectQuantParams, "{}: the output's scale {} is too small for its inputs",
                  n.schema().full_name, to.scale()));
  }
  return clamp_to_range(b, b.rescale(product, n.out().dtype, scale, 0, to.zero_point()), n.out());
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
    Value* y = is_float(dtype) ? b.scalar_float(dtype, factor, rank)
                               : b.scalar_int(dtype, n.i("other"), rank);
    return b.cast(b.mul(b.cast(x, dtype), y), dtype);
  }
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const double scale = x->quant()->scale() * std::abs(factor) / n.out().quant->scale();
  if (!(scale > 0)) {
    return reject(Code::kRejectAttribute, "{}: a factor of {}", n.schema().full_name, factor);
  }
  if (factor > 0) {
    const Quant& to = *n.out().quant;
    Value* z = b.rescale(x, n.out().dtype, scale, x->quant()->zero_point(), to.zero_point());
    return clamp_to_range(b, z, n.out());
  }
  Value* negative = b.mul(centred(b, x, rank), b.scalar_int(DType::kI32, -1, rank));
  return finish(n, b, negative, scale);
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
