// SPDX-License-Identifier: Apache-2.0
#include "ir/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "support/check.h"

namespace tosaic {

Shape::Shape(std::span<const int64_t> sizes) {
  TOSAIC_CHECK(sizes.size() <= kMaxRank, "rank of a shape");
  std::copy(sizes.begin(), sizes.end(), sizes_.begin());
  rank_ = static_cast<uint8_t>(sizes.size());
}

int64_t Shape::num_elements() const {
  int64_t product = 1;
  bool overflow = false;
  for (int64_t size : sizes()) {
    TOSAIC_CHECK(size >= 0, "number of elements of a symbolic shape");
    if (size == 0) return 0;
    overflow |= __builtin_mul_overflow(product, size, &product);
  }
  // Saturates, so that a damaged file meets a limit of its reader and not undefined behaviour.
  return overflow ? std::numeric_limits<int64_t>::max() : product;
}

bool Shape::is_static() const {
  return std::all_of(begin(), end(), [](int64_t size) { return size >= 0; });
}

bool Shape::operator==(const Shape& other) const {
  return std::equal(begin(), end(), other.begin(), other.end());
}

std::string to_string(const Shape& shape) {
  fmt::memory_buffer out;
  out.push_back('[');
  for (int i = 0; i < shape.rank(); ++i) {
    if (i > 0) out.push_back(',');
    if (shape[i] >= 0) {
      fmt::format_to(std::back_inserter(out), "{}", shape[i]);
    } else {
      fmt::format_to(std::back_inserter(out), "s{}", -1 - shape[i]);
    }
  }
  out.push_back(']');
  return fmt::to_string(out);
}

bool broadcast(const Shape& a, const Shape& b, Shape& result) {
  const int rank = std::max(a.rank(), b.rank());
  std::array<int64_t, kMaxRank> sizes{};
  for (int i = 0; i < rank; ++i) {
    const int in_a = i - (rank - a.rank());
    const int in_b = i - (rank - b.rank());
    const int64_t size_a = in_a >= 0 ? a[in_a] : 1;
    const int64_t size_b = in_b >= 0 ? b[in_b] : 1;
    // Symbols have equal sizes only when they are the same symbol.
    if (size_a != size_b && size_a != 1 && size_b != 1) return false;
    sizes[static_cast<size_t>(i)] = size_a == 1 ? size_b : size_a;
  }
  result = Shape(std::span<const int64_t>(sizes.data(), static_cast<size_t>(rank)));
  return true;
}

}  // namespace tosaic
