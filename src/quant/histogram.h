// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

/// Which values a tensor had.
namespace tosaic {

/// Values from this magnitude on count as infinite: masks are made of -inf and of a type's minimum.
inline constexpr float kGreatestMagnitude = 1e30f;

/// The finite values that a tensor had.
struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  bool has_minus_infinity = false;
  bool has_plus_infinity = false;

  bool empty() const { return !(low <= high); }
  void include(const Range& other);
  bool operator==(const Range&) const = default;
};
Range range_of(std::span<const float> values);

/// Counts of values in bins of one width, a power of two that doubles when a greater magnitude
/// comes. So the counts do not depend on the order of the values: histograms of parts merge
/// exactly.
class Histogram {
 public:
  static constexpr int kBins = 2048;  ///< on each side of 0; at least half of one side is in use
  void add(std::span<const float> values, double greatest_magnitude);
  void merge(const Histogram& other);
  bool empty() const { return counts_.empty(); }
  /// The part of `range` (which includes 0) that gives the least squared error when it is divided
  /// into `steps` equal steps, and values outside are cut off.
  Range best_part(const Range& range, int steps) const;

 private:
  void grow(int exponent);

  uint64_t num_exact_zeros_ = 0;
  int exponent_ = 0;              ///< width of a bin is 2^exponent_
  std::vector<uint64_t> counts_;  ///< bin i holds [i - kBins, i - kBins + 1) * width
};

}  // namespace tosaic
