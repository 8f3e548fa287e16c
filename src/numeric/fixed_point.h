// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

/// Integer arithmetic of TOSA ("Functional and test code" of the specification, integer part; the
/// text is the same in 0.80, 1.0 and 1.1). Every integer result that any part of the compiler
/// computes comes from this folder.
///
/// Hot functions have preconditions instead of checks. The matching predicate (`is_valid_...`,
/// `fits...`) tells whether the specification defines the result; where it does not, TOSA calls the
/// result unpredictable.
namespace tosaic::numeric {

// ---- ranges ----

inline constexpr int64_t kInt48Max = (int64_t{1} << 47) - 1;
inline constexpr int64_t kInt48Min = -(int64_t{1} << 47);

/// A result together with the specification's verdict: when `unpredictable`, a REQUIRE of the
/// specification failed and `value` is what two's complement arithmetic gives (or 0 where there is
/// no such value).
template <typename T>
struct Checked {
  T value{};
  bool unpredictable = false;

  friend constexpr bool operator==(const Checked&, const Checked&) = default;
};

/// Whether `value` is representable in T.
template <std::integral T>
constexpr bool fits(int64_t value) {
  if constexpr (std::same_as<T, uint64_t>) {
    return value >= 0;
  } else {
    return value >= static_cast<int64_t>(std::numeric_limits<T>::min()) &&
           value <= static_cast<int64_t>(std::numeric_limits<T>::max());
  }
}

constexpr bool fits_int48(int64_t value) {
  return value >= kInt48Min && value <= kInt48Max;
}

/// `value` limited to [lo, hi]; lo <= hi.
constexpr int64_t clip(int64_t value, int64_t lo, int64_t hi) {
  return value < lo ? lo : (value > hi ? hi : value);
}

/// `value` limited to the range of T.
template <std::integral T>
constexpr T saturate(int64_t value) {
  static_assert(sizeof(T) < 8, "64-bit saturation is the identity or needs a wider input");
  return static_cast<T>(
      clip(value, int64_t{std::numeric_limits<T>::min()}, int64_t{std::numeric_limits<T>::max()}));
}

/// The low bits of `value` (TOSA's truncate): never undefined behaviour, unlike arithmetic on a
/// signed type.
template <std::integral T>
constexpr T wrap(int64_t value) {
  return static_cast<T>(static_cast<uint64_t>(value));
}

/// The low 48 bits of `value`, sign-extended.
constexpr int64_t wrap_int48(int64_t value) {
  return static_cast<int64_t>(static_cast<uint64_t>(value) << 16) >> 16;
}

constexpr int64_t saturate_int48(int64_t value) {
  return clip(value, kInt48Min, kInt48Max);
}

// Wrapping arithmetic. The detour over uint64_t is right for every T up to 64 bits and also avoids
// the promotion of 16-bit unsigned products to signed int.

template <std::integral T>
constexpr T wrap_add(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

template <std::integral T>
constexpr T wrap_sub(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}

template <std::integral T>
constexpr T wrap_mul(T a, T b) {
  return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

template <std::integral T>
constexpr T wrap_neg(T a) {
  return wrap_sub<T>(T{0}, a);
}

// ---- shifts and divisions ----

/// Round half up: floor(v / 2^shift + 1/2), for any v (the textbook `v + (1 << (shift - 1))`
/// overflows near the maximum). 0 <= shift <= 63.
constexpr int64_t rounding_shift(int64_t v, int shift) {
  return shift == 0 ? v : (v >> shift) + ((v >> (shift - 1)) & 1);
}

/// ARITHMETIC_RIGHT_SHIFT is defined for shifts in [0, bits of T).
template <std::signed_integral T>
constexpr bool is_valid_shift(int64_t shift) {
  return shift >= 0 && shift < static_cast<int64_t>(8 * sizeof(T));
}

/// ARITHMETIC_RIGHT_SHIFT: v >> shift; with `round` plus the last bit that was shifted out. 0 <=
/// shift < bits of T.
template <std::signed_integral T>
constexpr T arithmetic_right_shift(T v, int shift, bool round) {
  const int64_t wide = v;
  return static_cast<T>(round ? rounding_shift(wide, shift) : wide >> shift);
}

/// LOGICAL_RIGHT_SHIFT: zeros come in from the left. 0 <= shift < bits of T.
template <std::signed_integral T>
constexpr T logical_right_shift(T v, int shift) {
  return static_cast<T>(static_cast<std::make_unsigned_t<T>>(v) >> shift);
}

/// LOGICAL_LEFT_SHIFT: bits leave on the left without saturation. 0 <= shift < bits of T.
template <std::signed_integral T>
constexpr T logical_left_shift(T v, int shift) {
  return static_cast<T>(static_cast<uint64_t>(v) << shift);
}

/// MUL of int32 with a result shift in [0, 63]. shift > 0: the 64-bit product, rounded half up,
/// which must fit int32. shift == 0: the low 32 bits of the product, always defined. The 64-bit sum
/// wraps for minimum * minimum >> 63 alone, where the reference model, too, gives -1 instead of 1.
constexpr Checked<int32_t> mul_shift(int32_t a, int32_t b, int shift) {
  const int64_t product = int64_t{a} * int64_t{b};
  if (shift == 0) return {wrap<int32_t>(product), false};
  if (shift < 0 || shift > 63) return {0, true};
  const int64_t result = wrap_add(product, int64_t{1} << (shift - 1)) >> shift;
  return {wrap<int32_t>(result), !fits<int32_t>(result)};
}

/// INTDIV: the quotient truncated toward zero. Unpredictable for b == 0 (value 0) and for minimum /
/// -1 (value minimum).
constexpr Checked<int32_t> intdiv(int32_t a, int32_t b) {
  if (b == 0) return {0, true};
  if (b == -1) return {wrap_neg(a), a == std::numeric_limits<int32_t>::min()};
  return {a / b, false};
}

/// CLZ: number of leading zero bits; clz(0) is the width of T.
template <std::signed_integral T>
constexpr int clz(T v) {
  return std::countl_zero(static_cast<std::make_unsigned_t<T>>(v));
}

// ---- scaling ----

/// RESCALE's rounding modes. kInexact permits an implementation a small error; here it always gives
/// the kSingle result, which meets its bound.
enum class Rounding : uint8_t { kSingle, kInexact, kDouble };

inline constexpr int kMinScaleShift = 2;
inline constexpr int kMaxScaleShift = 62;

/// The real factor multiplier * 2^-shift, for scale32 = true. multiplier >= 0, shift in [2, 62].
struct Scale32 {
  int32_t multiplier = 0;
  int8_t shift = kMinScaleShift;

  friend constexpr bool operator==(const Scale32&, const Scale32&) = default;
};

/// The real factor multiplier * 2^-shift, for scale32 = false. multiplier >= 0, shift in [2, 62].
struct Scale16 {
  int16_t multiplier = 0;
  int8_t shift = kMinScaleShift;

  friend constexpr bool operator==(const Scale16&, const Scale16&) = default;
};

namespace internal {

struct Mantissa {
  int64_t multiplier;
  int shift;
};

/// `scale` as an integer of `bits` significant bits and a shift of at most 62.
inline std::optional<Mantissa> split_scale(double scale, int bits) {
  if (!std::isfinite(scale) || !(scale > 0)) return std::nullopt;
  int exponent = 0;
  const double fraction = std::frexp(scale, &exponent);  // in [1/2, 1)
  int shift = bits - exponent;
  const int kept_bits = shift > kMaxScaleShift ? bits - (shift - kMaxScaleShift) : bits;
  if (shift > kMaxScaleShift) shift = kMaxScaleShift;
  // Both products are exact: a power of two times a double far from the ends of its range.
  double multiplier = kept_bits < 0 ? 0 : std::round(std::ldexp(fraction, kept_bits));
  if (multiplier == std::ldexp(1.0, bits)) {  // rounded up to the next power of two
    multiplier /= 2;
    --shift;
  }
  if (shift < kMinScaleShift) return std::nullopt;
  return Mantissa{static_cast<int64_t>(multiplier), shift};
}

}  // namespace internal

/// The nearest scale32 factor to `scale`, ties away from zero.
/// - Normally the multiplier is in [2^30, 2^31), so the relative error is at most 2^-31.
/// - Below 2^-32 the shift stays at 62 and the multiplier loses bits, down to 0 below 2^-63. TOSA
/// permits any multiplier
///   >= 0, and the absolute error of a product with an int32 stays below 1/2.
/// - nullopt for a scale that needs a shift below 2 (about 2^29 and more), and for 0, negative,
/// infinite and NaN scales. The factor alone does not make a RESCALE defined: see fits_scale_32()
/// for the range of the values.
inline std::optional<Scale32> quantize_scale32(double scale) {
  const auto parts = internal::split_scale(scale, 31);
  if (!parts) return std::nullopt;
  return Scale32{static_cast<int32_t>(parts->multiplier), static_cast<int8_t>(parts->shift)};
}

/// The nearest scale16 factor to `scale`: as quantize_scale32() with multipliers in [2^14, 2^15)
/// (relative error at most 2^-15), full precision down to 2^-48, nullopt from about 2^13 on.
inline std::optional<Scale16> quantize_scale16(double scale) {
  const auto parts = internal::split_scale(scale, 15);
  if (!parts) return std::nullopt;
  return Scale16{static_cast<int16_t>(parts->multiplier), static_cast<int8_t>(parts->shift)};
}

/// The exact real value of a factor.
inline double to_double(Scale32 s) {
  return std::ldexp(static_cast<double>(s.multiplier), -s.shift);
}
inline double to_double(Scale16 s) {
  return std::ldexp(static_cast<double>(s.multiplier), -s.shift);
}

/// Whether the specification accepts the factor at all, whatever the value.
constexpr bool is_valid_scale(int64_t multiplier, int64_t shift) {
  return multiplier >= 0 && shift >= kMinScaleShift && shift <= kMaxScaleShift;
}

/// Whether apply_scale_32() is defined for `value`: -2^(shift-1) <= value < 2^(shift-1). This also
/// makes the result fit int32.
constexpr bool fits_scale_32(int64_t value, int shift) {
  const int64_t limit = int64_t{1} << (shift - 1);
  return value >= -limit && value < limit;
}

/// apply_scale_32 of the specification: value * multiplier * 2^-shift rounded half up; with
/// `double_round` and shift > 31 the value is nudged by half a unit of the 31-bit intermediate away
/// from zero first. Requires a valid scale; outside fits_scale_32() the low 32 bits come out.
constexpr int32_t apply_scale_32(int32_t value, int32_t multiplier, int shift, bool double_round) {
  int64_t round = int64_t{1} << (shift - 1);
  if (double_round && shift > 31) round += value >= 0 ? int64_t{1} << 30 : -(int64_t{1} << 30);
  return wrap<int32_t>((int64_t{value} * int64_t{multiplier} + round) >> shift);
}

constexpr int32_t apply_scale_32(int32_t value, Scale32 scale, bool double_round = false) {
  return apply_scale_32(value, scale.multiplier, scale.shift, double_round);
}

/// The full-width result of apply_scale_16: value is an int48, so 2^47 * 2^15 + 2^61 cannot
/// overflow.
constexpr int64_t apply_scale_16_wide(int64_t value48, int16_t multiplier, int shift) {
  return (value48 * int64_t{multiplier} + (int64_t{1} << (shift - 1))) >> shift;
}

/// Whether apply_scale_16() is defined: an int48 value whose result fits int32.
constexpr bool fits_scale_16(int64_t value, int16_t multiplier, int shift) {
  return fits_int48(value) && fits<int32_t>(apply_scale_16_wide(value, multiplier, shift));
}

/// apply_scale_16 of the specification: an int48 times multiplier * 2^-shift, rounded half up.
/// Requires a valid scale and fits_int48(value); outside fits_scale_16() the low 32 bits come out.
constexpr int32_t apply_scale_16(int64_t value48, int16_t multiplier, int shift) {
  return wrap<int32_t>(apply_scale_16_wide(value48, multiplier, shift));
}

constexpr int32_t apply_scale_16(int64_t value48, Scale16 scale) {
  return apply_scale_16(value48, scale.multiplier, scale.shift);
}

/// AVG_POOL2D's factor for 1 / count (the specification's reciprocal_scale). 1 <= count <= 2^30.
/// Apply it with apply_scale_32 and single rounding.
constexpr Scale32 avg_pool_scale(int32_t count) {
  const int k = 32 - clz<int32_t>(count - 1);
  const int64_t numerator = ((int64_t{1} << 30) + 1) << k;
  return {static_cast<int32_t>(numerator / count), static_cast<int8_t>(30 + k)};
}

}  // namespace tosaic::numeric
