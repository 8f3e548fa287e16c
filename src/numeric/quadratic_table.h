// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "numeric/quantize.h"

/// Functions of 16-bit values by tables of 8 bits, for processors without an int16 TABLE.
namespace tosaic::numeric {

/// A function of int16 codes as a parabola on each of 256 intervals. With h = round(q / 256),
/// limited to 127, and l = q - 256 h, which is below 256, the result in steps of 1/64 is
///
///   value[h] + RESCALE((slope[h] + RESCALE(bend[h] * l, bend_scale)) * l, slope_scale)
struct QuadraticTable {
  static constexpr int kIntervals = 256;
  static constexpr int kFractionBits = 6;
  std::array<int32_t, kIntervals> value{};  ///< 24 bits
  std::array<int32_t, kIntervals> slope{};  ///< 16 bits
  std::array<int32_t, kIntervals> bend{};   ///< 8 bits
  double bend_scale = 1;                    ///< steps of a bend in steps of a slope
  double slope_scale = 1;                   ///< steps of a slope in 1/64
  double worst = 0;  ///< greatest difference from the function, in steps of the output
};

/// Parabolas of a function between the parameters of two int16 values, with zero point 0. The
/// function may leave the output's range, but not be infinite where an input code is.
QuadraticTable make_quadratic_table(const std::function<double(double)>& fn, const AffineParams& in,
                                    const AffineParams& out);

}  // namespace tosaic::numeric
