// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/calls.h"

// Sums of the elements so far along an axis: a product with a triangle of ones, which sums without
// rounding in between when quantised. Products: each step doubles how many are in it.

namespace tosaic::aten {
namespace {

/// The triangle is a constant of so many times so many numbers.
constexpr int64_t kMaxSize = 1024;

/// Ones from the diagonal up, of the dtype of `x`. Quantised 1 has a large code, since products of
/// 16-bit values may lose bits that the largest ones can spare.
Value* triangle(Builder& b, const Value* x, int64_t size) {
  std::vector<int64_t> ones;
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t j = 0; j < size; ++j)
      ones.push_back(j >= i ? 1 : 0);
  }
  const DType dtype = x->dtype();
  Module& module = b.module();
  const Shape shape{1, size, size};
  if (x->quant() == nullptr) {
    const std::vector<double> reals(ones.begin(), ones.end());
    return &b.graph().add_constant(module.constant_floats(dtype, shape, reals));
  }
  const int64_t one = (integer_max(dtype) + 1) / 2;
  const double scale = 1 / static_cast<double>(one);
  for (int64_t& v : ones)
    v *= one;
  const Quant* quant = module.quant(scale, 0, integer_min(dtype), integer_max(dtype));
  return &b.graph().add_constant(module.constant_ints(dtype, shape, ones), {dtype, shape, quant});
}

Lowered lower_cumsum(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const Shape s = x->shape();
  const int rank = s.rank();
  int64_t axis = n.i("dim");
  const bool has_type = n.any_quantised() || (is_float(x->dtype()) && n.out().dtype == x->dtype());
  if (!has_type) {
    return reject(Code::kRejectDtype, "{}: {} to {}; floats of one type are taken",
                  n.schema().full_name, dtype_name(x->dtype()), dtype_name(n.out().dtype));
  }
  if (n.any_quantised()) {
    if (auto r = check_activation(n, x->type(), "the input")) return *r;
    if (auto r = check_activation(n, n.out(), "the output")) return *r;
  }
  if (rank == 0 || !normalise_axis(axis, rank) || s.num_elements() == 0) {
    return reject(Code::kRejectShape, "{}: {} along axis {}", n.schema().full_name, to_string(s),
                  axis);
  }
  const int64_t size = s[static_cast<int>(axis)];
  if (size > kMaxSize) {
    return reject(Code::kRejectShape, "{}: {} elements along the axis; up to {} are taken",
                  n.schema().full_name, size, kMaxSize);
  }
  // [outer, size, inner] -> [1, outer * inner, size], times the triangle, and back.
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i)
    outer *= s[i];
  const int64_t inner = s.num_elements() / (outer * size);
  constexpr int64_t kSwapLast[] = {0, 2, 1};
  x = call_view(b, x, Shape{outer, size, inner});
  if (inner > 1) x = call_permute(b, x, kSwapLast);
  x = call_view(b, x, Shape{1, outer * inner, size});
  Value* y = b.call("aten.bmm.default", {x, triangle(b, x, size)},
                    {n.out().dtype, x->shape(), n.out().quant});
  if (inner > 1) y = call_permute(b, call_view(b, y, Shape{outer, inner, size}), kSwapLast);
  return call_view(b, y, n.out());
}

/// Each step multiplies by the products of twice as many elements before: log2(size) products.
Lowered lower_cumprod(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  int64_t dim = n.i("dim");
  if (x->dtype() != n.out().dtype) {
    return reject(Code::kRejectDtype, "{}: {} to {}", n.schema().full_name, dtype_name(x->dtype()),
                  dtype_name(n.out().dtype));
  }
  if (rank == 0 || !normalise_axis(dim, rank)) return call_view(b, x, n.out());
  const auto axis = static_cast<int>(dim);
  const int64_t size = x->shape()[axis];
  for (int64_t step = 1; step < size; step *= 2) {
    Value* first = call_slice(b, x, axis, 0, size - step);
    Value* product = b.call("aten.mul.Tensor", {call_slice(b, x, axis, step, size - step), first},
                            first->type());
    Value* parts[] = {call_slice(b, x, axis, 0, step), product};
    x = call_cat(b, parts, axis, n.out());
  }
  return x;
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(cumsum) = {
    .schemas =
        schemas("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
                "aten::cumsum_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)"),
    .doc = "Sums of the elements so far along an axis: bmm with a triangle of ones.",
    .quant = {own(0), own(out(0))},
    .lower = lower_cumsum,
    .cpu =
        "aten::cumsum.out(Tensor self, int dim, *, ScalarType? dtype=None, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(cumprod) = {
    .schemas = schemas(
        "aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
        "aten::cumprod_(Tensor(a!) self, int dim, *, ScalarType? dtype=None) -> Tensor(a!)"),
    .doc = "Products of the elements so far along an axis: slice, mul and cat.",
    .traits = Trait::kAlias,
    .lower = lower_cumprod,
};
