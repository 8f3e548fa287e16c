// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"

// Pooling over the last two axes.
//
// TOSA's windows tile the padded input exactly and its averages count only elements of the input.
// The program states the output's size, from which what is read of each axis follows: PyTorch drops
// the rest of a division (a SLICE, or less padding), and with ceil_mode windows hang over the end.

namespace tosaic::aten {
namespace {

/// One pooled axis.
struct Window {
  int64_t kernel = 1;
  int64_t stride = 1;
  int64_t pad = 0;        ///< before, and in PyTorch's terms also after
  int64_t pad_after = 0;  ///< so that the windows end where the padded input does
};

struct Geometry {
  std::array<Window, 2> axes;
  bool padded() const {
    return std::ranges::any_of(axes, [](const Window& w) { return w.pad > 0 || w.pad_after > 0; });
  }
  std::array<int32_t, 2> kernel() const {
    return {static_cast<int32_t>(axes[0].kernel), static_cast<int32_t>(axes[1].kernel)};
  }
  std::array<int32_t, 2> stride() const {
    return {static_cast<int32_t>(axes[0].stride), static_cast<int32_t>(axes[1].stride)};
  }
  std::array<int32_t, 4> pad() const {
    return {static_cast<int32_t>(axes[0].pad), static_cast<int32_t>(axes[0].pad_after),
            static_cast<int32_t>(axes[1].pad), static_cast<int32_t>(axes[1].pad_after)};
  }
};

/// Reads the arguments of a pooling operator; `x` is the operand, [C,H,W] or [N,C,H,W].
std::optional<Reject> read_geometry(const Call& n, const Shape& x, Geometry& g) {
  const int rank = x.rank();
  if (rank != 3 && rank != 4) {
    return reject(Code::kRejectShape, "{}: the input has {} axes; 3 and 4 are taken",
                  n.schema().full_name, rank);
  }
  const auto kernel = n.ints("kernel_size", 2);
  auto stride = n.ints("stride", 2);
  if (stride.empty()) stride = kernel;
  const auto pad = n.ints("padding", 2);
  if (kernel.size() != 2 || stride.size() != 2 || pad.size() != 2 || n.out().shape.rank() != rank) {
    return reject(Code::kRejectAttribute, "{}: kernel, stride and padding must have two sizes",
                  n.schema().full_name);
  }
  for (size_t i = 0; i < 2; ++i) {
    Window& w = g.axes[i];
    const int axis = rank - 2 + static_cast<int>(i);
    w = {kernel[i], stride[i], pad[i]};
    w.pad_after = (n.out().shape[axis] - 1) * w.stride + w.kernel - x[axis] - w.pad;
    if (n.out().shape[axis] == 1) w.stride = 1;  // no step is made; NPUs limit strides
  }
  return std::nullopt;
}

/// NHWC, without the elements after the last window.
Value* pooled_input(Builder& b, Value* x, Geometry& g) {
  if (x->shape().rank() == 3) x = b.expand_rank(x, 4);
  x = b.layout_transpose(x, kToNhwc);
  const std::vector<int64_t> start(4, 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  for (size_t i = 0; i < 2; ++i) {
    int64_t& pad_after = g.axes[i].pad_after;
    size[1 + i] += std::min<int64_t>(pad_after, 0);
    pad_after = std::max<int64_t>(pad_after, 0);
  }
  return b.slice(x, start, size);
}

/// Back to the result's layout, rank and parameters.
Lowered pooled_result(const Call& n, Builder& b, Value* y) {
  return b.reshape(b.layout_transpose(y, kToNchw), n.out().shape);
}

/// Turns padding into elements of value 0: all of it, or only PyTorch's own, which leaves what
/// windows of ceil_mode hang over.
Value* pad_with_zeros(Builder& b, Value* x, int64_t zero_point, Geometry& g, bool all) {
  std::vector<int64_t> padding(8, 0);
  bool any = false;
  for (size_t i = 0; i < 2; ++i) {
    Window& w = g.axes[i];
    const int64_t after = all ? w.pad_after : std::min(w.pad, w.pad_after);
    padding[2 + 2 * i] = w.pad;
    padding[3 + 2 * i] = after;
    any = any || w.pad > 0 || after > 0;
    w.pad = 0;
    w.pad_after -= after;
  }
  if (!any) return x;
  return b.emit(tosa::pad, {x, b.shape_value(padding), b.zero_point(x->dtype(), zero_point)});
}

/// Sum of each window divided by `divisor`: a depthwise convolution with a kernel of ones, whose
/// accumulator is scaled once.
Value* scaled_sum(const Call& n, Builder& b, Value* x, const TensorType& in, const Geometry& g,
                  double divisor) {
  const bool quantised = in.quant != nullptr;
  const auto [kh, kw] = g.kernel();
  const Shape shape{kh, kw, x->shape()[3], 1};
  const auto count = static_cast<size_t>(shape.num_elements());
  Value* ones = quantised
                    ? b.constant_ints(DType::kI8, shape, std::vector<int64_t>(count, 1))
                    : b.constant_floats(in.dtype, shape, std::vector<double>(count, 1 / divisor));
  const DType acc_type = accumulator_type(in.dtype);
  Value* bias = quantised ? b.scalar_int(acc_type, 0) : b.scalar_float(in.dtype, 0);
  Value* acc =
      b.emit(tosa::depthwise_conv2d,
             {x, ones, bias, b.zero_point(in.dtype, quantised ? in.quant->zero_point() : 0),
              b.zero_point(ones->dtype(), 0)},
             tosa::Conv2dAttrs{.pad = g.pad(), .stride = g.stride(), .acc_type = acc_type});
  if (!quantised) return acc;
  const Quant& to = *n.out().quant;
  return clamp_to_range(
      b,
      b.rescale(acc, n.out().dtype, in.quant->scale() / (divisor * to.scale()), 0, to.zero_point()),
      n.out());
}

Lowered lower_avg_pool2d(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (n.any_quantised()) {
    if (auto r = check_activation(n, x->type(), "the input")) return *r;
    if (auto r = check_activation(n, n.out(), "the output")) return *r;
  }
  const TensorType in = x->type();
  Geometry g;
  if (auto r = read_geometry(n, x->shape(), g)) return *r;
  Value* y = pooled_input(b, x, g);
  const int64_t zero_point = in.quant == nullptr ? 0 : in.quant->zero_point();
  const bool has_divisor = n.has("divisor_override");
  if (has_divisor || (n.b("count_include_pad") && g.padded())) {
    y = pad_with_zeros(b, y, zero_point, g, has_divisor);
  }
  if (has_divisor) {
    return pooled_result(n, b, scaled_sum(n, b, y, in, g, n.f("divisor_override")));
  }
  Value* zp = b.zero_point(in.dtype, zero_point);
  const DType acc_type = in.quant == nullptr ? accumulator_type(in.dtype) : DType::kI32;
  y = b.emit(tosa::avg_pool2d, {y, zp, zp},
             tosa::AvgPool2dAttrs{g.kernel(), g.stride(), g.pad(), acc_type});
  if (in.quant != n.out().quant) {
    const Quant& to = *n.out().quant;
    y = b.rescale(y, n.out().dtype, in.quant->scale() / to.scale(), zero_point, to.zero_point());
    y = clamp_to_range(b, y, n.out());
  }
  return pooled_result(n, b, y);
}

Lowered lower_max_pool2d(const Call& n, Builder& b) {
  for (int64_t d : n.ints("dilation", 2)) {
    if (d != 1) {
      return reject(Code::kRejectAttribute, "{}: dilation {}; TOSA's windows have dilation 1",
                    n.schema().full_name, d);
    }
  }
  Value* x = with_parameters(n, b, n.in(0), n.out());
  Geometry g;
  if (auto r = read_geometry(n, n.in(0)->shape(), g)) return *r;
  Value* y = pooled_input(b, x, g);
  y = b.emit(tosa::max_pool2d, {y}, tosa::MaxPool2dAttrs{g.kernel(), g.stride(), g.pad()});
  return pooled_result(n, b, y);
}

/// ExecuTorch's kernel is that of the operator with two results.
Lowered lower_or_record_max_pool2d(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_max_pool2d(n, b);
  const TensorType results[] = {n.out(), {DType::kI64, n.out().shape, nullptr}};
  return b.call_all("aten.max_pool2d_with_indices.default", n.operands(), {}, results,
                    n.attrs())[0];
}

// ---- Adaptive pooling -------------------------------------------------------------------------

/// Elements [first, first + count) of an axis, by a call.
Value* call_slice(Builder& b, Value* x, int axis, int64_t first, int64_t count) {
  if (x->shape()[axis] == count) return x;
  TensorType type = x->type();
  type.shape[axis] = count;
  return b.call("aten.slice.Tensor", {x}, type,
                {{"dim", Attr::integer(axis)},
                 {"start", Attr::integer(first)},
                 {"end", Attr::integer(first + count)}});
}

Value* call_cat(Builder& b, std::span<Value* const> parts, int axis, const TensorType& type) {
  if (parts.size() == 1) return parts[0];
  const auto count = static_cast<int16_t>(parts.size());
  const NamedArg dim{"dim", Attr::integer(axis)};
  return b.call_all("aten.cat.default", parts, {&count, 1}, {&type, 1}, {&dim, 1})[0];
}

/// Average of the whole input, or of windows that tile it: [.., H, W] to `type`.
Value* call_avg_pool(Builder& b, Value* x, const TensorType& type, int64_t kh, int64_t kw) {
  const int64_t kernel[] = {kh, kw};
  return b.call("aten.avg_pool2d.default", {x}, type, {{"kernel_size", Attr::ints(kernel)}});
}

/// Windows of more parts than this are refused: each is a pooling of its own.
constexpr int64_t kMaxParts = 64;

/// PyTorch's window i of `count` over `size` elements.
int64_t window_begin(int64_t i, int64_t count, int64_t size) {
  return i * size / count;
}
int64_t window_end(int64_t i, int64_t count, int64_t size) {
  return ((i + 1) * size + count - 1) / count;
}

Lowered lower_adaptive_avg_pool2d(const Call& n, Builder& b) {
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  if (rank != 3 && rank != 4) {
    return reject(Code::kRejectShape, "{}: the input has {} axes; 3 and 4 are taken",
                  n.schema().full_name, rank);
  }
  const int h = rank - 2;
  const int w = rank - 1;
  const int64_t in_h = x->shape()[h];
  const int64_t in_w = x->shape()[w];
  const int64_t out_h = n.out().shape[h];
  const int64_t out_w = n.out().shape[w];
  if (out_h <= 0 || out_w <= 0) {
    return reject(Code::kRejectShape, "{}: the result has no elements", n.schema().full_name);
  }
  if (in_h % out_h == 0 && in_w % out_w == 0) {
    return call_avg_pool(b, x, n.out(), in_h / out_h, in_w / out_w);
  }
  if (out_h * out_w > kMaxParts) {
    return reject(Code::kRejectShape, "{}: {}x{} windows of unequal sizes; up to {} are taken",
                  n.schema().full_name, out_h, out_w, kMaxParts);
  }
  TensorType row_type = n.out();
  row_type.shape[h] = 1;
  TensorType part_type = row_type;
  part_type.shape[w] = 1;
  std::vector<Value*> rows;
  for (int64_t i = 0; i < out_h; ++i) {
    const int64_t top = window_begin(i, out_h, in_h);
    const int64_t height = window_end(i, out_h, in_h) - top;
    Value* strip = call_slice(b, x, h, top, height);
    std::vector<Value*> parts;
    for (int64_t j = 0; j < out_w; ++j) {
      const int64_t left = window_begin(j, out_w, in_w);
      const int64_t width = window_end(j, out_w, in_w) - left;
      parts.push_back(
          call_avg_pool(b, call_slice(b, strip, w, left, width), part_type, height, width));
    }
    rows.push_back(call_cat(b, parts, w, row_type));
  }
  return call_cat(b, rows, h, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(avg_pool2d) = {
    .schemas = schemas(
        "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
        "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
    .doc = "Averages of windows: AVG_POOL2D, after a PAD where padding counts.",
    .quant = {same({0, out(0)})},
    .lower = lower_avg_pool2d,
    .cpu =
        "aten::avg_pool2d.out(Tensor self, int[2] kernel_size, int[2] stride=[], "
        "int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, "
        "int? divisor_override=None, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(max_pool2d) = {
    .schemas = schemas(
        "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, "
        "int[2] dilation=1, bool ceil_mode=False) -> Tensor"),
    .doc = "Greatest elements of windows: MAX_POOL2D.",
    .quant = {same({0, out(0)})},
    .lower = lower_or_record_max_pool2d,
};

TOSAIC_ATEN_OP(max_pool2d_with_indices) = {
    .schemas = schemas(
        "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], "
        "int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    .doc = "Greatest elements of windows and where they were; on the CPU only.",
    .cpu =
        "aten::max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, "
        "int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, *, "
        "Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))",
};

TOSAIC_ATEN_OP(adaptive_avg_pool2d) = {
    .schemas = schemas("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor",
                       "aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor"),
    .doc =
        "Averages of as many windows as the output has elements: avg_pool2d where they tile the "
        "input, else one avg_pool2d per window.",
    .quant = {same({0, out(0)})},
    .lower = lower_adaptive_avg_pool2d,
    .cpu =
        "aten::_adaptive_avg_pool2d.out(Tensor self, SymInt[2] output_size, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};
