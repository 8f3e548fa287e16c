// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "target/ethos_u55_rows.h"

// What moves elements on Ethos-U55 and U65. The hardware exchanges two of three axes; Vela makes
// every other permutation of such exchanges, and refuses it when one of them is beyond a limit.

namespace tosaic::rows {
namespace {

constexpr int64_t kMaxInt32Depth = 16384;  ///< when height and width of int32 are exchanged

using Sizes = std::vector<int64_t>;

int64_t product(std::span<const int64_t> sizes) {
  int64_t p = 1;
  for (int64_t size : sizes)
    p *= size;
  return p;
}

/// Whether the hardware exchanges axes a and b of [H,W,C].
bool exchanges(std::array<int64_t, 3> s, int a, int b, bool is_int32) {
  if (std::ranges::any_of(s, [](int64_t size) { return size > kMaxAxis; })) return false;
  if (!is_int32) return true;
  if (b == 1) return s[2] <= kMaxInt32Depth;
  if (a == 1) return true;
  // Height and depth of an int32: width and depth, height and width, width and depth again.
  return std::max(s[0], s[1]) <= kMaxAxis && s[1] <= kMaxInt32Depth;
}

/// Replays Vela's exchanges of axes.
class Exchanges {
 public:
  Exchanges(std::span<const int64_t> sizes, bool is_int32)
      : sizes_(sizes.begin(), sizes.end()), is_int32_(is_int32) {}

  /// A permutation is sorted by selection: exchange after exchange.
  bool permute(std::span<const int64_t> perms) {
    std::vector<size_t> place(perms.size());  // where each axis has to go
    for (size_t i = 0; i < perms.size(); ++i)
      place[static_cast<size_t>(perms[i])] = i;
    for (size_t axis = 0; axis < place.size(); ++axis) {
      if (place[axis] == axis) continue;
      const auto from = static_cast<size_t>(
          std::find(place.begin() + static_cast<ptrdiff_t>(axis), place.end(), axis) -
          place.begin());
      if (!exchange(axis, from)) return false;
      std::swap(place[axis], place[from]);
    }
    return true;
  }

 private:
  /// Sizes [begin, middle), [middle, end), [end, …) as three axes.
  std::array<int64_t, 3> merged(size_t begin, size_t end) const {
    const std::span<const int64_t> s = sizes_;
    return {product(s.first(begin)), product(s.subspan(begin, end - begin)),
            product(s.subspan(end))};
  }
  bool step(std::array<int64_t, 3> sizes, int a, int b) const {
    return exchanges(sizes, a, b, is_int32_);
  }
  void move_axis(size_t from, size_t to) {
    const int64_t size = sizes_[from];
    sizes_.erase(sizes_.begin() + static_cast<ptrdiff_t>(from));
    sizes_.insert(sizes_.begin() + static_cast<ptrdiff_t>(to), size);
  }

  /// Exchanges axes a < b of `sizes_`.
  bool exchange(size_t a, size_t b) {
    const size_t n = sizes_.size();
    const size_t outer = n > 3 ? n - 3 : 0;
    if (n <= 3 || (a >= outer && product(std::span(sizes_).first(outer)) == 1)) {
      std::array<int64_t, 3> s = {1, 1, 1};
      std::copy(sizes_.begin() + static_cast<ptrdiff_t>(outer), sizes_.end(),
                s.end() - static_cast<ptrdiff_t>(n - outer));
      const int shift = static_cast<int>(n) - 3;
      std::swap(sizes_[a], sizes_[b]);
      return step(s, static_cast<int>(a) - shift, static_cast<int>(b) - shift);
    }
    if (b == 1) {
      const bool good = step(merged(1, 2), 0, 1);
      std::swap(sizes_[0], sizes_[1]);
      return good;
    }
    if (a == n - 2) {
      const bool good = step(merged(n - 2, n - 1), 1, 2);
      std::swap(sizes_[a], sizes_[b]);
      return good;
    }
    if (a != 0) {  // to the left, exchange, and back
      if (!step(merged(a, a + 1), 0, 1)) return false;
      move_axis(a, 0);
      if (!exchange(0, b) || !step(merged(1, a + 1), 0, 1)) return false;
      move_axis(0, a);
      return true;
    }
    if (b != n - 1) {  // to the right, exchange, and back
      if (!step(merged(b, b + 1), 1, 2)) return false;
      move_axis(b, n - 1);
      if (!exchange(0, n - 1) || !step(merged(b, n - 1), 1, 2)) return false;
      move_axis(n - 1, b);
      return true;
    }
    const bool good = step(merged(1, n - 1), 0, 2);
    std::swap(sizes_[0], sizes_[b]);
    return good;
  }

