// SPDX-License-Identifier: Apache-2.0
#include "numeric/fixed_point.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace tosaic::numeric {
namespace {

constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();

__extension__ using Wide = __int128;

/// floor((n + d / 2) / d) by division instead of shifts, for d a positive power of two.
Wide divide_round_half_up(Wide n, Wide d) {
  const Wide doubled = 2 * n + d;
  Wide quotient = doubled / (2 * d);
  if (doubled % (2 * d) < 0) quotient -= 1;
  return quotient;
}

/// A value of random magnitude, so that small and large ones are equally likely.
int64_t random_value(std::mt19937_64& rng, int max_bits) {
  const int bits = static_cast<int>(rng() % static_cast<uint64_t>(max_bits)) + 1;
  return static_cast<int64_t>(rng()) >> (64 - bits);
}

TEST(FixedPoint, RangesAndSaturation) {
  EXPECT_TRUE(fits<int8_t>(-128));
  EXPECT_FALSE(fits<int8_t>(128));
  EXPECT_FALSE(fits<uint16_t>(-1));
  EXPECT_TRUE(fits<uint16_t>(65535));
  EXPECT_TRUE(fits<uint32_t>(4294967295));
  EXPECT_TRUE(fits<int64_t>(std::numeric_limits<int64_t>::min()));
  EXPECT_TRUE(fits_int48(140737488355327));
  EXPECT_FALSE(fits_int48(140737488355328));
  EXPECT_TRUE(fits_int48(-140737488355328));
  EXPECT_EQ(saturate<int8_t>(1000), 127);
  EXPECT_EQ(saturate<int8_t>(-1000), -128);
  EXPECT_EQ(saturate<uint8_t>(-1), 0);
  EXPECT_EQ(saturate<int32_t>(int64_t{1} << 40), kMax32);
  EXPECT_EQ(saturate_int48(int64_t{1} << 50), 140737488355327);
}

TEST(FixedPoint, NarrowingKeepsTheLowBits) {
  // CAST figures of the reference model.
  EXPECT_EQ(wrap<int8_t>(128), -128);
  EXPECT_EQ(wrap<int8_t>(1000), -24);
  EXPECT_EQ(wrap_int48(140737488355328), -140737488355328);
  EXPECT_EQ(wrap_int48(-140737488355329), 140737488355327);
  EXPECT_EQ(wrap_int48(-1), -1);
}

TEST(FixedPoint, WrappingArithmeticMatchesWideArithmetic) {
  std::mt19937_64 rng(1);
  for (int i = 0; i < 20000; ++i) {
    const auto a = static_cast<int32_t>(rng());
    const auto b = static_cast<int32_t>(rng());
    EXPECT_EQ(wrap_add(a, b), static_cast<int32_t>(int64_t{a} + b));
    EXPECT_EQ(wrap_sub(a, b), static_cast<int32_t>(int64_t{a} - b));
    EXPECT_EQ(wrap_mul(a, b), static_cast<int32_t>(int64_t{a} * b));
  }
  EXPECT_EQ(wrap_neg(kMin32), kMin32);
  EXPECT_EQ(wrap_mul<int16_t>(-32768, -32768), 0);
  EXPECT_EQ(wrap_mul<uint16_t>(65535, 65535), 1);
}

TEST(FixedPoint, ArithmeticRightShiftRoundsHalfUp) {
  for (int v = -128; v < 128; ++v) {
    for (int shift = 0; shift < 8; ++shift) {
      const double exact = std::ldexp(v, -shift);
      const auto value = static_cast<int8_t>(v);
      EXPECT_EQ(arithmetic_right_shift(value, shift, false), std::floor(exact));
      EXPECT_EQ(arithmetic_right_shift(value, shift, true), std::floor(exact + 0.5));
    }
  }
  EXPECT_EQ(arithmetic_right_shift(kMax32, 1, true), 1 << 30);
  EXPECT_TRUE(is_valid_shift<int16_t>(15));
  EXPECT_FALSE(is_valid_shift<int16_t>(16));
  EXPECT_FALSE(is_valid_shift<int16_t>(-1));
}

TEST(FixedPoint, LogicalShiftsFillWithZeros) {
  EXPECT_EQ(logical_right_shift<int8_t>(-1, 4), 15);
  EXPECT_EQ(logical_right_shift<int16_t>(-32768, 15), 1);
  EXPECT_EQ(logical_right_shift(kMin32, 31), 1);
  EXPECT_EQ(logical_left_shift<int8_t>(0x41, 1), -126);
  EXPECT_EQ(logical_left_shift<int32_t>(-1, 31), kMin32);
}

TEST(FixedPoint, MulShiftMatchesWideArithmetic) {
  std::mt19937_64 rng(2);
  for (int shift = 1; shift <= 63; ++shift) {
    for (int i = 0; i < 500; ++i) {
      const auto a = static_cast<int32_t>(random_value(rng, 32));
      const auto b = static_cast<int32_t>(random_value(rng, 32));
      const Wide expected = divide_round_half_up(Wide{a} * b, Wide{1} << shift);
      const auto result = mul_shift(a, b, shift);
      EXPECT_EQ(result.unpredictable, expected < kMin32 || expected > kMax32);
      EXPECT_EQ(result.value, static_cast<int32_t>(static_cast<int64_t>(expected)));
    }
  }
  EXPECT_EQ(mul_shift(65536, 65537, 0), (Checked<int32_t>{65536, false}));
  EXPECT_EQ(mul_shift(kMin32, kMin32, 62), (Checked<int32_t>{1, false}));
  EXPECT_EQ(mul_shift(kMin32, kMin32, 63), (Checked<int32_t>{-1, false}));  // reference model
  EXPECT_TRUE(mul_shift(1, 1, 64).unpredictable);
  EXPECT_TRUE(mul_shift(1, 1, -1).unpredictable);
}

TEST(FixedPoint, IntdivTruncatesAndFlagsTheUndefined) {
  EXPECT_EQ(intdiv(7, 2).value, 3);
  EXPECT_EQ(intdiv(-7, 2).value, -3);
  EXPECT_EQ(intdiv(7, -2).value, -3);
  EXPECT_FALSE(intdiv(kMin32, 1).unpredictable);
  EXPECT_EQ(intdiv(kMax32, -1), (Checked<int32_t>{-kMax32, false}));
  EXPECT_TRUE(intdiv(3, 0).unpredictable);
  EXPECT_TRUE(intdiv(kMin32, -1).unpredictable);
}

TEST(FixedPoint, ClzOfZeroIsTheWidth) {
  EXPECT_EQ(clz<int32_t>(0), 32);
  EXPECT_EQ(clz<int32_t>(1), 31);
  EXPECT_EQ(clz<int32_t>(-1), 0);
  EXPECT_EQ(clz<int64_t>(0), 64);
}

TEST(FixedPoint, ApplyScale32MatchesWideArithmetic) {
  std::mt19937_64 rng(3);
  for (int shift = kMinScaleShift; shift <= kMaxScaleShift; ++shift) {
    for (int i = 0; i < 2000; ++i) {
      const auto value = static_cast<int32_t>(random_value(rng, shift < 32 ? shift : 32));
      const auto multiplier = static_cast<int32_t>(rng() >> 33);
      ASSERT_TRUE(fits_scale_32(value, shift));
      const Wide product = Wide{value} * multiplier;
      const Wide unit = Wide{1} << shift;
      const Wide single = divide_round_half_up(product, unit);
      EXPECT_EQ(apply_scale_32(value, multiplier, shift, false), single);
      const Wide nudge = shift > 31 ? (value >= 0 ? 1 : -1) * (Wide{1} << 30) : 0;
      EXPECT_EQ(apply_scale_32(value, multiplier, shift, true),
                divide_round_half_up(product + nudge, unit));
    }
  }
}

TEST(FixedPoint, ApplyScale32AtTheEdges) {
  // The extremes of the permitted range with the largest multiplier still fit int32.
  EXPECT_EQ(apply_scale_32(-2, kMax32, 2, false), -1073741823);  // of -1073741823.5
  EXPECT_EQ(apply_scale_32(kMin32, kMax32, 62, true), -1);
  EXPECT_EQ(apply_scale_32(kMax32, kMax32, 62, true), 1);
  EXPECT_EQ(apply_scale_32(kMin32, kMax32, 32, false), -1073741823);
  // 0.5 rounds up, -0.5 rounds up to 0; double rounding sends the latter to -1.
  EXPECT_EQ(apply_scale_32(1, 1 << 30, 31, false), 1);
  EXPECT_EQ(apply_scale_32(-1, 1 << 30, 31, false), 0);
  EXPECT_EQ(apply_scale_32(-2, 1 << 30, 32, false), 0);
  EXPECT_EQ(apply_scale_32(-2, 1 << 30, 32, true), -1);
  EXPECT_TRUE(fits_scale_32(-2, 2));
  EXPECT_FALSE(fits_scale_32(2, 2));
  EXPECT_TRUE(fits_scale_32(kMin32, 32));
  EXPECT_FALSE(fits_scale_32(kMin32, 31));
}

TEST(FixedPoint, ApplyScale16MatchesWideArithmetic) {
  std::mt19937_64 rng(4);
  for (int shift = kMinScaleShift; shift <= kMaxScaleShift; ++shift) {
    for (int i = 0; i < 2000; ++i) {
      const int64_t value = random_value(rng, 48);
      const auto multiplier = static_cast<int16_t>(rng() >> 49);
      const Wide expected = divide_round_half_up(Wide{value} * multiplier, Wide{1} << shift);
      EXPECT_EQ(apply_scale_16_wide(value, multiplier, shift), expected);
      const bool defined = expected >= kMin32 && expected <= kMax32;
      EXPECT_EQ(fits_scale_16(value, multiplier, shift), defined);
      if (defined) {
        EXPECT_EQ(apply_scale_16(value, multiplier, shift), expected);
      }
    }
  }
  EXPECT_EQ(apply_scale_16_wide(kInt48Min, 32767, 62), -1);
  EXPECT_FALSE(fits_scale_16(kInt48Max + 1, 1, 62));
}

TEST(FixedPoint, ScaleValidity) {
  EXPECT_TRUE(is_valid_scale(0, 2));
  EXPECT_TRUE(is_valid_scale(kMax32, 62));
  EXPECT_FALSE(is_valid_scale(-1, 31));
  EXPECT_FALSE(is_valid_scale(1, 1));
  EXPECT_FALSE(is_valid_scale(1, 63));
}

TEST(FixedPoint, QuantizeScaleOfPowersOfTwo) {
  EXPECT_EQ(quantize_scale32(1.0), (Scale32{1 << 30, 30}));
  EXPECT_EQ(quantize_scale32(0.5), (Scale32{1 << 30, 31}));
  EXPECT_EQ(quantize_scale32(0x1p-32), (Scale32{1 << 30, 62}));
  EXPECT_EQ(quantize_scale32(0x1p28), (Scale32{1 << 30, 2}));
  EXPECT_EQ(quantize_scale16(1.0), (Scale16{1 << 14, 14}));
  EXPECT_EQ(quantize_scale16(0x1p-48), (Scale16{1 << 14, 62}));
  EXPECT_EQ(quantize_scale16(0x1p12), (Scale16{1 << 14, 2}));
}

TEST(FixedPoint, QuantizeScaleRoundsUpToTheNextPowerOfTwo) {
  EXPECT_EQ(quantize_scale32(1 - 0x1p-40), (Scale32{1 << 30, 30}));
  EXPECT_EQ(quantize_scale32(1 - 0x1p-31), (Scale32{kMax32, 31}));
  EXPECT_EQ(quantize_scale16(1 - 0x1p-20), (Scale16{1 << 14, 14}));
}

TEST(FixedPoint, QuantizeScaleBelowFullPrecisionKeepsShift62) {
  EXPECT_EQ(quantize_scale32(0x1p-33), (Scale32{1 << 29, 62}));
  EXPECT_EQ(quantize_scale32(0x1.8p-61), (Scale32{3, 62}));
  EXPECT_EQ(quantize_scale32(0x1p-63), (Scale32{1, 62}));
  EXPECT_EQ(quantize_scale32(0x1p-64), (Scale32{0, 62}));
  EXPECT_EQ(quantize_scale32(5e-324), (Scale32{0, 62}));
  EXPECT_EQ(quantize_scale16(0x1p-62), (Scale16{1, 62}));
}

TEST(FixedPoint, QuantizeScaleRejectsWhatHasNoFactor) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  for (const double scale : {0x1p29, 1e300, 0.0, -0.0, -1.0, kInf, -kInf, std::nan("")}) {
    EXPECT_FALSE(quantize_scale32(scale).has_value()) << scale;
    EXPECT_FALSE(quantize_scale16(scale).has_value()) << scale;
  }
  EXPECT_TRUE(quantize_scale32(0x1.fffffffp28).has_value());
  EXPECT_FALSE(quantize_scale32(std::nextafter(0x1p29, 0)).has_value());
  EXPECT_FALSE(quantize_scale16(0x1p13).has_value());
}

