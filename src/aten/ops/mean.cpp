// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Sum and mean over axes: REDUCE_SUM and a factor. Over height and width of [N,C,H,W] a mean is an
// average pooling, which an NPU has in hardware.

namespace tosaic::aten {
namespace {

/// The sum, or the mean, of the elements along `axes`.
Lowered lower_sums(const Call& n, Builder& b, const std::vector<int64_t>& axes, bool average) {
  Value* x = n.in(0);
  const Quant* from = x->quant();
  double count = 1;
  for (int64_t axis : axes)
    count *= static_cast<double>(x->shape()[static_cast<int>(axis)]);
  // The sum has to stay within int32. A value's distance from its zero point has one bit more.
  const double most = x->dtype() == DType::kI8 ? 0x1p23 : 0x1p15;
  if (from != nullptr && count >= most) {
    return reject(Code::kRejectShape, "{}: {} elements; fewer than {} are taken",
                  n.schema().full_name, count, most);
  }
  Value* sum = from == nullptr ? x : b.rescale(x, DType::kI32, 1, from->zero_point(), 0);
  for (int64_t axis : axes) {
    sum = b.emit(tosa::reduce_sum, {sum}, tosa::AxisAttrs{static_cast<int32_t>(axis)});
  }
  sum = b.reshape(sum, n.out().shape);
  if (from == nullptr) {
    if (!average) return sum;
    return b.mul(sum, b.scalar_float(x->dtype(), 1 / count, n.out().shape.rank()));
  }
  const Quant& to = *n.out().quant;
  Value* y = b.rescale(sum, n.out().dtype, from->scale() / ((average ? count : 1) * to.scale()), 0,
                       to.zero_point());
  return clamp_to_range(b, y, n.out());
}

std::optional<Reject> check_types(const Call& n) {
  const Value* x = n.in(0);
  if (n.any_quantised()) {
    if (auto r = check_activation(n, x->type(), "the input")) return *r;
    if (auto r = check_activation(n, n.out(), "the output")) return *r;
  } else if (x->dtype() != n.out().dtype || !is_float(x->dtype())) {
    return reject(Code::kRejectDtype, "{}: {} to {}; float of one type is taken",
                  n.schema().full_name, dtype_name(x->dtype()), dtype_name(n.out().dtype));
  }
  return std::nullopt;
}

Lowered lower_sum(const Call& n, Builder& b) {
  if (auto r = check_types(n)) return *r;
  std::vector<int64_t> axes;
  if (auto r = read_axes(n, axes)) return *r;
  return lower_sums(n, b, axes, false);
}

Lowered lower_mean(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (auto r = check_types(n)) return *r;
  std::vector<int64_t> axes;
  if (auto r = read_axes(n, axes)) return *r;
  if (x->shape().rank() != 4 || axes != std::vector<int64_t>{2, 3}) {
    return lower_sums(n, b, axes, true);
  }
  const Shape& s = x->shape();
  const int64_t kernel[] = {s[2], s[3]};
  Value* y =
      b.call("aten.avg_pool2d.default", {x}, {n.out().dtype, {s[0], s[1], 1, 1}, n.out().quant},
             {{"kernel_size", Attr::ints(kernel)}});
  return b.reshape(y, n.out().shape);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(sum) = {
    .schemas = schemas("aten::sum.dim_IntList(Tensor self, int[1]? dim, bool keepdim=False, *, "
                       "ScalarType? dtype=None) -> Tensor",
                       "aten::sum(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    .doc = "Sum over axes: REDUCE_SUM, quantised in int32.",
    .quant = {own(0), own(out(0))},
    .lower = lower_sum,
    .cpu =
        "aten::sum.IntList_out(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(mean) = {
    .schemas = schemas("aten::mean.dim(Tensor self, int[1]? dim, bool keepdim=False, *, "
                       "ScalarType? dtype=None) -> Tensor",
                       "aten::mean(Tensor self, *, ScalarType? dtype=None) -> Tensor"),
    .doc = "Mean over axes: REDUCE_SUM and a factor; over height and width AVG_POOL2D.",
    .quant = {same({0, out(0)})},
    .lower = lower_mean,
    .cpu =
        "aten::mean.out(Tensor self, int[1]? dim=None, bool keepdim=False, *, "
        "ScalarType? dtype=None, Tensor(a!) out) -> Tensor(a!)",
};
