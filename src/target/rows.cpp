// SPDX-License-Identifier: Apache-2.0
#include "target/rows.h"

#include <algorithm>

#include "target/families.h"

namespace tosaic::rows {
namespace {

/// Product of all sizes but the last three, which are the hardware's height, width and depth.
int64_t leading_elements(const Shape& shape) {
  int64_t product = 1;
  for (int axis = 0; axis < shape.rank() - 3; ++axis)
    product *= shape[axis];
  return product;
}

template <typename Attrs>
Window pool_window(const Node& node) {
  const auto a = tosa::read_attrs<Attrs>(node);
  const Shape& out = node.result().shape();
  return {{out[1], out[2]},
          {a.kernel[0], a.kernel[1]},
          {a.stride[0], a.stride[1]},
          {1, 1},
          {a.pad[0], a.pad[1], a.pad[2], a.pad[3]}};
}

}  // namespace

Result check(std::span<const Row> rows, const Node& node, const Target& target) {
  const auto it = std::ranges::find(rows, &node.op(), &Row::op);
  return it == rows.end() ? std::nullopt : it->check(node, target);
}

Result absent(const Node& node, const Target& target) {
  return reject(Code::kRejectTargetOp, "{} on {} is not available on {}", node.full_name(),
                node.num_operands() == 0 ? "nothing" : dtype_name(node.operand(0)->dtype()),
                target.display_name);
}

Result unproven(const Node& node, const Target& target) {
  return reject(Code::kRejectUnproven,
                "{} from {} to {}: nothing shows that {} computes the right numbers",
                node.full_name(), dtype_name(node.operand(0)->dtype()),
                dtype_name(node.result().dtype()), target.display_name);
}

Result constant_weights(const Node& node, const Target& target) {
  if (node.operand(1)->is_constant() && node.operand(2)->is_constant()) return std::nullopt;
  return reject(Code::kRejectNotConstant, "{}: weights and bias must be constants on {}",
                node.full_name(), target.display_name);
}

Result check_pieces(const Node& node, const Target& target, int64_t pieces, int64_t most) {
  if (pieces <= most) return std::nullopt;
  return limit(node, target, "Vela would split it into {} operations, above {}", pieces, most);
}

Result check_broadcast(const Node& node, const Target& target) {
  const Shape& out = node.result().shape();
  const bool broadcasts = std::ranges::any_of(node.operands(), [&out](const Use& use) {
    const Shape& s = use.value()->shape();
    return s.rank() == out.rank() && s.num_elements() > 1 && s != out;
  });
  return broadcasts ? check_pieces(node, target, leading_elements(out), kMaxPieces) : std::nullopt;
}

Result check_batch(const Node& node, const Target& target) {
  const std::array kSplit = {
      &tosa::conv2d,     &tosa::depthwise_conv2d, &tosa::conv3d, &tosa::transpose_conv2d,
      &tosa::avg_pool2d, &tosa::max_pool2d,       &tosa::matmul, &tosa::resize};
  if (std::ranges::find(kSplit, &node.op()) == kSplit.end()) return std::nullopt;
  return check_pieces(node, target, node.operand(0)->shape()[0], kMaxPieces);
}

Result check_tile(const Node& node, const Target& target) {
  const Shape& in = node.operand(0)->shape();
  const int64_t copies = node.result().shape().num_elements() / in.num_elements();
  return check_pieces(node, target, copies * leading_elements(in), kMaxCopiedPieces);
}

Result check_copies(const Node& node, const Target& target) {
  if (!node.is(tosa::concat)) {
    return check_pieces(node, target, leading_elements(node.result().shape()), kMaxPieces);
  }
  int64_t pieces = 0;
  for (const Use& use : node.operands())
    pieces += leading_elements(use.value()->shape());
  return check_pieces(node, target, pieces, kMaxPieces);
}

Window window_of(const Node& node) {
  if (node.is(tosa::avg_pool2d)) return pool_window<tosa::AvgPool2dAttrs>(node);
  if (node.is(tosa::max_pool2d)) return pool_window<tosa::MaxPool2dAttrs>(node);
  const auto a = tosa::read_attrs<tosa::Conv2dAttrs>(node);
  const Shape& w = node.operand(1)->shape();
  const Shape& out = node.result().shape();
  const int height_axis = node.is(tosa::depthwise_conv2d) ? 0 : 1;
  return {{out[1], out[2]},
          {w[height_axis], w[height_axis + 1]},
          {a.stride[0], a.stride[1]},
          {a.dilation[0], a.dilation[1]},
          {a.pad[0], a.pad[1], a.pad[2], a.pad[3]}};
}

void Window::drop_idle_steps() {
  for (size_t axis = 0; axis < 2; ++axis) {
    if (out[axis] == 1) stride[axis] = 1;
    if (kernel[axis] == 1) dilation[axis] = 1;
  }
}

int64_t windows_one_by_one(const Node& node, Window window) {
  window.drop_idle_steps();
  const bool steps_far =
      std::ranges::any_of(window.stride, [](int64_t stride) { return stride > kMaxStride; });
  const bool dilated = window.dilation != std::array<int64_t, 2>{1, 1};
  if (!steps_far || dilated || window.padded()) return 1;
  return node.result().shape()[0] * window.out[0] * window.out[1];
}

}  // namespace tosaic::rows

namespace tosaic {

int64_t ethos_u_pieces(const Node& node) {
  const bool has_window =
      node.is(tosa::conv2d) || node.is(tosa::avg_pool2d) || node.is(tosa::max_pool2d);
  return has_window ? rows::windows_one_by_one(node, rows::window_of(node)) : 1;
}

}  // namespace tosaic