TEST(FixedPoint, QuantizeScaleIsTheNearestFactor) {
  std::mt19937_64 rng(5);
  std::uniform_real_distribution<double> exponent(-31.9, 11.9);
  for (int i = 0; i < 20000; ++i) {
    const double scale = std::exp2(exponent(rng));
    const auto s32 = quantize_scale32(scale);
    const auto s16 = quantize_scale16(scale);
    ASSERT_TRUE(s32 && s16);
    EXPECT_TRUE(is_valid_scale(s32->multiplier, s32->shift));
    EXPECT_TRUE(is_valid_scale(s16->multiplier, s16->shift));
    EXPECT_GE(s32->multiplier, 1 << 30);
    EXPECT_GE(s16->multiplier, 1 << 14);
    EXPECT_LE(std::fabs(to_double(*s32) - scale), std::ldexp(0.5, -s32->shift));
    EXPECT_LE(std::fabs(to_double(*s16) - scale), std::ldexp(0.5, -s16->shift));
  }
}

TEST(FixedPoint, AveragePoolScaleOfSmallKernels) {
  EXPECT_EQ(avg_pool_scale(1), (Scale32{(1 << 30) + 1, 30}));
  EXPECT_EQ(avg_pool_scale(2), (Scale32{(1 << 30) + 1, 31}));
  // 3: k = 2, (2^32 + 4) / 3. 49: k = 6, (2^36 + 64) / 49.
  EXPECT_EQ(avg_pool_scale(3), (Scale32{1431655766, 32}));
  EXPECT_EQ(avg_pool_scale(49), (Scale32{1402438302, 36}));
}

TEST(FixedPoint, AveragePoolScaleDividesWithTiesAwayFromZero) {
  // Any sum of `count` int8 values, their zero point removed.
  for (int32_t count = 1; count <= 300; ++count) {
    const Scale32 scale = avg_pool_scale(count);
    ASSERT_TRUE(is_valid_scale(scale.multiplier, scale.shift));
    for (int32_t sum = -255 * count; sum <= 255 * count; sum += 7) {
      ASSERT_TRUE(fits_scale_32(sum, scale.shift));
      // The factor is a little above 1 / count, so that negative ties do not round up.
      const double rounded = std::round(static_cast<double>(sum) / count);
      EXPECT_EQ(apply_scale_32(sum, scale), rounded) << sum << " / " << count;
    }
  }
}

}  // namespace
}  // namespace tosaic::numeric
