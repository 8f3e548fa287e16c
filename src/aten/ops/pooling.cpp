// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <vector>

#include "aten/arithmetic.h"
#include "aten/calls.h"

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
  if (x->shape().rank() != 4) return x;  // which could not be made
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

/// One of the pooling operations, with what its operands are besides the image.
struct Pool {
  const OpDef& op;
  std::vector<Value*> others{};
  DType acc_type = DType::kUnknown;  ///< of AVG_POOL2D

  AttrList attrs(Builder& b, const Geometry& g) const {
    Arena& arena = b.module().arena();
    if (&op == &tosa::max_pool2d) {
      return tosa::write_attrs(tosa::MaxPool2dAttrs{g.kernel(), g.stride(), g.pad()}, arena);
    }
    return tosa::write_attrs(tosa::AvgPool2dAttrs{g.kernel(), g.stride(), g.pad(), acc_type},
                             arena);
  }
  std::vector<Value*> operands(Value* x) const {
    std::vector<Value*> all = {x};
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }
  bool whole(Builder& b, Value* x, const Geometry& g) const {
    return b.whole(op, operands(x), attrs(b, g));
  }
  Value* emit(Builder& b, Value* x, const Geometry& g) const {
    return b.emit(op, operands(x), attrs(b, g));
  }
};

/// Windows that lie side by side and cover the image.
bool windows_tile(const Shape& x, const Geometry& g) {
  for (size_t i = 0; i < 2; ++i) {
    const Window& w = g.axes[i];
    const int64_t size = x[1 + static_cast<int>(i)];
    if (size != w.kernel && (w.stride != w.kernel || size % w.kernel != 0)) return false;
  }
  return !g.padded();
}

/// [N,H,W,C] -> [1,KH,KW,windows*C]: the windows of all images as channels of one that is as large
/// as a window. A pooling of it makes no step, and has one image.
Value* windows_as_channels(Builder& b, Value* x, const Geometry& g) {
  const Shape s = x->shape();
  const auto [kh, kw] = g.kernel();
  const int64_t rows = s[0] * s[1] / kh;
  const int64_t windows = rows * (s[2] / kw);
  constexpr int64_t kSwapFirst[] = {1, 0, 2};
  constexpr int64_t kSwapMiddle[] = {0, 2, 1, 3};
  x = b.transpose(b.reshape(x, {rows, kh, s[2] * s[3]}), kSwapFirst);
  x = b.transpose(b.reshape(x, {kh, windows, kw, s[3]}), kSwapMiddle);
  return b.reshape(x, {1, kh, kw, windows * s[3]});
}

/// The greatest divisor of a stride that is no more than `most`.
int64_t divisor(int64_t stride, int64_t most) {
  while (stride % most != 0)
    --most;
  return most;
}

