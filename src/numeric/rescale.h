// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "numeric/fixed_point.h"

/// RESCALE of one value, and the choice of RESCALE factors for element-wise operators.
namespace tosaic::numeric {

/// Attributes of a RESCALE for one channel. Zero points and limits are plain values: an unsigned
/// type's are already zero-extended.
struct RescaleParams {
  int64_t input_zp = 0;
  int32_t multiplier = 0;
  int32_t shift = kMinScaleShift;
  int64_t output_zp = 0;
  bool scale32 = true;
  Rounding rounding = Rounding::kSingle;
  /// Range of the output type.
  int64_t out_min = std::numeric_limits<int8_t>::min();
  int64_t out_max = std::numeric_limits<int8_t>::max();
};

/// RESCALE of `value` (sign- or zero-extended from the input type; an int48 needs scale32 = false).
/// Unpredictable when the factor is invalid (value 0), when the value is out of the factor's range,
/// or when adding the output zero point overflows int32.
constexpr Checked<int64_t> rescale(int64_t value, const RescaleParams& p) {
  if (!is_valid_scale(p.multiplier, p.shift)) return {0, true};
  const int64_t centred = value - p.input_zp;
  bool unpredictable = false;
  int64_t scaled = 0;
  if (p.scale32) {
    unpredictable = !fits<int32_t>(centred) || !fits_scale_32(centred, p.shift);
    scaled = apply_scale_32(wrap<int32_t>(centred), p.multiplier, p.shift,
                            p.rounding == Rounding::kDouble);
  } else {
    if (!fits<int16_t>(p.multiplier)) return {0, true};
    const auto multiplier = static_cast<int16_t>(p.multiplier);
    unpredictable =
        !fits_scale_16(wrap_int48(centred), multiplier, p.shift) || !fits_int48(centred);
    scaled = apply_scale_16(wrap_int48(centred), multiplier, p.shift);
  }
  const int64_t sum = scaled + p.output_zp;
  unpredictable = unpredictable || !fits<int32_t>(sum);
  return {clip(wrap<int32_t>(sum), p.out_min, p.out_max), unpredictable};
}

/// Factors of an element-wise sum or difference: out = RESCALE(RESCALE(a, a) +- RESCALE(b, b),
/// out).
struct AddScales {
  Scale32 a;
  Scale32 b;
  Scale32 out;

  friend constexpr bool operator==(const AddScales&, const AddScales&) = default;
};

/// Factors for adding or subtracting int8 (or uint8) or int16 tensors of the given scales, by the
/// scheme of TensorFlow Lite's integer ADD: with m = 2 * max(scale_a, scale_b), both inputs are
/// brought to int32 with the common scale m / 2^L, that is a = scale_a * 2^L / m (at most 2^(L-1))
/// and b alike, and the sum goes back with out = m / (2^L * scale_out). L = 20 for 8 bits and 15
/// for 16 bits: the inputs keep L - 1 fraction bits, and all steps stay within the ranges that
/// apply_scale_32 asks for (int16: 2^15 * 2^14 twice is 2^30).
/// `input_bits` is 8 or 16. nullopt when a factor is not representable or when some inputs would
/// leave apply_scale_32's range: scale_out is smaller than the larger input scale by about 2^14 or
/// more, or a scale is not positive and finite.
inline std::optional<AddScales> add_scales(double scale_a, double scale_b, double scale_out,
                                           int input_bits) {
  if (!(scale_out > 0)) return std::nullopt;
  const double left_shift = input_bits == 8 ? 0x1p20 : 0x1p15;
  // int8: the value minus its zero point. int16 has no zero point.
  const int32_t highest = input_bits == 8 ? 255 : 32767;
  const int32_t lowest = input_bits == 8 ? -255 : -32768;
  const double common = 2 * std::max(scale_a, scale_b);
  const auto a = quantize_scale32(scale_a / common * left_shift);
  const auto b = quantize_scale32(scale_b / common * left_shift);
  const auto out = quantize_scale32(common / (left_shift * scale_out));
  if (!a || !b || !out) return std::nullopt;
  if (!fits_scale_32(lowest, a->shift) || !fits_scale_32(highest, a->shift)) return std::nullopt;
  if (!fits_scale_32(lowest, b->shift) || !fits_scale_32(highest, b->shift)) return std::nullopt;
  const int64_t low_a = apply_scale_32(lowest, *a);
  const int64_t low_b = apply_scale_32(lowest, *b);
  const int64_t high_a = apply_scale_32(highest, *a);
  const int64_t high_b = apply_scale_32(highest, *b);
  for (const int64_t extreme : {low_a + low_b, high_a + high_b, low_a - high_b, high_a - low_b}) {
    if (!fits_scale_32(extreme, out->shift)) return std::nullopt;
  }
  return AddScales{*a, *b, *out};
}

}  // namespace tosaic::numeric
