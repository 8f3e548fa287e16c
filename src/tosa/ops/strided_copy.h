// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "ir/shape.h"

namespace tosaic::tosa {

/// A box of elements that is read with one set of strides and written with another. Two axes per
/// axis of a tensor suffice for every operation that moves data (TILE).
struct StridedCopy {
  struct Axis {
    int64_t size = 1;
    int64_t from = 0;  ///< stride of the source, in elements
    int64_t to = 0;    ///< stride of the destination
  };
  std::array<Axis, 2 * size_t{kMaxRank}> axes{};  ///< outermost first
  size_t rank = 0;
  size_t element_bytes = 1;

  void add_axis(int64_t size, int64_t from, int64_t to) { axes[rank++] = {size, from, to}; }
  /// `from` and `to` point at the first element of the box.
  void run(const std::byte* from, std::byte* to) const;
};

}  // namespace tosaic::tosa
