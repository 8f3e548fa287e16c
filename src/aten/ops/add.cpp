// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aten/calls.h"
#include "aten/elementwise.h"
#include "numeric/rescale.h"

// Sum and difference with broadcast. PyTorch's `alpha` multiplies the second operand.

namespace tosaic::aten {
namespace {

/// Both operands with equal ranks, the second multiplied by alpha.
Lowered lower_plain(const Call& n, Builder& b, const OpDef& op) {
  const int rank = n.out().shape.rank();
  const DType dtype = n.out().dtype;
  Value* x = b.expand_rank(b.cast(n.in(0), dtype), rank);
  Value* y = b.expand_rank(b.cast(n.in(1), dtype), rank);
  if (const double alpha = n.f("alpha"); alpha != 1) y = b.mul(y, number(n, b, alpha));
  return b.emit(op, {x, y});
}

Lowered lower_quantised(const Call& n, Builder& b, const OpDef& op) {
  if (auto r = check_activation(n, n.in(0)->type(), "operand 0")) return *r;
  if (auto r = check_activation(n, n.in(1)->type(), "operand 1")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  if (n.in(0)->dtype() != n.in(1)->dtype()) {
    return reject(Code::kRejectDtype, "{}: operands are {} and {}", n.schema().full_name,
                  dtype_name(n.in(0)->dtype()), dtype_name(n.in(1)->dtype()));
  }
  const double alpha = n.f("alpha");
  if (alpha <= 0) {
    return reject(Code::kRejectAttribute, "{}: alpha {} is not positive", n.schema().full_name,
                  alpha);
  }
  const Quant& qa = *n.in(0)->quant();
  const Quant& qb = *n.in(1)->quant();
  const double sa = qa.scale();
  const double sb = qb.scale() * alpha;
  const double sout = n.out().quant->scale();
  const int bits = n.in(0)->dtype() == DType::kI8 ? 8 : 16;
  if (!numeric::add_scales(sa, sb, sout, bits)) {
    return reject(Code::kRejectQuantParams, "{}: scales {} and {} are too far from the output's {}",
                  n.schema().full_name, sa, sb, sout);
  }
  // The common scale of numeric::add_scales, which has checked the ranges.
  const double common = 2 * std::max(sa, sb) / (bits == 8 ? 0x1p20 : 0x1p15);
  const int rank = n.out().shape.rank();
  Value* x = b.rescale(b.expand_rank(n.in(0), rank), DType::kI32, sa / common, qa.zero_point(), 0);
  Value* y = b.rescale(b.expand_rank(n.in(1), rank), DType::kI32, sb / common, qb.zero_point(), 0);
  Value* sum = b.emit(op, {x, y});
  Value* z = b.rescale(sum, n.out().dtype, common / sout, 0, n.out().quant->zero_point());
  return clamp_to_range(b, z, n.out());
}

Lowered lower_sum(const Call& n, Builder& b, const OpDef& op) {
  return n.any_quantised() ? lower_quantised(n, b, op) : lower_plain(n, b, op);
}

/// Sum with `sign` times a number; quantised the number is a constant of code 1 or -1 under a scale
/// of its own, so that it is exact.
Lowered lower_sum_scalar(const Call& n, Builder& b, int sign) {
  Value* x = n.in(0);
  const double value = sign * n.f("other") * n.f("alpha");
  if (!n.any_quantised()) {
    return b.emit(tosa::add, {b.cast(x, n.out().dtype), number(n, b, value)});
  }
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  if (value == 0) return requantise(b, x, n.out());
  const DType dtype = x->dtype();
  const Quant* quant = b.module().quant(std::abs(value), 0, integer_min(dtype), integer_max(dtype));
  const std::vector<int64_t> ones(static_cast<size_t>(n.out().shape.rank()), 1);
  const int64_t code = value > 0 ? 1 : -1;
  const TensorType type{dtype, Shape(ones), quant};
  Value* y = &b.graph().add_constant(b.module().constant_ints(dtype, type.shape, {&code, 1}), type);
  return b.call("aten.add.Tensor", {x, y}, n.out());
}

/// ExecuTorch's kernel does not add a float to integers.
Lowered lower_add_scalar(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower || n.in(0)->dtype() == n.out().dtype) {
    return lower_sum_scalar(n, b, 1);
  }
  return b.call("aten.add.Scalar", {call_to(b, n.in(0), n.out().dtype)}, n.out(),
                {{"other", n.arg("other")}, {"alpha", n.arg("alpha")}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(add) = {
    .schemas = schemas(
        "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    .doc = "Sum with broadcast: ADD; quantised operands are brought to a common int32 scale.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(1), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_sum(n, b, tosa::add); },
    .cpu =
        "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(add_scalar) = {
    .schemas =
        schemas("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                "aten::add_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    .doc = "Sum with a number: ADD.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(out(0))},
    .lower = lower_add_scalar,
    .cpu =
        "aten::add.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> "
        "Tensor(a!)",
    .cpu_takes = [](const Call& n) { return n.in(0)->dtype() == n.out().dtype; },
};

TOSAIC_ATEN_OP(sub) = {
    .schemas = schemas(
        "aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        "aten::sub_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"),
    .doc = "Difference with broadcast: SUB, quantised like add.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(1), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_sum(n, b, tosa::sub); },
    .cpu =
        "aten::sub.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(sub_scalar) = {
    .schemas =
        schemas("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
                "aten::sub_.Scalar(Tensor(a!) self, Scalar other, Scalar alpha=1) -> Tensor(a!)"),
    .doc = "Difference with a number: ADD of its negative.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_sum_scalar(n, b, -1); },
    .cpu =
        "aten::sub.Scalar_out(Tensor self, Scalar other, Scalar alpha=1, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
