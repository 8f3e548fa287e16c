// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "target/families.h"
#include "target/rows.h"

// Vela takes the whole of PRO-INT at level 8K, with int16, int4, double rounding and control flow,
// except TRANSPOSE_CONV2D and CONV3D with weights or bias that are no constants. Beyond that, some
// forms become so many operations that Vela needs minutes.

namespace tosaic {
namespace rows {
namespace {

bool has_constant_weights(const Node& node) {
  return node.operand(1)->is_constant() && node.operand(2)->is_constant();
}

/// Operations that become of a convolution whose weights or bias change: row by row, element by
/// element of the kernel. An image much higher than wide is turned first.
int64_t changing_pieces(int64_t images, const Window& w) {
  constexpr int64_t kColumns = 64;  // at once
  auto [rows, columns] = std::pair(w.out[0], w.out[1]);
  if (rows > 2 * columns) std::swap(rows, columns);
  return images * rows * ((columns + kColumns - 1) / kColumns) * w.kernel[0] * w.kernel[1];
}

/// With wide strides: one for each element of the kernel that falls between two windows.
int64_t strided_pieces(const Window& w) {
  int64_t pieces = 1;
  for (size_t axis = 0; axis < 2; ++axis)
    pieces *= w.stride[axis] > kMaxStride ? std::min(w.stride[axis], w.kernel[axis]) : 1;
  return pieces;
}

/// Strides above 3 are window by window here, too, where there are neither padding nor dilation.
Result check_conv2d(const Node& node, const Target& t) {
  const int64_t depth = node.operand(0)->shape()[3];
  if (depth > kMaxAxis) return limit(node, t, "{} input channels are above {}", depth, kMaxAxis);
  Window w = window_of(node);
  if (has_constant_weights(node)) {
    const int64_t windows = windows_one_by_one(node, w);
    w.drop_idle_steps();
    return check_pieces(node, t, windows > 1 ? windows : strided_pieces(w), kMaxCopiedPieces);
  }
  return check_pieces(node, t, changing_pieces(node.result().shape()[0], w), kMaxPieces);
}
Result check_pool(const Node& node, const Target& t) {
  return check_pieces(node, t, windows_one_by_one(node, window_of(node)), kMaxCopiedPieces);
}

Result check_depthwise(const Node& node, const Target& t) {
  if (has_constant_weights(node)) return std::nullopt;
  const Shape& out = node.result().shape();
  return check_pieces(node, t, changing_pieces(out[0] * out[3], window_of(node)), kMaxPieces);
}

/// Weights that change are taken where it is a CONV2D on every image of depth.
Result check_conv3d(const Node& node, const Target& t) {
  if (has_constant_weights(node)) return std::nullopt;
  const auto a = tosa::read_attrs<tosa::Conv3dAttrs>(node);
  const Shape& kernel = node.operand(1)->shape();
  if (kernel[1] != 1 || a.stride[0] != 1) return constant_weights(node, t);
  const Shape& out = node.result().shape();
  const Window w = {.out = {out[2], out[3]}, .kernel = {kernel[2], kernel[3]}};
  return check_pieces(node, t, changing_pieces(out[0] * out[1], w), kMaxPieces);
}

/// Cut by a negative out_pad to less than a stride, the result has parts that no block fits
/// (measured with Vela 5.2.0: "Failed to find block configuration").
Result check_transpose_conv(const Node& node, const Target& t) {
  if (auto r = constant_weights(node, t)) return r;
  const auto a = tosa::read_attrs<tosa::TransposeConv2dAttrs>(node);
  const Shape& kernel = node.operand(1)->shape();
  const Shape& out = node.result().shape();
  const Window w = {.out = {out[1], out[2]},
                    .kernel = {kernel[1], kernel[2]},
                    .stride = {a.stride[0], a.stride[1]}};
  for (size_t axis = 0; axis < 2; ++axis) {
    const int64_t size = w.out[axis];
    const int64_t stride = w.stride[axis];
    const bool is_cut = std::min(a.out_pad[2 * axis], a.out_pad[2 * axis + 1]) < 0;
    if (size > kMaxAxis) return limit(node, t, "size {} is above {}", size, kMaxAxis);
    if (is_cut && stride > 2 && size > 1 && size < stride) {
      return limit(node, t, "a size of {} with negative padding is below {}, the stride", size,
                   stride);
    }
  }
  return check_pieces(node, t, strided_pieces(w), kMaxCopiedPieces);
}

constexpr Row kRows[] = {
    {&tosa::conv2d, check_conv2d},
    {&tosa::avg_pool2d, check_pool},
    {&tosa::max_pool2d, check_pool},
    {&tosa::depthwise_conv2d, check_depthwise},
    {&tosa::conv3d, check_conv3d},
    {&tosa::transpose_conv2d, check_transpose_conv},
    {&tosa::concat, check_copies},
    {&tosa::pad, check_copies},
    {&tosa::slice, check_copies},
    {&tosa::tile, check_tile},
    {&tosa::add, check_broadcast},
    {&tosa::sub, check_broadcast},
    {&tosa::mul, check_broadcast},
    {&tosa::intdiv, check_broadcast},
    {&tosa::maximum, check_broadcast},
    {&tosa::minimum, check_broadcast},
    {&tosa::arithmetic_right_shift, check_broadcast},
    {&tosa::logical_left_shift, check_broadcast},
    {&tosa::logical_right_shift, check_broadcast},
    {&tosa::bitwise_and, check_broadcast},
    {&tosa::bitwise_or, check_broadcast},
    {&tosa::bitwise_xor, check_broadcast},
    {&tosa::logical_and, check_broadcast},
    {&tosa::logical_or, check_broadcast},
    {&tosa::logical_xor, check_broadcast},
    {&tosa::equal, check_broadcast},
    {&tosa::greater, check_broadcast},
    {&tosa::greater_equal, check_broadcast},
    {&tosa::select, check_broadcast},
};

}  // namespace
}  // namespace rows

std::optional<Reject> ethos_u85_rows(const Node& node, const Target& target) {
  if (auto r = rows::check_batch(node, target)) return r;
  return rows::check(rows::kRows, node, target);
}

}  // namespace tosaic
