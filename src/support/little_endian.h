// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tosaic {

/// The unsigned little-endian number at `from`, which need not be aligned.
template <typename T>
T load_le(const std::byte* from) {
  static_assert(std::is_unsigned_v<T>);
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value = static_cast<T>(value | (static_cast<T>(from[i]) << (8 * i)));
  }
  return value;
}

/// Appends a number in little-endian order to a vector of std::byte (or what behaves like one).
template <typename T, typename Bytes>
void append_le(Bytes& to, T value) {
  static_assert(std::is_unsigned_v<T>);
  for (size_t i = 0; i < sizeof(T); ++i) {
    to.push_back(static_cast<std::byte>((value >> (8 * i)) & 0xff));
  }
}

}  // namespace tosaic