/// A pooling of an NHWC image. Where the target does not make it in one: windows as channels, or
/// smaller strides of whose results some are dropped.
Value* pool(Builder& b, const Pool& p, Value* x, const Geometry& g) {
  if (p.whole(b, x, g)) return p.emit(b, x, g);
  const Shape s = x->shape();
  if (s.rank() == 4 && windows_tile(s, g)) {
    Geometry whole = g;
    for (Window& w : whole.axes)
      w.stride = 1;
    if (Value* all = windows_as_channels(b, x, g); p.whole(b, all, whole)) {
      const auto [kh, kw] = g.kernel();
      return b.reshape(p.emit(b, all, whole), {s[0], s[1] / kh, s[2] / kw, s[3]});
    }
  }
  for (int64_t most = 3; most >= 1; --most) {
    Geometry smaller = g;
    for (Window& w : smaller.axes)
      w.stride = divisor(w.stride, most);
    if (!p.whole(b, x, smaller)) continue;
    Value* y = p.emit(b, x, smaller);
    for (int i = 0; i < 2; ++i) {
      const int64_t step =
          g.axes[static_cast<size_t>(i)].stride / smaller.axes[static_cast<size_t>(i)].stride;
      y = call_steps(b, y, 1 + i, 0, (y->shape()[1 + i] - 1) / step + 1, step);
    }
    return y;
  }
  return p.emit(b, x, g);  // in pieces, or with the reason
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

/// The operands of a DEPTHWISE_CONV2D that sums windows, and its attributes.
struct WindowSum {
  std::vector<Value*> operands;
  AttrList attrs;
};

WindowSum window_sum(Builder& b, Value* x, const TensorType& in, const Geometry& g,
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
  return {{x, ones, bias, b.zero_point(in.dtype, quantised ? in.quant->zero_point() : 0),
           b.zero_point(ones->dtype(), 0)},
          tosa::write_attrs(
              tosa::Conv2dAttrs{.pad = g.pad(), .stride = g.stride(), .acc_type = acc_type},
              b.module().arena())};
}

/// Sum of each window divided by `divisor`: a depthwise convolution with a kernel of ones, whose
/// accumulator is scaled once. nullptr when the target does not take it.
Value* scaled_sum(const Call& n, Builder& b, Value* x, const TensorType& in, Geometry g,
                  double divisor) {
  Shape result;
  WindowSum sum = window_sum(b, x, in, g, divisor);
  if (!b.legal(tosa::depthwise_conv2d, sum.operands, sum.attrs)) {
    if (x->shape().rank() != 4 || !windows_tile(x->shape(), g)) return nullptr;
    const Shape s = x->shape();
    result = {s[0], s[1] / g.axes[0].kernel, s[2] / g.axes[1].kernel, s[3]};
    x = windows_as_channels(b, x, g);
    for (Window& w : g.axes)
      w.stride = 1;
    sum = window_sum(b, x, in, g, divisor);
    if (!b.legal(tosa::depthwise_conv2d, sum.operands, sum.attrs)) return nullptr;
  }
  Value* acc = b.emit(tosa::depthwise_conv2d, sum.operands, sum.attrs);
  if (in.quant != nullptr) {
    const Quant& to = *n.out().quant;
    acc = b.rescale(acc, n.out().dtype, in.quant->scale() / (divisor * to.scale()), 0,
                    to.zero_point());
    acc = clamp_to_range(b, acc, n.out());
  }
  return result.rank() == 0 ? acc : b.reshape(acc, result);
}

/// Neighbouring windows along an axis that hold equally many elements.
struct Run {
  int64_t first = 0;
  int64_t count = 0;
  int64_t elements = 0;
};

std::vector<Run> runs_of(const Window& w, int64_t size) {
  std::vector<Run> runs;
  const int64_t windows = (w.pad + size + w.pad_after - w.kernel) / w.stride + 1;
  for (int64_t i = 0; i < windows; ++i) {
    const int64_t first = i * w.stride - w.pad;
    const int64_t elements = std::min(first + w.kernel, size) - std::max<int64_t>(first, 0);
    if (runs.empty() || runs.back().elements != elements) runs.push_back({i, 0, elements});
    ++runs.back().count;
  }
  return runs;
}

/// Averages of what windows hold without padding, each rounded once: the sums divided by each
/// number of elements that there is, of which every region takes its own. nullptr: too many
/// regions.
Value* averages_by_region(const Call& n, Builder& b, Value* x, const TensorType& in,
                          const Geometry& g) {
  constexpr size_t kMaxRegions = 9;
  constexpr int64_t kLongest = 65536;  // of an axis that an NPU pools
  const Shape s = x->shape();
  if (s.rank() != 4 || std::max(s[1], s[2]) > kLongest) return nullptr;
  const std::vector<Run> rows = runs_of(g.axes[0], s[1]);
  const std::vector<Run> columns = runs_of(g.axes[1], s[2]);
  if (rows.size() * columns.size() > kMaxRegions) return nullptr;
  std::map<int64_t, Value*> averages;
  std::vector<Value*> bands;
  for (const Run& row : rows) {
    std::vector<Value*> parts;
    for (const Run& column : columns) {
      const int64_t elements = row.elements * column.elements;
      if (elements <= 0) return nullptr;
      Value*& whole = averages[elements];
      if (whole == nullptr) whole = scaled_sum(n, b, x, in, g, static_cast<double>(elements));
      if (whole == nullptr) return nullptr;
      parts.push_back(b.slice(whole, std::array{int64_t{0}, row.first, column.first, int64_t{0}},
                              std::array{s[0], row.count, column.count, s[3]}));
    }
    bands.push_back(side_by_side(b, parts, 2));
  }
  return side_by_side(b, bands, 1);
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
  if (b.failure()) return *b.failure();
  const int64_t zero_point = in.quant == nullptr ? 0 : in.quant->zero_point();
  const bool has_divisor = n.has("divisor_override");
  if (has_divisor || (n.b("count_include_pad") && g.padded())) {
    y = pad_with_zeros(b, y, zero_point, g, has_divisor);
  }
  // AVG_POOL2D rounds to the input's steps: other ones are reached by one rounding of the sum, and
  // finer ones beside padding too.
  const bool rounds_twice = in.quant != n.out().quant && !g.padded();
  if (has_divisor || rounds_twice) {
    const auto [kh, kw] = g.kernel();
    const double count = has_divisor ? n.f("divisor_override") : static_cast<double>(kh) * kw;
    if (Value* sum = scaled_sum(n, b, y, in, g, count)) return pooled_result(n, b, sum);
    if (has_divisor) {
      return reject(Code::kRejectTargetOp, "{}: the target has no sum of {}x{} windows",
                    n.schema().full_name, kh, kw);
    }
  }
  const bool grows = in.quant != nullptr && in.quant->scale() > n.out().quant->scale();
  if (g.padded() && grows) {
    if (Value* averages = averages_by_region(n, b, y, in, g)) return pooled_result(n, b, averages);
  }
  Value* zp = b.zero_point(in.dtype, zero_point);
  const DType acc_type = in.quant == nullptr ? accumulator_type(in.dtype) : DType::kI32;
  y = pool(b, {tosa::avg_pool2d, {zp, zp}, acc_type}, y, g);
  if (in.quant != n.out().quant) {
    const Quant& to = *n.out().quant;
    y = b.rescale(y, n.out().dtype, in.quant->scale() / to.scale(), zero_point, to.zero_point());
    y = clamp_to_range(b, y, n.out());
  }
  return pooled_result(n, b, y);
}

/// Greatest of the elements that lie `dilation` apart along an axis, for each window: the maximum
/// of shifted copies, of which every stride-th counts.
Value* max_along(Builder& b, Value* x, int axis, const Window& w, int64_t dilation, int64_t count) {
  Value* greatest = nullptr;
  for (int64_t i = 0; i < w.kernel; ++i) {
    const int64_t extent = (count - 1) * w.stride + 1;
    Value* shifted = call_slice(b, x, axis, i * dilation, extent);
    if (greatest == nullptr) {
      greatest = shifted;
      continue;
    }
    greatest = b.call("aten.maximum.default", {greatest, shifted}, shifted->type());
  }
  return call_steps(b, greatest, axis, 0, count, w.stride);
}

/// Windows with dilation, which MAX_POOL2D lacks: rows first, then columns.
Lowered max_pool2d_with_dilation(const Call& n, Builder& b, Geometry g,
                                 const std::vector<int64_t>& dilation) {
  Value* x = n.in(0);
  const int rank = x->shape().rank();
  std::array<int64_t, 2> count{};
  std::vector<int64_t> pad;
  TensorType padded = x->type();
  for (size_t i = 0; i < 2; ++i) {
    const int axis = rank - 2 + static_cast<int>(i);
    count[i] = n.out().shape[axis];
    const int64_t end =
        (count[i] - 1) * g.axes[i].stride + dilation[i] * (g.axes[i].kernel - 1) + 1;
    const int64_t after = std::max<int64_t>(end - padded.shape[axis] - g.axes[i].pad, 0);
    pad.insert(pad.begin(), {g.axes[i].pad, after});
    padded.shape[axis] += g.axes[i].pad + after;
  }
  if (std::ranges::any_of(pad, [](int64_t p) { return p != 0; })) {
    x = b.call("aten.constant_pad_nd.default", {x}, padded,
               {{"pad", Attr::ints(pad)},
                {"value", Attr::real(-std::numeric_limits<double>::infinity())}});
  }
  x = max_along(b, x, rank - 2, g.axes[0], dilation[0], count[0]);
  return call_view(b, max_along(b, x, rank - 1, g.axes[1], dilation[1], count[1]), n.out());
}

Lowered lower_max_pool2d(const Call& n, Builder& b) {
  Geometry g;
  if (auto r = read_geometry(n, n.in(0)->shape(), g)) return *r;
  const std::vector<int64_t> dilation = n.ints("dilation", 2);
  if (dilation.size() != 2 || std::ranges::min(dilation) < 1) {
    return reject(Code::kRejectAttribute, "{}: the dilation must be two sizes above 0",
                  n.schema().full_name);
  }
  if (dilation[0] > 1 || dilation[1] > 1) return max_pool2d_with_dilation(n, b, g, dilation);
  Value* x = with_parameters(n, b, n.in(0), n.out());
  Value* y = pooled_input(b, x, g);
  y = pool(b, {tosa::max_pool2d}, y, g);
  return pooled_result(n, b, y);
}

/// ExecuTorch's kernel is that of the operator with two results.
Lowered lower_or_record_max_pool2d(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_max_pool2d(n, b);
  const TensorType results[] = {n.out(), {DType::kI64, n.out().shape, nullptr}};
  return b.call_all("aten.max_pool2d_with_indices.default", n.operands(), {}, results,
                    n.attrs())[0];
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
    .doc = "max_pool2d with where the elements were; with that on the CPU only.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_alias(n, b, "aten.max_pool2d.default"); },
    .cpu =
        "aten::max_pool2d_with_indices.out(Tensor self, int[2] kernel_size, "
        "int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False, *, "
        "Tensor(a!) out, Tensor(b!) indices) -> (Tensor(a!), Tensor(b!))",
};
