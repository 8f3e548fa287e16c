// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <type_traits>

#include "tosa/attrs.h"

/// Maximum and minimum as the specification's apply_max_s and apply_min_s: with NaNs by the mode,
/// and the first operand for equal values in a maximum, the second in a minimum.
namespace tosaic::tosa {

template <typename T>
T max_of(T a, T b, NanMode mode) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      if (mode == NanMode::kPropagate) return std::numeric_limits<T>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
  }
  return a >= b ? a : b;
}

template <typename T>
T min_of(T a, T b, NanMode mode) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) {
      if (mode == NanMode::kPropagate) return std::numeric_limits<T>::quiet_NaN();
      return std::isnan(a) ? b : a;
    }
  }
  return a < b ? a : b;
}

/// Where a running maximum (minimum) starts: NaN when NaNs are ignored, so that only NaNs give NaN.
template <typename T>
T max_start(NanMode mode) {
  if constexpr (std::is_floating_point_v<T>) {
    return mode == NanMode::kIgnore ? std::numeric_limits<T>::quiet_NaN()
                                    : -std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::min();
  }
}

template <typename T>
T min_start(NanMode mode) {
  if constexpr (std::is_floating_point_v<T>) {
    return mode == NanMode::kIgnore ? std::numeric_limits<T>::quiet_NaN()
                                    : std::numeric_limits<T>::infinity();
  } else {
    return std::numeric_limits<T>::max();
  }
}

}  // namespace tosaic::tosa
