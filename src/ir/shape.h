// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tosaic {

/// Greatest rank of a tensor in a Module. TOSA's level 8K allows 6; ATen programs need a little
/// more.
inline constexpr int kMaxRank = 8;

/// Sizes of a tensor, outermost first. A negative size is symbolic: -1 - (index of the symbol).
class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes) : Shape(std::span(sizes.begin(), sizes.size())) {}
  /// `sizes` has at most kMaxRank entries (checked).
  explicit Shape(std::span<const int64_t> sizes);

  int rank() const { return rank_; }
  int64_t operator[](int axis) const { return sizes_[static_cast<size_t>(axis)]; }
  int64_t& operator[](int axis) { return sizes_[static_cast<size_t>(axis)]; }
  std::span<const int64_t> sizes() const { return {sizes_.data(), rank_}; }
  auto begin() const { return sizes().begin(); }
  auto end() const { return sizes().end(); }

  /// Product of the sizes (1 for rank 0). Every size must be a number.
  int64_t num_elements() const;
  bool is_static() const;

  bool operator==(const Shape& other) const;

 private:
  std::array<int64_t, kMaxRank> sizes_{};
  uint8_t rank_ = 0;
};

/// "[1,4,4,8]".
std::string to_string(const Shape& shape);

/// The shape both operands broadcast to by PyTorch's rule (ranks aligned at the last axis);
/// false when they do not.
bool broadcast(const Shape& a, const Shape& b, Shape& result);

}  // namespace tosaic
