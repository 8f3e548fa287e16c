// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aten/integers.h"

/// Mean, variance and normalisation over an axis of quantised values, in int32 with 15 good bits.
namespace tosaic::aten {

/// What a row of elements is like. Every number is an integer times its scale.
struct Moments {
  Value* deviation = nullptr;  ///< from the mean, or the values themselves
  double deviation_scale = 1;
  Value* squares = nullptr;  ///< their squares' sum over the axis, plus `count` * epsilon
  double squares_scale = 1;
  int64_t count = 1;
  int shift = 0;  ///< bits that each square has lost
  double epsilon = 0;
};

/// `x` has parameters `quant`. The sum counts from `epsilon` * size on. None for a size whose sums
/// leave int32.
std::optional<Moments> moments(Builder& b, Value* x, const Quant& quant, int axis,
                               bool subtract_mean, double epsilon);

/// The deviations divided by the root of the squares' mean. Of 16-bit values and of long rows the
/// squares are summed twice, the second time in steps that fit the row.
Scaled normalised(Builder& b, const Moments& moments, int axis, bool fine);

}  // namespace tosaic::aten
