// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "target/ethos_u55_rows.h"

// Convolutions and poolings on Ethos-U55 and U65. What Vela does, in this order (read in its
// sources, and measured with Vela 5.2.0 over TOSA's conformance tests and a grid of geometries):
//
//   1. Where padding is at least as wide as the kernel, and the operation has to be split anyway,
//      the image is padded by an operation of its own.
//   2. A stride along an axis with one window, and the dilation of a kernel of one element, do
//      nothing: both become 1.
//   3. A stride above 3 without padding and dilation: window by window, each an operation.
//   4. A dilation above 2: one operation for each of the interleaved images, whose strides are
//      those divided by the greatest common divisor of stride and dilation.
//   5. Strides that are still above 3 are refused.

namespace tosaic::rows {
namespace {

constexpr int64_t kMaxDilation = 2;

bool any_above(std::span<const int64_t> values, int64_t most) {
  return std::ranges::any_of(values, [most](int64_t value) { return value > most; });
}

/// Step 1.
void realise_padding(const Node& node, Window& w) {
  const bool is_wide =
      std::max(w.pad[0], w.pad[1]) >= w.extent(0) || std::max(w.pad[2], w.pad[3]) >= w.extent(1);
  const bool splits = any_above(w.stride, kMaxStride) || any_above(w.dilation, kMaxDilation) ||
                      any_above(node.operand(0)->shape().sizes().subspan(1), kMaxAxis) ||
                      any_above(node.result().shape().sizes().subspan(1), kMaxAxis);
  if (is_wide && splits) w.pad = {};
}

Result check_strides(const Node& node, const Target& t, Window w, bool one_by_one) {
  if (one_by_one) {
    const int64_t pieces = windows_one_by_one(node, w);
    if (pieces > 1) return check_pieces(node, t, pieces, kMaxCopiedPieces);
  }
  if (any_above(w.dilation, kMaxDilation)) {
    for (size_t axis = 0; axis < 2; ++axis)
      w.stride[axis] /= std::gcd(w.stride[axis], w.dilation[axis]);
  }
  for (const int64_t stride : w.stride) {
    if (stride <= kMaxStride) continue;
    Result r = limit(node, t, "stride {} is above {}", stride, kMaxStride);
    r->hint = "use strides of at most 3, or neither padding nor dilation";
    return r;
  }
  return std::nullopt;
}

}  // namespace

Result u55_conv(const Node& node, const Target& t) {
  if (auto r = constant_weights(node, t)) return r;
  const int64_t depth = node.operand(0)->shape()[3];
  if (depth > kMaxAxis) return limit(node, t, "{} input channels are above {}", depth, kMaxAxis);
  Window w = window_of(node);
  realise_padding(node, w);
  w.drop_idle_steps();  // step 2
  // A depthwise convolution of one channel to several is a CONV2D to Vela.
  const bool one_by_one = node.is(tosa::conv2d) ||
                          (node.operand(0)->shape()[3] == 1 && node.operand(1)->shape()[3] != 1);
  return check_strides(node, t, w, one_by_one);
}

Result u55_conv3d(const Node& node, const Target& t) {
  if (node.operand(0)->dtype() == DType::kI16) return absent(node, t);
  if (auto r = constant_weights(node, t)) return r;
  const auto a = tosa::read_attrs<tosa::Conv3dAttrs>(node);
  const Shape& kernel = node.operand(1)->shape();
  const Shape& out = node.result().shape();
  if (kernel[1] != 1) return limit(node, t, "kernel depth {} is above {}", kernel[1], 1);
  Window w = {{out[2], out[3]},
              {kernel[2], kernel[3]},
              {a.stride[1], a.stride[2]},
              {a.dilation[1], a.dilation[2]},
              {a.pad[2], a.pad[3], a.pad[4], a.pad[5]}};
  realise_padding(node, w);
  w.drop_idle_steps();  // step 2
  // A CONV2D on every image of depth when there are as many after as before.
  const bool is_conv2d = a.stride[0] == 1 && a.pad[0] == 0 && a.pad[1] == 0;
  return check_strides(node, t, w, is_conv2d);
}

Result u55_transpose_conv(const Node& node, const Target& t) {
  if (node.operand(0)->dtype() == DType::kI16) return absent(node, t);
  if (auto r = constant_weights(node, t)) return r;
  const auto a = tosa::read_attrs<tosa::TransposeConv2dAttrs>(node);
  const Shape& in = node.operand(0)->shape();
  const Shape& w = node.operand(1)->shape();
  const Shape& out = node.result().shape();
  // What out_pad adds is filled with the bias; where one element is left, no step is made.
  const auto has_one = [&](int axis, size_t pad) {
    return out[axis] - std::max(a.out_pad[pad], 0) - std::max(a.out_pad[pad + 1], 0) == 1;
  };
  const int64_t down = has_one(1, 0) ? 1 : a.stride[0];
  const int64_t across = has_one(2, 2) ? 1 : a.stride[1];
  const bool is_row = in[1] == 1 && w[1] == 1 && down == 1 && across == 2;
  const bool is_column = in[2] == 1 && w[2] == 1 && down == 2 && across == 1;
  if (is_row || is_column || (down == across && down <= 2)) return std::nullopt;
  return limit(node, t, "stride {}, {} is neither 1, 1 nor 2, 2", down, across);
}

Result u55_avg_pool(const Node& node, const Target& t) {
  constexpr int64_t kMaxPaddedKernel = 8;
  Window w = window_of(node);
  w.drop_idle_steps();  // step 2
  if (w.padded() && any_above(w.kernel, kMaxPaddedKernel)) {
    return limit(node, t, "kernel {}x{} with padding is above {}", w.kernel[0], w.kernel[1],
                 kMaxPaddedKernel);
  }
  return check_strides(node, t, w, true);
}

Result u55_max_pool(const Node& node, const Target& t) {
  Window w = window_of(node);
  w.drop_idle_steps();  // step 2
  return check_strides(node, t, w, true);
}

}  // namespace tosaic::rows
