// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"

// Pooling over two axes. AVG_POOL2D leaves padding out of sum and count, which is PyTorch's
// count_include_pad=False; with True the padding is made real by PAD. What ceil_mode adds beyond the
// padding is never counted, so it stays padding of the pool.

namespace tosaic::aten {
namespace {

struct Pool {
  std::vector<int64_t> kernel;
  std::vector<int64_t> stride;
  std::vector<int64_t> pad;        // top, bottom, left, right
  std::vector<int64_t> ceil_pad;   // added after by ceil_mode: bottom, right
};

Pool pool_of(const Call& n, const Shape& in) {
  Pool p{n.ints("kernel_size", 2), n.ints("stride", 2), {}, {0, 0}};
  if (p.stride.empty()) p.stride = p.kernel;
  const auto pad = n.ints("padding", 2);
  p.pad = {pad[0], pad[0], pad[1], pad[1]};
  if (!n.b("ceil_mode")) return p;
  const int rank = in.rank();
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = in[rank - 2 + static_cast<int>(axis)];
    const int64_t out = n.out().shape[rank - 2 + static_cast<int>(axis)];
    const int64_t needed = (out - 1) * p.stride[axis] + p.kernel[axis];
    p.ceil_pad[axis] = std::max<int64_t>(0, needed - size - 2 * pad[axis]);
  }
  return p;
}

/// NHWC with a batch axis.
Value* to_nhwc(Builder& b, Value* x) {
  const Shape& s = x->shape();
  if (s.rank() == 3) x = b.reshape(x, {1, s[0], s[1], s[2]});
  return b.layout_transpose(x, kToNhwc);
}

Value* from_nhwc(Builder& b, Value* y, const Call& n) {
  return b.reshape(b.layout_transpose(y, kToNchw), n.out().shape);
}

std::optional<Reject> check(const Call& n) {
  const Value* x = n.in(0);
  if (x->shape().rank() != 3 && x->shape().rank() != 4) {
    return reject(Code::kRejectShape, "{}: the input {} must have rank 3 or 4",
                  n.schema().full_name, to_string(x->shape()));
  }
  if (!n.any_quantised()) return std::nullopt;
  if (auto r = check_activation(n, x->type(), "the input")) return r;
  return check_activation(n, n.out(), "the output");
}

/// The padding as real elements of value zero.
Value* pad_for_real(Builder& b, Value* x, std::vector<int64_t>& pad, int64_t zero_point) {
  if (std::ranges::all_of(pad, [](int64_t p) { return p == 0; })) return x;
  const int64_t sizes[] = {0, 0, pad[0], pad[1], pad[2], pad[3], 0, 0};
  pad.assign(4, 0);
  return b.emit(tosa::pad, {x, b.shape_value(sizes), b.zero_point(x->dtype(), zero_point)});
}

/// RESCALE or MUL by a factor, for divisor_override, and to the output's parameters.
Value* scale_result(Builder& b, Value* y, const Call& n, double factor) {
  const Quant* in = n.in(0)->quant();
  if (in == nullptr) {
    if (factor == 1) return y;
    return b.mul(y, b.scalar_float(y->dtype(), factor, y->shape().rank()));
  }
  const Quant& out = *n.out().quant;
  const double scale = in->scale() == out.scale() ? factor : in->scale() * factor / out.scale();
  y = b.rescale(y, n.out().dtype, scale, in->zero_point(), out.zero_point());
  return clamp_to_range(b, y, n.out());
}

Lowered lower_avg_pool(const Call& n, Builder& b, Pool p, bool include_pad, int64_t divisor) {
  Value* x = to_nhwc(b, n.in(0));
  const Quant* q = n.in(0)->quant();
  const int64_t zp = q == nullptr ? 0 : q->zero_point();
  if (include_pad || divisor != 0) x = pad_for_real(b, x, p.pad, zp);
  const int64_t area = p.kernel[0] * p.kernel[1];
  if (divisor != 0 && (p.ceil_pad[0] != 0 || p.ceil_pad[1] != 0)) {
    return reject(Code::kRejectAttribute, "{}: divisor_override together with ceil_mode, where "
                  "windows have different sizes", n.schema().full_name);
  }
  p.pad[1] += p.ceil_pad[0];
  p.pad[3] += p.ceil_pad[1];
  x = fit_windows(b, x, {p.kernel[0], p.kernel[1]}, p.stride, p.pad);
  const tosa::AvgPool2dAttrs attrs{
      .kernel = to_int32<2>(p.kernel),
      .stride = to_int32<2>(p.stride),
      .pad = to_int32<4>(p.pad),
      .acc_type = q == nullptr ? DType::kF32 : DType::kI32};
  Value* zero = b.zero_point(x->dtype(), zp);
  Value* y = b.emit(tosa::avg_pool2d, {x, zero, zero}, attrs);
  const double factor =
      divisor == 0 ? 1 : static_cast<double>(area) / static_cast<double>(divisor);
  return from_nhwc(b, scale_result(b, y, n, factor), n);
}

Lowered lower_avg_pool2d(const Call& n, Builder& b) {
  if (auto r = check(n)) return *r;
  const int64_t divisor = n.has("divisor_override") ? n.i("divisor_override") : 0;
  const Pool p = pool_of(n, n.in(0)->shape());
  return lower_avg_pool(n, b, p, n.b("count_include_pad"), divisor);
}

Lowered lower_adaptive_avg_pool2d(const Call& n, Builder& b) {
  if (auto r = check(n)) return *r;
  const Shape& in = n.in(0)->shape();
  const int rank = in.rank();
  Pool p{{}, {}, {0, 0, 0, 0}, {0, 0}};
  for (int axis = rank - 2; axis < rank; ++axis) {
    const int64_t out = n.out().shape[axis];
    if (out == 0 || in[axis] % out != 0) {
      return reject(Code::kRejectShape, "{}: the output size {} does not divide the input size {}",
                    n.schema().full_name, out, in[axis]);
    }
    p.kernel.push_back(in[axis] / out);
  }
  p.stride = p.kernel;
  return lower_avg_pool(n, b, p, true, 0);
}

Lowered lower_max_pool2d(const Call& n, Builder& b) {
  if (auto r = check(n)) return *r;
  for (int64_t d : n.ints("dilation", 2)) {
    if (d != 1) {
      return reject(Code::kRejectAttribute, "{}: dilation {}; MAX_POOL2D has none",
                    n.schema().full_name, d);
    }
  }
  Value* x = to_nhwc(b, n.in(0));
  Pool p = pool_of(n, n.in(0)->shape());
  p.pad[1] += p.ceil_pad[0];
  p.pad[3] += p.ceil_pad[1];
  x = fit_windows(b, x, {p.kernel[0], p.kernel[1]}, p.stride, p.pad);
  const tosa::MaxPool2dAttrs attrs{.kernel = to_int32<2>(p.kernel),
                                   .stride = to_int32<2>(p.stride),
                                   .pad = to_int32<4>(p.pad)};
  Value* y = b.emit(tosa::max_pool2d, {x}, attrs);
  return from_nhwc(b, scale_result(b, y, n, 1), n);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(avg_pool2d) = {
    .schemas = schemas(
        "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
        "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
    .doc = "Mean over windows: AVG_POOL2D, with PAD where padding counts.",
    .quant = {same({0, out(0)})},
    .lower = lower_avg_pool2d,
    .cpu = "aten::avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride=[], "
           "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
           "int? divisor_override=None, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(adaptive_avg_pool2d) = {
    .schemas = schemas("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
                       "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"),
    .doc = "Mean over windows that give the wanted output size, where it divides the input's.",
    .quant = {same({0, out(0)})},
    .lower = lower_adaptive_avg_pool2d,
    .cpu = "aten::_adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, Tensor(a!) out) "
           "-> Tensor(a!)",
};

TOSAIC_ATEN_OP(max_pool2d) = {
    .schemas = schemas(
        "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
        "int[2] dilation=1, bool ceil_mode=False) -> Tensor"),
    .doc = "Maximum over windows: MAX_POOL2D.",
    .quant = {same({0, out(0)})},
    .lower = lower_max_pool2d,
};
