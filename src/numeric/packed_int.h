// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "numeric/fixed_point.h"

/// How TOSA stores the integers that have no C++ type: int4 as two values per byte, int48 as six
/// bytes.
namespace tosaic::numeric {

/// TOSA's int4 range is symmetric: -8 has a bit pattern but is not a value.
inline constexpr int kInt4Max = 7;
inline constexpr int kInt4Min = -7;

/// Bytes that `count` int4 values take; an odd last value leaves the high nibble zero.
constexpr size_t int4_bytes(size_t count) {
  return (count + 1) / 2;
}

/// The value in the low nibble, which is the first of the two.
constexpr int8_t int4_low(uint8_t byte) {
  return static_cast<int8_t>(static_cast<int8_t>(byte << 4) >> 4);
}

/// The value in the high nibble, which is the second of the two.
constexpr int8_t int4_high(uint8_t byte) {
  return static_cast<int8_t>(static_cast<int8_t>(byte) >> 4);
}

/// Two values in one byte; only the low four bits of each count.
constexpr uint8_t int4_pair(int8_t first, int8_t second) {
  return static_cast<uint8_t>((first & 0xf) | ((second & 0xf) << 4));
}

/// Unpacks out.size() values. packed.size() >= int4_bytes(out.size()).
constexpr void unpack_int4(std::span<const uint8_t> packed, std::span<int8_t> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    out[i] = i % 2 == 0 ? int4_low(packed[i / 2]) : int4_high(packed[i / 2]);
  }
}

/// Packs all of `values`. packed.size() >= int4_bytes(values.size()).
constexpr void pack_int4(std::span<const int8_t> values, std::span<uint8_t> packed) {
  for (size_t i = 0; i < values.size(); i += 2) {
    packed[i / 2] = int4_pair(values[i], i + 1 < values.size() ? values[i + 1] : int8_t{0});
  }
}

inline constexpr size_t kInt48Bytes = 6;

/// The little-endian int48 at `bytes[0..6)`, sign-extended.
constexpr int64_t load_int48(const uint8_t* bytes) {
  uint64_t bits = 0;
  for (size_t i = 0; i < kInt48Bytes; ++i)
    bits |= uint64_t{bytes[i]} << (8 * i);
  return wrap_int48(static_cast<int64_t>(bits));
}

/// Stores the low 48 bits of `value`, little-endian, to `bytes[0..6)`.
constexpr void store_int48(int64_t value, uint8_t* bytes) {
  for (size_t i = 0; i < kInt48Bytes; ++i) {
    bytes[i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
  }
}

}  // namespace tosaic::numeric
