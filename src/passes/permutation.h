// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "ir/shape.h"

namespace tosaic {

/// An order of axes, as TRANSPOSE has it: axis i of the result is axis perm[i] of the operand.
class Permutation {
 public:
  explicit Permutation(std::span<const int64_t> axes) : rank_(static_cast<int>(axes.size())) {
    for (size_t i = 0; i < axes.size(); ++i)
      axes_[i] = axes[i];
  }
  static Permutation identity(int rank) {
    Permutation p(rank);
    for (int i = 0; i < rank; ++i)
      p.axes_[static_cast<size_t>(i)] = i;
    return p;
  }

  int rank() const { return rank_; }
  int operator[](int i) const { return static_cast<int>(axes_[static_cast<size_t>(i)]); }
  std::span<const int64_t> axes() const {
    return std::span(axes_).first(static_cast<size_t>(rank_));
  }
  bool is_identity() const { return *this == identity(rank_); }
  bool operator==(const Permutation&) const = default;

  Permutation inverse() const {
    Permutation p(rank_);
    for (int i = 0; i < rank_; ++i)
      p.axes_[static_cast<size_t>((*this)[i])] = i;
    return p;
  }
  /// This one, and `next` on its result, in one step.
  Permutation then(const Permutation& next) const {
    Permutation p(rank_);
    for (int i = 0; i < rank_; ++i)
      p.axes_[static_cast<size_t>(i)] = (*this)[next[i]];
    return p;
  }
  /// Sizes of the result for an operand of these sizes.
  Shape apply(const Shape& shape) const {
    Shape result = shape;
    for (int i = 0; i < rank_; ++i)
      result[i] = shape[(*this)[i]];
    return result;
  }
  /// A number that tells permutations of up to kMaxRank axes apart.
  uint32_t code() const {
    uint32_t code = 1;
    for (int i = 0; i < rank_; ++i)
      code = code << 3 | static_cast<uint32_t>((*this)[i]);
    return code;
  }

 private:
  explicit Permutation(int rank) : rank_(rank) {}
  std::array<int64_t, kMaxRank> axes_{};
  int rank_ = 0;
};

/// Whether TRANSPOSE keeps the elements of a tensor of these sizes in order: only axes of size 1
/// move, so that it is a RESHAPE.
inline bool moves_nothing(const Shape& shape, const Permutation& perm) {
  int last = -1;
  for (int i = 0; i < perm.rank(); ++i) {
    if (shape[perm[i]] == 1) continue;
    if (perm[i] < last) return false;
    last = perm[i];
  }
  return true;
}

}  // namespace tosaic
