// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "ir/graph.h"
#include "support/diagnostic.h"
#include "tosa/ops.h"
#include "tosa/spec.h"

/// What the rows of the Ethos-U families are written with.
namespace tosaic::rows {

using Result = std::optional<Reject>;

/// The rule of one operation. Operations without one are taken as the profile has them.
struct Row {
  const OpDef* op;
  Result (*check)(const Node& node, const Target& target);
};
Result check(std::span<const Row> rows, const Node& node, const Target& target);

/// Elements of an axis, and channels, that an Ethos-U counts.
inline constexpr int64_t kMaxAxis = 65536;

/// R0010: "tosa.conv2d: stride 9 is above 3, the limit of Ethos-U55".
template <typename... Args>
Result limit(const Node& node, const Target& target, fmt::format_string<Args...> format,
             Args&&... args) {
  return reject(Code::kRejectTargetLimit, "{}: {}, the limit of {}", node.full_name(),
                fmt::format(format, std::forward<Args>(args)...), target.display_name);
}

/// R0009: the target lacks the operation on operands of this dtype.
Result absent(const Node& node, const Target& target);
/// R0014: Vela compiles this form, but nothing shows that it computes the right numbers.
Result unproven(const Node& node, const Target& target);
/// R0006 unless weights and bias, operands 1 and 2, are constants.
Result constant_weights(const Node& node, const Target& target);

/// Vela splits what the hardware cannot do at once. Its time is quadratic in the number of pieces,
/// and some seconds at these limits.
inline constexpr int64_t kMaxPieces = 12288;       ///< slices along leading axes
inline constexpr int64_t kMaxCopiedPieces = 4096;  ///< windows one by one, copies of a TILE
Result check_pieces(const Node& node, const Target& target, int64_t pieces, int64_t most);
/// Rule of operations on elements: operands that broadcast are split along all but the last three
/// axes.
Result check_broadcast(const Node& node, const Target& target);
/// Convolutions, poolings, products and RESIZE are split along the batch.
Result check_batch(const Node& node, const Target& target);
/// CONCAT, PAD and SLICE copy, TILE copies several times; copies are split in the same way.
Result check_copies(const Node& node, const Target& target);
Result check_tile(const Node& node, const Target& target);

/// The geometry of a convolution or pooling: height, then width.
struct Window {
  std::array<int64_t, 2> out{};
  std::array<int64_t, 2> kernel{};
  std::array<int64_t, 2> stride{1, 1};
  std::array<int64_t, 2> dilation{1, 1};
  std::array<int64_t, 4> pad{};  ///< top, bottom, left, right

  int64_t extent(size_t axis) const { return (kernel[axis] - 1) * dilation[axis] + 1; }
  /// A stride along an axis with one window, and the dilation of a kernel of one element, do
  /// nothing.
  void drop_idle_steps();
  bool padded() const { return pad != std::array<int64_t, 4>{}; }
};
/// Of CONV2D, DEPTHWISE_CONV2D, AVG_POOL2D and MAX_POOL2D.
Window window_of(const Node& node);

/// The greatest stride of the hardware; above it Vela computes window by window, where there are
/// neither padding nor dilation.
inline constexpr int64_t kMaxStride = 3;
/// Number of windows that are computed one by one; 1 when the hardware steps by itself.
int64_t windows_one_by_one(const Node& node, Window window);

}  // namespace tosaic::rows
