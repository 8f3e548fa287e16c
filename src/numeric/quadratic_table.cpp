// SPDX-License-Identifier: Apache-2.0
#include "numeric/quadratic_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "numeric/fixed_point.h"

namespace tosaic::numeric {
namespace {

constexpr int kWidth = 256;
constexpr double kUnit = 1 << QuadraticTable::kFractionBits;

/// Codes of the interval around 256 * h, from there: [first, last], or the input's limit that is
/// nearest to it.
struct Interval {
  int first = -kWidth / 2;
  int last = kWidth / 2 - 1;
};
Interval interval(int h, const AffineParams& in) {
  const int origin = h * kWidth;
  Interval i;
  if (h == 127) i.last = kWidth - 1;  // up to 32767
  i.first = std::min(std::max(i.first, in.qmin - origin), in.qmax - origin);
  i.last = std::max(std::min(i.last, in.qmax - origin), i.first);
  return i;
}

struct Parabola {
  double value = 0;
  double slope = 0;
  double bend = 0;
};

/// Through the function at three points where its error is small on all of the interval (the zeros
/// of Chebyshev's third polynomial).
template <typename Fn>
Parabola fit(Fn& function, const Interval& i) {
  if (i.first == i.last) return {function(i.first), 0, 0};
  const double middle = (i.first + i.last) / 2.0;
  const double reach = (i.last - i.first) / 2.0 * std::sqrt(3.0) / 2;
  const double low = function(middle - reach);
  const double centre = function(middle);
  const double high = function(middle + reach);
  const double bend = (low - 2 * centre + high) / (2 * reach * reach);
  const double slope = (high - low) / (2 * reach);
  // From the middle of the interval to l = 0.
  return {centre - slope * middle + bend * middle * middle, slope - 2 * bend * middle, bend};
}

int32_t rounded(double v, int64_t least, int64_t most) {
  return static_cast<int32_t>(
      std::clamp(std::nearbyint(v), static_cast<double>(least), static_cast<double>(most)));
}

}  // namespace

QuadraticTable make_quadratic_table(const std::function<double(double)>& fn, const AffineParams& in,
                                    const AffineParams& out) {
  constexpr double kMost = 0x1p23 - 1;
  // In 1/64 steps of the output, where 24 bits hold it.
  const auto at = [&](double code) {
    const double v = fn(code * in.scale) / out.scale * kUnit;
    return std::isnan(v) ? 0.0 : std::clamp(v, -kMost, kMost);
  };
  std::array<Parabola, QuadraticTable::kIntervals> pieces;
  QuadraticTable t;
  double steepest = 0;
  double most_bent = 0;
  for (size_t piece = 0; piece < pieces.size(); ++piece) {
    const int h = static_cast<int>(piece) - 128;
    const auto shifted = [&](double l) { return at(h * kWidth + l); };
    const Interval i = interval(h, in);
    Parabola& p = pieces[piece];
    p = fit(shifted, i);
    // What saturates anyway is flat, so that its steepness costs the others no precision.
    const auto [least, greatest] = std::minmax({shifted(i.first), shifted(i.last)});
    if (least > out.qmax * kUnit || greatest < out.qmin * kUnit) p = {least, 0, 0};
    steepest = std::max(steepest, std::abs(p.slope));
    most_bent = std::max(most_bent, std::abs(p.bend));
  }
  t.slope_scale = std::max(steepest, 1e-6) / 32767;
  t.bend_scale = std::max(most_bent / t.slope_scale, 1e-6) / 127;
  for (size_t i = 0; i < pieces.size(); ++i) {
    const Parabola& p = pieces[i];
    t.value[i] = rounded(p.value, -(1 << 23), (1 << 23) - 1);
    t.slope[i] = rounded(p.slope / t.slope_scale, -32768, 32767);
    t.bend[i] = rounded(p.bend / t.slope_scale / t.bend_scale, -128, 127);
    const int h = static_cast<int>(i) - 128;
    const Interval interval_of_h = interval(h, in);
    for (int l = interval_of_h.first; l <= interval_of_h.last; ++l) {
      const int code = h * kWidth + l;
      if (code < in.qmin || code > in.qmax) continue;
      const double slope = t.slope[i] + t.bend[i] * t.bend_scale * l;
      const auto result = [&](double v) {
        return std::clamp(v / kUnit, static_cast<double>(out.qmin), static_cast<double>(out.qmax));
      };
      const double made = result(t.value[i] + slope * t.slope_scale * l);
      t.worst = std::max(t.worst, std::abs(made - result(at(code))));
    }
  }
  return t;
}

}  // namespace tosaic::numeric
