// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "aten/arithmetic.h"
#include "aten/calls.h"

// Convolution over three axes: CONV3D, one per group. PyTorch has NCDHW activations and OIDHW
// weights, TOSA NDHWC and ODHWI.

namespace tosaic::aten {
namespace {

constexpr int64_t kToNdhwc[] = {0, 2, 3, 4, 1};
constexpr int64_t kToNcdhw[] = {0, 4, 1, 2, 3};

struct Geometry {
  std::vector<int64_t> stride;
  std::vector<int64_t> dilation;
  std::vector<int64_t> pad;  // before and after each axis
};

std::optional<Reject> read_geometry(const Call& n, const Shape& x, const Shape& w, Geometry& g) {
  const std::string& name = n.schema().full_name;
  const bool is_text = n.arg("padding").kind() == Attr::Kind::kString;
  g.stride = n.ints("stride", 3);
  g.dilation = n.ints("dilation", 3);
  const auto padding = is_text ? std::vector<int64_t>(3, 0) : n.ints("padding", 3);
  if (g.stride.size() != 3 || g.dilation.size() != 3 || padding.size() != 3) {
    return reject(Code::kRejectAttribute, "{}: stride, padding and dilation must have three sizes",
                  name);
  }
  for (size_t i = 0; i < 3; ++i) {
    const int axis = static_cast<int>(i);
    if (g.stride[i] < 1 || g.dilation[i] < 1) {
      return reject(Code::kRejectAttribute, "{}: stride {} and dilation {}", name, g.stride[i],
                    g.dilation[i]);
    }
    const int64_t reach = g.dilation[i] * (w[2 + axis] - 1);
    // "same" pads so that the output has the input's size; the odd element goes after.
    const int64_t total = is_text && n.s("padding") == "same" ? reach : 2 * padding[i];
    int64_t before = total / 2;
    int64_t after = total - before;
    // TOSA wants windows that tile the padded input; PyTorch drops what is left over.
    const int64_t span = x[2 + axis] + total - reach - 1;
    if (span >= 0) after -= span % g.stride[i];
    if (span >= 0 && span < g.stride[i]) g.stride[i] = 1;
    g.pad.push_back(before);
    g.pad.push_back(after);
  }
  return std::nullopt;
}

/// What is left over beyond the padding is cut off the input: [N,D,H,W,C]. Where that is all of it,
/// since each window lies in the padding before, the padding becomes elements first.
Value* fitted(Builder& b, Value* x, int64_t input_zp, Geometry& g) {
  if (x->shape().rank() != 5) return x;  // which could not be made
  const std::vector<int64_t> start(5, 0);
  std::vector<int64_t> padding(10, 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  for (size_t i = 0; i < 3; ++i) {
    int64_t& after = g.pad[2 * i + 1];
    if (after >= 0) continue;
    if (size[1 + i] + after <= 0) {
      padding[2 + 2 * i] = std::exchange(g.pad[2 * i], 0);
      size[1 + i] += padding[2 + 2 * i];
    }
    size[1 + i] += after;
    after = 0;
  }
  if (std::ranges::any_of(padding, [](int64_t p) { return p > 0; }))
    x = b.emit(tosa::pad, {x, b.shape_value(padding), b.zero_point(x->dtype(), input_zp)});
  return b.slice(x, start, size);
}

/// Elements [first, first + count) of a value along `axis`.
Value* channels(Builder& b, Value* x, int axis, int64_t first, int64_t count) {
  std::vector<int64_t> start(static_cast<size_t>(x->shape().rank()), 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  start[static_cast<size_t>(axis)] = first;
  size[static_cast<size_t>(axis)] = count;
  return b.slice(x, start, size);
}

std::optional<Reject> check_sizes(const Call& n, const Shape& x, const Shape& w) {
  const std::string& name = n.schema().full_name;
  if ((x.rank() != 4 && x.rank() != 5) || w.rank() != 5 || !x.is_static()) {
    return reject(Code::kRejectShape, "{}: input {} and weight {}; 4 or 5 and 5 axes are taken",
                  name, to_string(x), to_string(w));
  }
  const int64_t groups = n.i("groups");
  if (groups < 1 || w[0] % groups != 0 || x[x.rank() - 4] != w[1] * groups) {
    return reject(Code::kRejectShape, "{}: {} groups, input {} and weight {}", name, groups,
                  to_string(x), to_string(w));
  }
  constexpr int64_t kMaxGroups = 256;
  if (groups > kMaxGroups) {
    return reject(Code::kRejectAttribute, "{}: {} groups; up to {} are taken", name, groups,
                  kMaxGroups);
  }
  if (n.tensor("weight")->is_constant() || groups == 1) return std::nullopt;
  return reject(Code::kRejectNotConstant,
                "{}: the weight of a grouped convolution must be a constant", name);
}

Lowered lower_conv3d(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  if (auto r = check_sizes(n, x->shape(), w->shape())) return *r;
  if (auto r = check_conv_operands(n, *x, *w, n.tensor("bias"), 0)) return *r;
  Value* image = b.expand_rank(x, 5);
  Geometry g;
  if (auto r = read_geometry(n, image->shape(), w->shape(), g)) return *r;
  const int64_t input_zp = x->quant() == nullptr ? 0 : x->quant()->zero_point();
  image = fitted(b, b.layout_transpose(image, kToNdhwc), input_zp, g);
  Value* bias = conv_bias(n, b, n.tensor("bias"), *x, *w, w->shape()[0]);
  Value* zx = b.zero_point(x->dtype(), input_zp);
  Value* zw = b.zero_point(w->dtype(), 0);
  const tosa::Conv3dAttrs attrs{.pad = to_int32<6>(g.pad),
                                .stride = to_int32<3>(g.stride),
                                .dilation = to_int32<3>(g.dilation),
                                .acc_type = accumulator_type(x->dtype())};
  const int64_t groups = n.i("groups");
  const int64_t in_per_group = w->shape()[1];
  const int64_t out_per_group = w->shape()[0] / groups;
  std::vector<Value*> parts;
  for (int64_t i = 0; i < groups && image->shape().rank() == 5; ++i) {
    Value* xi = channels(b, image, 4, i * in_per_group, in_per_group);
    Value* wi = b.transpose(channels(b, w, 0, i * out_per_group, out_per_group), kToNdhwc);
    Value* bi = bias->shape().num_elements() == 1
                    ? bias
                    : channels(b, bias, 0, i * out_per_group, out_per_group);
    parts.push_back(b.emit(tosa::conv3d, {xi, wi, bi, zx, zw}, attrs));
  }
  if (parts.empty()) return image;  // which could not be made
  Value* y = finish_accumulators(b, parts, *x, *w, n.out());
  return b.reshape(b.layout_transpose(y, kToNcdhw), n.out().shape);
}

/// The output's places of slice `k` of the window as images: [N,C,D,H,W] to [N * Do,C,H,W].
Value* images_under(Builder& b, Value* x, const Geometry& g, int64_t k, int64_t depth) {
  constexpr int64_t kDepthFirst[] = {0, 2, 1, 3, 4};
  Value* y = call_steps(b, x, 2, k * g.dilation[0], depth, g.stride[0]);
  y = call_permute(b, y, kDepthFirst);
  const Shape s = y->shape();
  return call_view(b, y, Shape{s[0] * s[1], s[2], s[3], s[4]});
}

/// ExecuTorch's kernel has two axes at most: a sum of conv2d, one for each slice of the window.
Lowered record_slices(const Call& n, Builder& b) {
  Value* w = n.tensor("weight");
  if (auto r = check_sizes(n, n.tensor("input")->shape(), w->shape())) return *r;
  Shape sizes = n.tensor("input")->shape();
  Shape out = n.out().shape;
  if (sizes.rank() == 4) {
    sizes = {1, sizes[0], sizes[1], sizes[2], sizes[3]};
    out = {1, out[0], out[1], out[2], out[3]};
  }
  Geometry g;
  if (auto r = read_geometry(n, sizes, w->shape(), g)) return *r;
  Value* x = call_view(b, n.tensor("input"), sizes);
  std::vector<int64_t> pad;  // from the last axis on; what is left over stays
  for (size_t i = 3; i-- > 0;) {
    pad.push_back(g.pad[2 * i]);
    pad.push_back(std::max<int64_t>(g.pad[2 * i + 1], 0));
    sizes[2 + static_cast<int>(i)] += pad[pad.size() - 2] + pad.back();
  }
  if (sizes != x->shape()) {
    x = b.call("aten.constant_pad_nd.default", {x}, {x->dtype(), sizes, nullptr},
               {{"pad", Attr::ints(pad)}});
  }
  const TensorType images{n.out().dtype, {out[0] * out[2], out[1], out[3], out[4]}, nullptr};
  const Shape& ws = w->shape();
  const std::vector<int64_t> stride = n.ints("stride", 3);  // g's is 1 along axes with one place
  Value* sum = nullptr;
  for (int64_t k = 0; k < ws[2]; ++k) {
    Value* wk = w->is_constant() ? channels(b, w, 2, k, 1) : call_slice(b, w, 2, k, 1);
    wk = call_view(b, wk, Shape{ws[0], ws[1], ws[3], ws[4]});
    Value* y =
        b.call("aten.conv2d.default",
               {images_under(b, x, g, k, out[2]), wk, k == 0 ? n.tensor("bias") : nullptr}, images,
               {{"stride", Attr::ints(std::span(stride).subspan(1))},
                {"dilation", Attr::ints(std::span(g.dilation).subspan(1))},
                {"groups", n.arg("groups")}});
    sum = sum == nullptr ? y : b.call("aten.add.Tensor", {sum, y}, images);
  }
  if (sum == nullptr) return reject(Code::kRejectShape, "an empty window");
  constexpr int64_t kChannelsFirst[] = {0, 2, 1, 3, 4};
  sum = call_view(b, sum, Shape{out[0], out[2], out[1], out[3], out[4]});
  return call_view(b, call_permute(b, sum, kChannelsFirst), n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(conv3d) = {
    .schemas = schemas(
        "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, "
        "SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], "
        "SymInt groups=1) -> Tensor",
        "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
        "SymInt[3] stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], "
        "SymInt groups=1) -> Tensor"),
    .doc = "Convolution over three axes: one CONV3D per group.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 0), bias(2, 0, 1), own(out(0))},
    .lower =
        [](const Call& n, Builder& b) {
          return b.mode() == Builder::Mode::kLower ? lower_conv3d(n, b) : record_slices(n, b);
        },
};
