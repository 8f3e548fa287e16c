// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "aten/arithmetic.h"
#include "aten/calls.h"

// Two-dimensional convolution: one group becomes CONV2D, one group per input channel
// DEPTHWISE_CONV2D, anything between one CONV2D per group and a CONCAT.
//
// PyTorch has NCHW activations and OIHW weights, TOSA NHWC and OHWI: the weight is another view of
// the same bytes, and the activations get layout transposes that a later pass moves away.

namespace tosaic::aten {
namespace {

struct Geometry {
  std::vector<int64_t> stride;
  std::vector<int64_t> dilation;
  std::vector<int64_t> pad;  // top, bottom, left, right
  int64_t groups = 1;
};

/// "same" pads so that the output has the input's size; the odd element goes after (PyTorch).
std::vector<int64_t> pad_of(const Call& n, const Shape& weight, const Geometry& g) {
  const Attr padding = n.arg("padding");
  if (padding.kind() != Attr::Kind::kString) {
    const auto p = n.ints("padding", 2);
    return {p[0], p[0], p[1], p[1]};
  }
  if (padding.as_string() == "valid") return {0, 0, 0, 0};
  std::vector<int64_t> pad;
  for (int axis = 0; axis < 2; ++axis) {
    const int64_t total = g.dilation[static_cast<size_t>(axis)] * (weight[2 + axis] - 1);
    pad.push_back(total / 2);
    pad.push_back(total - total / 2);
  }
  return pad;
}

/// Windows that lie side by side, as a vision transformer's patches do.
bool has_patches(const Shape& x, const std::array<int64_t, 2>& kernel, const Geometry& g) {
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = x[1 + static_cast<int>(axis)];
    const bool is_row = g.stride[axis] == kernel[axis] && size % kernel[axis] == 0;
    if ((!is_row && size != kernel[axis]) || g.dilation[axis] != 1) return false;
  }
  return std::ranges::all_of(g.pad, [](int64_t p) { return p == 0; });
}

/// Each patch of [N,H,W,C] as the channels of one pixel, in the order of an OHWI weight.
Value* patches(Builder& b, Value* x, const std::array<int64_t, 2>& kernel) {
  const Shape s = x->shape();
  const int64_t rows = s[1] / kernel[0];
  const int64_t columns = s[2] / kernel[1];
  const int64_t width = kernel[1] * s[3];
  constexpr int64_t kSwapMiddle[] = {0, 2, 1, 3};
  x = b.transpose(b.reshape(x, {s[0] * rows, kernel[0], columns, width}), kSwapMiddle);
  return b.reshape(x, {s[0], rows, columns, kernel[0] * width});
}

/// A convolution over rows, of one row each, as most of those over waveforms are.
bool is_row_convolution(const Shape& w, const Geometry& g) {
  return w[1] == 1 && g.stride[0] == 1 && g.stride[1] > 1 && g.dilation[1] == 1;
}

/// [O,1,KW,C] as [O,1,width,C], zeros behind.
Value* widened_kernel(Builder& b, Value* w, int64_t width) {
  const Shape& s = w->shape();
  if (s[2] == width) return w;
  const std::span<const std::byte> from = b.module().materialised(*w->constant()).plain_bytes();
  const size_t row = from.size() / static_cast<size_t>(s[0]);
  const size_t wide_row = row / static_cast<size_t>(s[2]) * static_cast<size_t>(width);
  std::vector<std::byte> bytes(wide_row * static_cast<size_t>(s[0]));
  for (size_t o = 0; o < static_cast<size_t>(s[0]); ++o)
    std::ranges::copy(from.subspan(o * row, row),
                      bytes.begin() + static_cast<int64_t>(o * wide_row));
  return b.constant(b.module().constant(w->dtype(), {s[0], 1, width, s[3]}, bytes));
}

/// The stride of a row convolution as channels: [N,H,W,C] -> [N,H,W/s,s*C] and a kernel of
/// [O,1,KW/s,s*C], both filled up with zeros, that makes steps of 1. Gives the same sums.
void fold_stride(Builder& b, Value*& x, Value*& w, int64_t input_zp, Geometry& g) {
  const int64_t s = g.stride[1];
  const Shape xs = x->shape();
  const Shape ws = w->shape();
  const int64_t steps = (xs[2] + g.pad[2] + g.pad[3] - ws[2]) / s + 1;
  const int64_t taps = (ws[2] + s - 1) / s;
  const int64_t width = (steps + taps - 1) * s;
  const int64_t after = width - xs[2] - g.pad[2];
  const auto filled = [&b](Value* v, int64_t before, int64_t behind, int64_t number) {
    if (before == 0 && behind == 0) return v;
    const std::vector<int64_t> padding = {0, 0, 0, 0, before, behind, 0, 0};
    return b.emit(tosa::pad, {v, b.shape_value(padding), b.zero_point(v->dtype(), number)});
  };
  x = filled(x, g.pad[2], std::max<int64_t>(after, 0), input_zp);
  x = b.slice(x, std::vector<int64_t>(4, 0), std::vector<int64_t>{xs[0], xs[1], width, xs[3]});
  x = b.reshape(x, {xs[0], xs[1], width / s, s * xs[3]});
  w = b.reshape(widened_kernel(b, w, taps * s), {ws[0], 1, taps, s * ws[3]});
  g.stride[1] = 1;
  g.pad[2] = g.pad[3] = 0;
}

/// CONV2D; where the target does not make its strides itself and windows lie side by side, one with
/// a 1x1 kernel over patches, and where there is one row, one over folded rows.
Value* convolve_dense(Builder& b, std::array<Value*, 5> operands, int64_t input_zp, Geometry g,
                      const tosa::Conv2dAttrs& attrs) {
  const AttrList list = tosa::write_attrs(attrs, b.module().arena());
  Value*& x = operands[0];
  Value*& w = operands[1];
  const Shape ws = w->shape();
  const std::array<int64_t, 2> kernel = {ws[1], ws[2]};
  if (x->shape().rank() == 4 && has_patches(x->shape(), kernel, g) &&
      !b.whole(tosa::conv2d, operands, list)) {
    x = patches(b, x, kernel);
    w = b.reshape(w, {ws[0], 1, 1, ws[1] * ws[2] * ws[3]});
    return b.emit(
        tosa::conv2d, operands,
        tosa::write_attrs(tosa::Conv2dAttrs{.acc_type = attrs.acc_type}, b.module().arena()));
  }
  if (x->shape().rank() == 4 && w->is_constant() && is_row_convolution(ws, g) &&
      !b.whole(tosa::conv2d, operands, list)) {
    fold_stride(b, x, w, input_zp, g);
    tosa::Conv2dAttrs folded = attrs;
    folded.pad = to_int32<4>(g.pad);
    folded.stride = {1, 1};
    return b.emit(tosa::conv2d, operands, tosa::write_attrs(folded, b.module().arena()));
  }
  return b.emit(tosa::conv2d, operands, list);
}

/// Where each window lies in the padding before, so that none of the input would be left when it is
/// cut to what windows read: the padding as elements.
Value* write_padding(Builder& b, Value* x, int64_t input_zp, std::array<int64_t, 2> window,
                     Geometry& g) {
  if (x->shape().rank() != 4) return x;
  std::vector<int64_t> padding(8, 0);
  for (size_t i = 0; i < 2; ++i) {
    const int64_t size = x->shape()[1 + static_cast<int>(i)];
    const int64_t span = size + g.pad[2 * i] + g.pad[2 * i + 1] - window[i];
    if (span < 0 || span % g.stride[i] - g.pad[2 * i + 1] < size) continue;
    padding[2 + 2 * i] = std::exchange(g.pad[2 * i], 0);
  }
  if (std::ranges::all_of(padding, [](int64_t p) { return p == 0; })) return x;
  return b.emit(tosa::pad, {x, b.shape_value(padding), b.zero_point(x->dtype(), input_zp)});
}

/// Accumulator of one convolution. `x` is NHWC, `w` OIHW.
Value* convolve(Builder& b, Value* x, int64_t input_zp, Value* w, Value* bias, Geometry g,
                bool depthwise) {
  const Shape ws = w->shape();
  const std::array<int64_t, 2> window = {g.dilation[0] * (ws[2] - 1) + 1,
                                         g.dilation[1] * (ws[3] - 1) + 1};
  x = write_padding(b, x, input_zp, window, g);
  x = fit_windows(b, x, window, g.stride, g.pad);
  Value* weight = nullptr;
  if (depthwise) {  // [C*M,1,KH,KW] -> [KH,KW,C,M]
    const int64_t c = g.groups;
    constexpr int64_t kPerm[] = {2, 3, 0, 1};
    weight = b.transpose(b.reshape(w, {c, ws[0] / c, ws[2], ws[3]}), kPerm);
  } else {
    weight = b.transpose(w, kToNhwc);
  }
  const tosa::Conv2dAttrs attrs{.pad = to_int32<4>(g.pad),
                                .stride = to_int32<2>(g.stride),
                                .dilation = to_int32<2>(g.dilation),
                                .acc_type = accumulator_type(x->dtype())};
  Value* zx = b.zero_point(x->dtype(), input_zp);
  Value* zw = b.zero_point(weight->dtype(), 0);
  return depthwise ? b.emit(tosa::depthwise_conv2d, {x, weight, bias, zx, zw}, attrs)
                   : convolve_dense(b, {x, weight, bias, zx, zw}, input_zp, g, attrs);
}

/// Channels [first, first + count) of a value along `axis`.
Value* channels(Builder& b, Value* x, int axis, int64_t first, int64_t count) {
  std::vector<int64_t> start(static_cast<size_t>(x->shape().rank()), 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  start[static_cast<size_t>(axis)] = first;
  size[static_cast<size_t>(axis)] = count;
  return b.slice(x, start, size);
}

/// Accumulators of a convolution with 1 < groups < channels.
std::vector<Value*> convolve_groups(Builder& b, Value* x, int64_t input_zp, Value* w, Value* bias,
                                    const Geometry& g) {
  const int64_t in_per_group = w->shape()[1];
  const int64_t out_per_group = w->shape()[0] / g.groups;
  std::vector<Value*> parts;
  for (int64_t i = 0; i < g.groups; ++i) {
    Value* xi = channels(b, x, 3, i * in_per_group, in_per_group);
    Value* wi = channels(b, w, 0, i * out_per_group, out_per_group);
    Value* bi = bias->shape().num_elements() == 1
                    ? bias
                    : channels(b, bias, 0, i * out_per_group, out_per_group);
    Geometry one = g;
    one.groups = 1;
    parts.push_back(convolve(b, xi, input_zp, wi, bi, one, false));
  }
  return parts;
}

std::optional<Reject> check(const Call& n, const Value& w) {
  if (!w.is_constant() && n.i("groups") != 1) {
    return reject(Code::kRejectNotConstant,
                  "{}: the weight of a grouped convolution must be a "
                  "constant",
                  n.schema().full_name);
  }
  return std::nullopt;
}

std::optional<Reject> check_sizes(const Call& n, const Value& x, const Value& w) {
  const int rank = x.shape().rank();
  if ((rank != 3 && rank != 4) || w.shape().rank() != 4) {
    return reject(Code::kRejectShape, "{}: input {} and weight {}; 3 or 4 and 4 axes are taken",
                  n.schema().full_name, to_string(x.shape()), to_string(w.shape()));
  }
  const int64_t groups = n.i("groups");
  const bool has_padding =
      n.arg("padding").kind() == Attr::Kind::kString || n.ints("padding", 2).size() == 2;
  if (n.ints("stride", 2).size() != 2 || n.ints("dilation", 2).size() != 2 || !has_padding ||
      groups < 1 || w.shape()[0] % groups != 0) {
    return reject(Code::kRejectAttribute, "{}: stride, padding, dilation or groups do not fit",
                  n.schema().full_name);
  }
  return std::nullopt;
}

Lowered lower_conv2d(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  Value* bias = n.tensor("bias");
  if (auto r = check_sizes(n, *x, *w)) return *r;
  if (auto r = check_conv_operands(n, *x, *w, bias, 0)) return *r;
  if (auto r = check(n, *w)) return *r;
  const bool batched = x->shape().rank() == 4;
  const int64_t input_zp = x->quant() == nullptr ? 0 : x->quant()->zero_point();
  if (!batched) {  // [C,H,W]
    const Shape& s = x->shape();
    x = b.reshape(x, {1, s[0], s[1], s[2]});
  }
  Geometry g{n.ints("stride", 2), n.ints("dilation", 2), {}, n.i("groups")};
  g.pad = pad_of(n, w->shape(), g);
  Value* nhwc = b.layout_transpose(x, kToNhwc);
  Value* bias_value = conv_bias(n, b, bias, *n.tensor("input"), *w, w->shape()[0]);
  const bool depthwise = g.groups > 1 && w->shape()[1] == 1;
  const std::vector<Value*> groups =
      g.groups == 1 || depthwise
          ? std::vector{convolve(b, nhwc, input_zp, w, bias_value, g, depthwise)}
          : convolve_groups(b, nhwc, input_zp, w, bias_value, g);
  Value* y = finish_accumulators(b, groups, *n.tensor("input"), *w, n.out());
  y = b.layout_transpose(y, kToNchw);
  return batched ? y : b.reshape(y, n.out().shape);
}

/// ExecuTorch's kernel takes numbers, and equal ones before and after.
Lowered record_padding(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  if (auto r = check_sizes(n, *x, *w)) return *r;
  const Geometry g{n.ints("stride", 2), n.ints("dilation", 2), {}, n.i("groups")};
  const std::vector<int64_t> pad = pad_of(n, w->shape(), g);
  if (pad[0] != pad[1] || pad[2] != pad[3]) {
    TensorType type = x->type();
    const int rank = type.shape.rank();
    const int64_t last_first[] = {0, pad[3] - pad[2], 0, pad[1] - pad[0]};
    type.shape[rank - 1] += last_first[1];
    type.shape[rank - 2] += last_first[3];
    x = b.call("aten.constant_pad_nd.default", {x}, type, {{"pad", Attr::ints(last_first)}});
  }
  const int64_t padding[] = {pad[0], pad[2]};
  return b.call("aten.conv2d.default", {x, w, n.tensor("bias")}, n.out(),
                {{"stride", Attr::ints(g.stride)},
                 {"padding", Attr::ints(padding)},
                 {"dilation", Attr::ints(g.dilation)},
                 {"groups", Attr::integer(g.groups)}});
}

/// ExecuTorch's kernel takes images with a batch axis only.
bool has_batch(const Call& n) {
  return n.tensor("input")->shape().rank() == 4;
}

Lowered lower_or_record(const Call& n, Builder& b) {
  const bool record = b.mode() == Builder::Mode::kRecord && !has_batch(n);
  return record ? call_with_batch(n, b) : lower_conv2d(n, b);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(conv2d) = {
    .schemas = schemas(
        "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], "
        "SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"),
    .doc = "Convolution over two axes: CONV2D, DEPTHWISE_CONV2D, or one CONV2D per group.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 0), bias(2, 0, 1), own(out(0))},
    .lower = lower_or_record,
    .cpu =
        "aten::convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
        "SymInt[] padding, SymInt[] dilation, bool transposed=False, "
        "SymInt[] output_padding=[0, 0], SymInt groups=1, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = has_batch,
};

TOSAIC_ATEN_OP(conv2d_padding) = {
    .schemas = schemas(
        "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, "
        "1], "
        "str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor"),
    .doc = "conv2d with padding \"same\" or \"valid\".",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 0), bias(2, 0, 1), own(out(0))},
    .lower =
        [](const Call& n, Builder& b) {
          return b.mode() == Builder::Mode::kLower ? lower_conv2d(n, b) : record_padding(n, b);
        },
};
