// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>

/// binary16 (f16), bfloat16 (bf16) and the 8-bit floats as bit patterns. Narrowing rounds to
/// nearest, ties to even, overflows to infinity and keeps subnormals. A NaN stays a NaN: narrowing
/// keeps sign and the top payload bits and makes it quiet; widening keeps every bit, so it is
/// lossless.
namespace tosaic::numeric {

namespace internal {
inline constexpr uint32_t kF32Infinity = 0x7f800000;
inline constexpr uint32_t kF32Abs = 0x7fffffff;
/// Difference of the exponent biases of f32 and f16, at f32's exponent field.
inline constexpr uint32_t kF16Rebias = uint32_t{127 - 15} << 23;
}  // namespace internal

constexpr uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000;
  const uint32_t abs = bits & internal::kF32Abs;
  uint32_t half = 0;
  if (abs > internal::kF32Infinity) {
    half = 0x7e00 | ((abs >> 13) & 0x3ff);
  } else if (abs >= 0x477ff000) {  // 65520, half way between the largest f16 and 2^16
    half = 0x7c00;
  } else if (abs >= 0x38800000) {  // 2^-14, the smallest normal f16
    half = (abs - internal::kF16Rebias + 0xfff + ((abs >> 13) & 1)) >> 13;
  } else if (abs > 0x33000000) {  // 2^-25, which ties to zero
    // The significand counted in units of 2^-24. A carry into the exponent field gives the smallest
    // normal.
    const uint32_t shift = 126 - (abs >> 23);
    const uint32_t significand = (abs & 0x7fffff) | 0x800000;
    const uint32_t odd = (significand >> shift) & 1;
    half = (significand + (uint32_t{1} << (shift - 1)) - 1 + odd) >> shift;
  }
  return static_cast<uint16_t>(sign | half);
}

constexpr float f16_to_f32(uint16_t half) {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t abs = half & 0x7fffu;
  uint32_t bits = 0;
  if (abs >= 0x7c00) {
    bits = internal::kF32Infinity | (abs << 13);
  } else if (abs >= 0x0400) {
    bits = (abs << 13) + internal::kF16Rebias;
  } else {
    bits = std::bit_cast<uint32_t>(static_cast<float>(abs) * 0x1p-24f);
  }
  return std::bit_cast<float>(sign | bits);
}

constexpr uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & internal::kF32Abs) > internal::kF32Infinity) {
    return static_cast<uint16_t>((bits >> 16) | 0x0040);
  }
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

constexpr float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(uint32_t{bits} << 16);
}

/// An 8-bit float: e5m2 has infinities, e4m3 has not and overflows to its largest number.
struct Float8 {
  int mantissa_bits;
  bool has_infinity;

  [[nodiscard]] constexpr int bias() const { return (1 << (6 - mantissa_bits)) - 1; }
  /// What too large a number becomes; every greater pattern is a NaN.
  [[nodiscard]] constexpr uint32_t top() const { return has_infinity ? 0x7c : 0x7e; }
};
inline constexpr Float8 kF8E4M3{.mantissa_bits = 3, .has_infinity = false};
inline constexpr Float8 kF8E5M2{.mantissa_bits = 2, .has_infinity = true};

constexpr uint8_t f32_to_f8(float value, Float8 format) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 24) & 0x80;
  const uint32_t abs = bits & internal::kF32Abs;
  if (abs > internal::kF32Infinity) {
    return static_cast<uint8_t>(sign | (format.has_infinity ? 0x7e : 0x7f));
  }
  const int exponent = static_cast<int>(abs >> 23) - 127;
  const int least = 1 - format.bias();  // of a normal number
  // The significand counted in units of the last place; a carry goes on into the exponent field.
  const int shift = 23 - format.mantissa_bits + std::max(0, least - exponent);
  uint32_t code = 0;
  if (shift <= 24) {
    const uint32_t significand = (abs & 0x7fffff) | 0x800000;
    const uint32_t odd = (significand >> shift) & 1;
    const auto field = static_cast<uint32_t>(std::max(exponent, least) - least);
    code = (field << format.mantissa_bits) +
           ((significand + (uint32_t{1} << (shift - 1)) - 1 + odd) >> shift);
  }
  return static_cast<uint8_t>(sign | std::min(code, format.top()));
}

constexpr float f8_to_f32(uint8_t bits, Float8 format) {
  const uint32_t sign = uint32_t{bits & 0x80u} << 24;
  const uint32_t abs = bits & 0x7fu;
  if (format.has_infinity && abs == format.top()) {
    return std::bit_cast<float>(sign | internal::kF32Infinity);
  }
  if (abs > format.top()) return std::bit_cast<float>(sign | 0x7fc00000);
  const uint32_t mantissa = abs & ((1u << format.mantissa_bits) - 1);
  const uint32_t field = abs >> format.mantissa_bits;
  const uint32_t units = field == 0 ? mantissa : mantissa | 1u << format.mantissa_bits;
  const int exponent = static_cast<int>(std::max(field, 1u)) - format.bias() - format.mantissa_bits;
  const float place = std::bit_cast<float>(static_cast<uint32_t>(exponent + 127) << 23);
  const float value = static_cast<float>(units) * place;
  return sign != 0 ? -value : value;
}

/// `value` rounded to the nearest f16 or bf16, still as a float: how TOSA's reference holds narrow
/// floats.
constexpr float round_to_f16(float value) {
  return f16_to_f32(f32_to_f16(value));
}
constexpr float round_to_bf16(float value) {
  return bf16_to_f32(f32_to_bf16(value));
}

}  // namespace tosaic::numeric
