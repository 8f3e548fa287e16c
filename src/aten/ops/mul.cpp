// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

namespace tosaic::aten {
namespace {

Lowered lower_float(const Call& n, Builder& b) {
  const int rank = n.out().shape.rank();
  Value* y = n.in(1) == nullptr ? b.scalar_float(n.out().dtype, n.f("other"), rank)
                                : b.expand_rank(n.in(1), rank);
  return b.mul(b.expand_rank(n.in(0), rank), y);
}

/// (a - zp_a) · (b - zp_b) in int32, then one RESCALE. The product of two 8-bit differences has 17
/// bits, of two 16-bit values 31.
Lowered lower_quantised(const Call& n, Builder& b) {
  if (n.in(1) == nullptr) {
    return reject(Code::kRejectAttribute, "{}: the second operand is a number; quantised products "
                  "take tensors", n.schema().full_name);
  }
  if (auto r = check_activation(n, n.in(0)->type(), "operand 0")) return *r;
  if (auto r = check_activation(n, n.in(1)->type(), "operand 1")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const Quant& qa = *n.in(0)->quant();
  const Quant& qb = *n.in(1)->quant();
  const Quant& q = *n.out().quant;
  const int rank = n.out().shape.rank();
  Value* x = b.rescale(b.expand_rank(n.in(0), rank), DType::kI32, 1, qa.zero_point(), 0);
  Value* y = b.rescale(b.expand_rank(n.in(1), rank), DType::kI32, 1, qb.zero_point(), 0);
  Value* product = b.mul(x, y);
  Value* z =
      b.rescale(product, n.out().dtype, qa.scale() * qb.scale() / q.scale(), 0, q.zero_point());
  return clamp_to_range(b, z, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(mul) = {
    .schemas = schemas("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor",
                       "aten::mul_.Tensor(Tensor(a!) self, Tensor other) -> Tensor(a!)",
                       "aten::mul.Scalar(Tensor self, Scalar other) -> Tensor",
                       "aten::mul_.Scalar(Tensor(a!) self, Scalar other) -> Tensor(a!)"),
    .doc = "Product with broadcast: MUL; quantised in int32.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = [](const Call& n, Builder& b) {
      return n.any_quantised() ? lower_quantised(n, b) : lower_float(n, b);
    },
    .cpu = "aten::mul.out(Tensor self, Tensor other, *, Tensor(a!) out) -> Tensor(a!)",
};
