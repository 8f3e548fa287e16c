// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tosaic {
namespace {

/// Ends of the part are tried at these fractions of the range.
constexpr int kFractions = 64;

/// Minima and maxima side by side, which the compiler computes several at a time.
struct Extremes {
  static constexpr size_t kLanes = 16;
  std::array<float, kLanes> low;
  std::array<float, kLanes> high;
};

std::pair<float, float> extremes(std::span<const float> values) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  Extremes e;
  e.low.fill(kInfinity);
  e.high.fill(-kInfinity);
  size_t i = 0;
  for (; i + Extremes::kLanes <= values.size(); i += Extremes::kLanes) {
    for (size_t k = 0; k < Extremes::kLanes; ++k) {
      const float v = values[i + k];
      e.low[k] = v < e.low[k] ? v : e.low[k];
      e.high[k] = v > e.high[k] ? v : e.high[k];
    }
  }
  float low = *std::ranges::min_element(e.low);
  float high = *std::ranges::max_element(e.high);
  for (; i < values.size(); ++i) {
    low = values[i] < low ? values[i] : low;
    high = values[i] > high ? values[i] : high;
  }
  return {low, high};
}

/// Exponent of the bin width with which `magnitude` falls into the outer half of a side.
int exponent_for(double magnitude) {
  return std::ilogb(magnitude) + 1 - std::ilogb(static_cast<double>(Histogram::kBins));
}

}  // namespace

void Range::include(const Range& other) {
  low = std::min(low, other.low);
  high = std::max(high, other.high);
  has_minus_infinity |= other.has_minus_infinity;
  has_plus_infinity |= other.has_plus_infinity;
}

Range range_of(std::span<const float> values) {
  const auto [low, high] = extremes(values);
  if (low > -kGreatestMagnitude && high < kGreatestMagnitude) {
    if (values.empty() || low > high) return {};
    return {low, high};
  }
  Range range;
  for (const float v : values) {
    if (v <= -kGreatestMagnitude) {
      range.has_minus_infinity = true;
    } else if (v >= kGreatestMagnitude) {
      range.has_plus_infinity = true;
    } else if (!std::isnan(v)) {
      range.low = std::min(range.low, static_cast<double>(v));
      range.high = std::max(range.high, static_cast<double>(v));
    }
  }
  return range;
}

/// Makes bins 2^(exponent - exponent_) times as wide.
void Histogram::grow(int exponent) {
  const int shift = std::min(exponent - exponent_, 30);
  std::vector<uint64_t> merged(counts_.size(), 0);
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0) continue;
    const int64_t bin = (static_cast<int64_t>(i) - kBins) >> shift;  // rounds down
    merged[static_cast<size_t>(bin + kBins)] += counts_[i];
  }
  counts_ = std::move(merged);
  exponent_ = exponent;
}

void Histogram::add(std::span<const float> values, double greatest_magnitude) {
  if (!(greatest_magnitude > 0)) greatest_magnitude = std::numeric_limits<float>::min();
  const int exponent = exponent_for(greatest_magnitude);
  if (counts_.empty()) {
    counts_.assign(2 * kBins, 0);
    exponent_ = exponent;
  } else if (exponent > exponent_) {
    grow(exponent);
  }
  const double per_width = std::ldexp(1.0, -exponent_);
  for (const float v : values) {
    if (!(std::fabs(v) < kGreatestMagnitude)) continue;
    if (v == 0) {
      ++num_exact_zeros_;
      continue;
    }
    const auto bin = static_cast<int64_t>(std::floor(static_cast<double>(v) * per_width));
    ++counts_[static_cast<size_t>(bin + kBins)];
  }
}

void Histogram::merge(const Histogram& other) {
  if (other.empty()) return;
  if (empty()) {
    *this = other;
    return;
  }
  if (other.exponent_ > exponent_) grow(other.exponent_);
  Histogram wide = other;
  if (exponent_ > wide.exponent_) wide.grow(exponent_);
  for (size_t i = 0; i < counts_.size(); ++i)
    counts_[i] += wide.counts_[i];
  num_exact_zeros_ += wide.num_exact_zeros_;
}

/// A value inside the part is rounded to a step, which costs step^2 / 12 on average; one outside
/// costs the square of its distance. 0 has a code of its own and costs nothing.
Range Histogram::best_part(const Range& range, int steps) const {
  if (empty() || !(range.low < range.high)) return range;
  const double width = std::ldexp(1.0, exponent_);
  const auto cost_below = [&](double end) {  // of cutting off what is below
    double cost = 0;
    for (size_t i = 0; i < counts_.size(); ++i) {
      const double centre = (static_cast<double>(static_cast<int64_t>(i) - kBins) + 0.5) * width;
      if (centre >= end) break;
      cost += static_cast<double>(counts_[i]) * (end - centre) * (end - centre);
    }
    return cost;
  };
  const auto cost_above = [&](double end) {
    double cost = 0;
    for (size_t i = counts_.size(); i-- > 0;) {
      const double centre = (static_cast<double>(static_cast<int64_t>(i) - kBins) + 0.5) * width;
      if (centre <= end) break;
      cost += static_cast<double>(counts_[i]) * (end - centre) * (end - centre);
    }
    return cost;
  };
  double total = 0;
  for (const uint64_t count : counts_)
    total += static_cast<double>(count);
  std::vector<double> below;
  std::vector<double> above;
  for (int i = 0; i < kFractions; ++i) {
    const double fraction = 1 - static_cast<double>(i) / kFractions;
    below.push_back(i == 0 ? 0 : cost_below(range.low * fraction));
    above.push_back(i == 0 ? 0 : cost_above(range.high * fraction));
  }
  Range best = range;
  double least = std::numeric_limits<double>::infinity();
  for (int i = 0; i < (range.low < 0 ? kFractions : 1); ++i) {
    for (int k = 0; k < (range.high > 0 ? kFractions : 1); ++k) {
      const double low = range.low * (1 - static_cast<double>(i) / kFractions);
      const double high = range.high * (1 - static_cast<double>(k) / kFractions);
      const double step = (high - low) / steps;
      const double cost =
          total * step * step / 12 + below[static_cast<size_t>(i)] + above[static_cast<size_t>(k)];
      if (cost < least) {
        least = cost;
        best.low = low;
        best.high = high;
      }
    }
  }
  return best;
}

}  // namespace tosaic