  Sizes sizes_;
  bool is_int32_;
};

/// Axes of more than one element keep their order.
bool moves_nothing(const Shape& shape, std::span<const int64_t> perms) {
  int64_t last = -1;
  for (int64_t axis : perms) {
    if (shape[static_cast<int>(axis)] == 1) continue;
    if (axis < last) return false;
    last = axis;
  }
  return true;
}

}  // namespace

Result u55_transpose(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  const auto perms = tosa::read_attrs<tosa::TransposeAttrs>(node).perms;
  if (moves_nothing(x.shape(), perms)) return std::nullopt;
  if (Exchanges(x.shape().sizes(), x.dtype() == DType::kI32).permute(perms)) return std::nullopt;
  return limit(
      node, t, "exchanging axes of {} in steps of three axes makes one above {}{}",
      to_string(x.type()), kMaxAxis,
      x.dtype() == DType::kI32 ? fmt::format(", or {} channels of int32", kMaxInt32Depth) : "");
}

/// Any axis where Vela makes three axes of the shape, with the reversed one in the middle; else
/// height or width.
Result u55_reverse(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  const int rank = x.shape().rank();
  const auto axis = tosa::read_attrs<tosa::AxisAttrs>(node).axis;
  const bool reshapes = rank > 4 || (rank == 4 && (x.shape()[0] > 1 || axis == 0));
  if (!reshapes && axis == rank - 1) {
    return limit(node, t, "axis {} of {} is the last, which is", axis, to_string(x.type()));
  }
  return x.dtype() == DType::kI32 ? unproven(node, t) : std::nullopt;
}

/// Nearest neighbours, the same factor of 2, 4 or 8 along both axes, with aligned corners or
/// half-pixel centres: doublings, and a kernel that picks. With other factors, and on images of one
/// row or column, Vela compiles forms whose numbers nothing confirms.
Result u55_resize(const Node& node, const Target& t) {
  const Shape& in = node.operand(0)->shape();
  const tosa::ResizeMode mode = tosa::read_attrs<tosa::ResizeAttrs>(node).mode;
  if (mode != tosa::ResizeMode::kNearest) {
    return limit(node, t, "{} is not nearest neighbours, which is", tosa::name(mode));
  }
  const auto values = [&node](int i) { return int_values(*node.operand(i)->constant()); };
  const Sizes scale = values(1);
  const Sizes offset = values(2);
  const Sizes border = values(3);
  for (const int64_t k : {2, 4, 8}) {
    const bool aligned =
        scale == Sizes{k, 1, k, 1} && offset == Sizes{0, 0} && border == Sizes{0, 0};
    const bool centred = scale == Sizes{2 * k, 2, 2 * k, 2} && offset == Sizes{1 - k, 1 - k} &&
                         border == Sizes{k - 1, k - 1};
    if (!aligned && !centred) continue;
    if (in[0] != 1) return limit(node, t, "a batch of {} is above {}", in[0], 1);
    return in[1] == 1 || in[2] == 1 ? unproven(node, t) : std::nullopt;
  }
  return limit(node, t, "scale {} is not 2, 4 or 8 with aligned corners or half-pixel centres",
               fmt::join(scale, ", "));
}

/// Over another axis than the last, a TRANSPOSE comes first.
Result u55_reduce_sum(const Node& node, const Target& t) {
  const Value& x = *node.operand(0);
  const int rank = x.shape().rank();
  const auto axis = tosa::read_attrs<tosa::AxisAttrs>(node).axis;
  if (axis == rank - 1) return std::nullopt;
  const auto sizes = x.shape().sizes();
  const auto a = static_cast<size_t>(axis);
  const std::array<int64_t, 3> s = {product(sizes.first(a)), sizes[a],
                                    product(sizes.subspan(a + 1))};
  if (exchanges(s, 1, 2, true)) return std::nullopt;
  return limit(node, t, "summing axis {} of {} exchanges axes above {}", axis, to_string(x.type()),
               kMaxAxis);
}

/// The second operand is transposed first.
Result u55_matmul(const Node& node, const Target& t) {
  if (node.operand(0)->dtype() != DType::kI8) return absent(node, t);
  const Shape& b = node.operand(1)->shape();
  if (exchanges({b[0], b[1], b[2]}, 1, 2, false)) return std::nullopt;
  return limit(node, t, "its second operand {} has an axis above {}", to_string(b), kMaxAxis);
}

}  // namespace tosaic::rows
