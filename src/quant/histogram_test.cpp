// SPDX-License-Identifier: Apache-2.0
#include "quant/histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace tosaic {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

std::vector<float> normal_values(size_t count, float deviation, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<float> values(count);
  for (float& v : values)
    v = normal(generator);
  return values;
}

double magnitude(std::span<const float> values) {
  const Range range = range_of(values);
  return std::max(std::fabs(range.low), std::fabs(range.high));
}

/// Mean squared error of int8 codes for `range`, computed value by value.
double squared_error(std::span<const float> values, const Range& range) {
  const double scale = (range.high - range.low) / 255;
  const double zero = std::nearbyint(-range.low / scale);
  double sum = 0;
  for (const float v : values) {
    const double code = std::clamp(std::nearbyint(v / scale) + zero, 0.0, 255.0);
    sum += std::pow((code - zero) * scale - v, 2);
  }
  return sum / static_cast<double>(values.size());
}

TEST(RangeOf, IsTheLeastAndTheGreatestFiniteValue) {
  const std::vector<float> values = normal_values(1003, 2, 1);
  const Range range = range_of(values);
  EXPECT_EQ(range.low, *std::ranges::min_element(values));
  EXPECT_EQ(range.high, *std::ranges::max_element(values));
  EXPECT_FALSE(range.has_minus_infinity || range.has_plus_infinity);
}

TEST(RangeOf, LeavesOutInfinitiesAndNotANumber) {
  const float values[] = {
      1, -kInfinity, 3, std::nanf(""), -2, std::numeric_limits<float>::lowest()};
  const Range range = range_of(values);
  EXPECT_EQ(range.low, -2);
  EXPECT_EQ(range.high, 3);
  EXPECT_TRUE(range.has_minus_infinity);
  EXPECT_FALSE(range.has_plus_infinity);
}

TEST(RangeOf, NothingIsEmpty) {
  const float nan = std::nanf("");
  EXPECT_TRUE(range_of({}).empty());
  EXPECT_TRUE(range_of({&nan, 1}).empty());
  EXPECT_TRUE(range_of({&kInfinity, 1}).empty());
}

TEST(Histogram, PartsMergeToTheWholeInAnyOrder) {
  const std::vector<float> small = normal_values(500, 0.01F, 1);
  const std::vector<float> large = normal_values(500, 100, 2);
  Histogram one;
  one.add(small, magnitude(small));
  one.add(large, magnitude(large));
  Histogram other;
  other.add(large, magnitude(large));
  other.add(small, magnitude(small));
  Histogram left;
  left.add(small, magnitude(small));
  Histogram right;
  right.add(large, magnitude(large));
  left.merge(right);
  const Range range{-400, 400};
  const Range expected = one.best_part(range, 255);
  EXPECT_EQ(other.best_part(range, 255), expected);
  EXPECT_EQ(left.best_part(range, 255), expected);
}

TEST(Histogram, BestPartHasALeastError) {
  std::vector<float> values = normal_values(200000, 1, 3);
  values.push_back(40);  // the codes for this one would make all others coarse
  const Range whole = range_of(values);
  Histogram histogram;
  histogram.add(values, magnitude(values));
  const Range best = histogram.best_part(whole, 255);
  EXPECT_LT(best.high, 35);
  double least = squared_error(values, whole);
  for (int i = 1; i < 60; ++i) {
    const double fraction = 1 - i / 60.0;
    least = std::min(least, squared_error(values, {whole.low, whole.high * fraction}));
  }
  EXPECT_LE(squared_error(values, best), 1.05 * least);
}

TEST(Histogram, ZerosAndOneValueGiveTheWholeRange) {
  const std::vector<float> ones(100, 1.0F);
  Histogram histogram;
  histogram.add(ones, 1);
  EXPECT_EQ(histogram.best_part({0, 1}, 255), (Range{0, 1}));
  const std::vector<float> zeros(100, 0.0F);
  Histogram empty;
  empty.add(zeros, 0);
  EXPECT_EQ(empty.best_part({0, 0}, 255), (Range{0, 0}));
}

}  // namespace
}  // namespace tosaic
