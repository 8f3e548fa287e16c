// SPDX-License-Identifier: Apache-2.0
#include "numeric/rescale.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace tosaic::numeric {
namespace {

constexpr int64_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int64_t kMax32 = std::numeric_limits<int32_t>::max();

RescaleParams int32_output(int32_t multiplier, int32_t shift) {
  return {.multiplier = multiplier, .shift = shift, .out_min = kMin32, .out_max = kMax32};
}

TEST(Rescale, Int8ToInt8IsTheRoundedAffineMap) {
  // Factor 3/4 exactly; ties go up.
  const RescaleParams params{.input_zp = -10, .multiplier = 3 << 29, .shift = 31, .output_zp = 20};
  for (int q = -128; q < 128; ++q) {
    const double exact = std::floor((q + 10) * 0.75 + 0.5) + 20;
    const auto result = rescale(q, params);
    EXPECT_FALSE(result.unpredictable);
    EXPECT_EQ(static_cast<double>(result.value), std::fmin(std::fmax(exact, -128), 127));
  }
}

TEST(Rescale, UnsignedOutputClipsToItsOwnRange) {
  const RescaleParams params{
      .multiplier = 1 << 30, .shift = 30, .output_zp = 128, .out_min = 0, .out_max = 255};
  EXPECT_EQ(rescale(-128, params).value, 0);
  EXPECT_EQ(rescale(-129, params).value, 0);
  EXPECT_EQ(rescale(127, params).value, 255);
  EXPECT_EQ(rescale(500, params).value, 255);
}

TEST(Rescale, OnlyDoubleRoundingNudges) {
  RescaleParams params = int32_output(1 << 30, 32);
  EXPECT_EQ(rescale(-2, params).value, 0);
  params.rounding = Rounding::kInexact;
  EXPECT_EQ(rescale(-2, params).value, 0);
  params.rounding = Rounding::kDouble;
  EXPECT_EQ(rescale(-2, params).value, -1);
}

TEST(Rescale, Int48NeedsScale16) {
  RescaleParams params = int32_output(1 << 14, 30);
  params.scale32 = false;
  // 2^31 - 2^-16 rounds up and wraps.
  EXPECT_EQ(rescale(kInt48Max, params), (Checked<int64_t>{kMin32, true}));
  EXPECT_EQ(rescale(kInt48Max - 65536, params).value, kMax32);
  EXPECT_EQ(rescale(kInt48Min, params), (Checked<int64_t>{kMin32, false}));
  params.scale32 = true;
  EXPECT_TRUE(rescale(kInt48Min, params).unpredictable);
}

TEST(Rescale, FlagsWhatTheSpecificationLeavesOpen) {
  EXPECT_TRUE(rescale(1, int32_output(-1, 31)).unpredictable);
  EXPECT_TRUE(rescale(1, int32_output(1, 1)).unpredictable);
  EXPECT_TRUE(rescale(1, int32_output(1, 63)).unpredictable);
  EXPECT_TRUE(rescale(2, int32_output(1, 2)).unpredictable);
  EXPECT_FALSE(rescale(-2, int32_output(1, 2)).unpredictable);
  RescaleParams wide = int32_output(40000, 31);
  wide.scale32 = false;
  EXPECT_TRUE(rescale(1, wide).unpredictable);
  // int32 sum with the output zero point.
  RescaleParams sum = int32_output(std::numeric_limits<int32_t>::max(), 32);
  sum.output_zp = 127;
  EXPECT_FALSE(rescale(kMax32, sum).unpredictable);
  RescaleParams wrap = int32_output(1 << 14, 14);
  wrap.scale32 = false;
  wrap.output_zp = 1;
  EXPECT_TRUE(rescale(kMax32, wrap).unpredictable);
}

TEST(AddScales, EqualInputScalesAreHalfOfTheCommonOne) {
  const auto int8 = add_scales(1.0, 1.0, 2.0, 8);
  ASSERT_TRUE(int8.has_value());
  // 2^20 / 2; 2 / (2^20 * 2).
  EXPECT_EQ(*int8, (AddScales{{1 << 30, 11}, {1 << 30, 11}, {1 << 30, 50}}));
  const auto int16 = add_scales(0.25, 0.125, 0.25, 16);
  ASSERT_TRUE(int16.has_value());
  // 2^15 / 2, half of that, 0.5 / (2^15 * 0.25).
  EXPECT_EQ(*int16, (AddScales{{1 << 30, 16}, {1 << 30, 17}, {1 << 30, 44}}));
}

TEST(AddScales, EverySumOfInt8IsTheNearestInteger) {
  const double scale_a = 0.1;
  const double scale_b = 0.0437;
  const double scale_out = 0.1291;
  const int zp_a = 7;
  const int zp_b = -100;
  const int zp_out = 3;
  const auto scales = add_scales(scale_a, scale_b, scale_out, 8);
  ASSERT_TRUE(scales.has_value());
  const auto in_params = [](Scale32 s, int zp) {
    RescaleParams params = int32_output(s.multiplier, s.shift);
    params.input_zp = zp;
    return params;
  };
  const RescaleParams out_params{
      .multiplier = scales->out.multiplier, .shift = scales->out.shift, .output_zp = zp_out};
  for (int a = -128; a < 128; ++a) {
    for (int b = -128; b < 128; ++b) {
      const auto wide_a = rescale(a, in_params(scales->a, zp_a));
      const auto wide_b = rescale(b, in_params(scales->b, zp_b));
      const auto sum = rescale(wide_a.value + wide_b.value, out_params);
      ASSERT_FALSE(wide_a.unpredictable || wide_b.unpredictable || sum.unpredictable);
      const double exact = ((a - zp_a) * scale_a + (b - zp_b) * scale_b) / scale_out + zp_out;
      const double clipped = std::fmin(std::fmax(exact, -128), 127);
      // The inputs are rounded to 2^-19 of the common unit first.
      ASSERT_LE(std::fabs(static_cast<double>(sum.value) - clipped), 0.5 + 1e-5);
    }
  }
}

TEST(AddScales, Int16ExtremesStayDefined) {
  const auto scales = add_scales(1.0, 1.0, 1.0, 16);
  ASSERT_TRUE(scales.has_value());
  for (const int64_t q : {int64_t{-32768}, int64_t{32767}}) {
    const auto wide = rescale(q, int32_output(scales->a.multiplier, scales->a.shift));
    ASSERT_FALSE(wide.unpredictable);
    EXPECT_EQ(wide.value, q * 16384);
    const auto sum =
        rescale(2 * wide.value, int32_output(scales->out.multiplier, scales->out.shift));
    ASSERT_FALSE(sum.unpredictable);
    EXPECT_EQ(sum.value, 2 * q);
  }
}

TEST(AddScales, RejectsScalesThatDoNotFit) {
  EXPECT_FALSE(add_scales(1.0, 1.0, 1e-5, 16).has_value());
  EXPECT_TRUE(add_scales(1.0, 1.0, 1e-4, 16).has_value());
  EXPECT_FALSE(add_scales(1.0, 1.0, 1e-9, 8).has_value());
  EXPECT_FALSE(add_scales(0.0, 0.0, 1.0, 8).has_value());
  EXPECT_FALSE(add_scales(-1.0, -1.0, -1.0, 8).has_value());
  EXPECT_FALSE(add_scales(1.0, 1.0, 0.0, 8).has_value());
  EXPECT_FALSE(add_scales(1.0, std::nan(""), 1.0, 8).has_value());
}

}  // namespace
}  // namespace tosaic::numeric
