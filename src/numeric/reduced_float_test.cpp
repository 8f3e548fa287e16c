// SPDX-License-Identifier: Apache-2.0
#include "numeric/reduced_float.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>

#include "gtest/gtest.h"

namespace tosaic::numeric {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();

bool is_signalling_f16(uint32_t h) {
  return (h & 0x7c00) == 0x7c00 && (h & 0x3ff) && !(h & 0x200);
}

/// The value of a finite pattern with `mantissa_bits`, from its fields.
double decode(uint32_t pattern, int exponent_bits, int mantissa_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const uint32_t mantissa = pattern & ((1u << mantissa_bits) - 1);
  const int exponent = static_cast<int>((pattern >> mantissa_bits) & ((1u << exponent_bits) - 1));
  const double significand = exponent == 0 ? mantissa : mantissa + (1u << mantissa_bits);
  const double abs = std::ldexp(significand, std::max(exponent, 1) - bias - mantissa_bits);
  return pattern & 0x8000 ? -abs : abs;
}

TEST(ReducedFloat, F16KnownValues) {
  EXPECT_EQ(f32_to_f16(1.0f), 0x3c00);
  EXPECT_EQ(f32_to_f16(-2.0f), 0xc000);
  EXPECT_EQ(f32_to_f16(-0.0f), 0x8000);
  EXPECT_EQ(f32_to_f16(65504.0f), 0x7bff);
  EXPECT_EQ(f32_to_f16(std::nextafter(65520.0f, 0.0f)), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0f), 0x7c00);
  EXPECT_EQ(f32_to_f16(-kInf), 0xfc00);
  EXPECT_EQ(f32_to_f16(0x1p-24f), 0x0001);
  EXPECT_EQ(f32_to_f16(0x1p-25f), 0x0000);
  EXPECT_EQ(f32_to_f16(0x1.000002p-25f), 0x0001);
  EXPECT_EQ(f32_to_f16(0x1.8p-24f), 0x0002);
  EXPECT_EQ(f32_to_f16(0x1.fffp-15f), 0x0400);
  EXPECT_EQ(f32_to_f16(std::nanf("")), 0x7e00);
  EXPECT_EQ(f16_to_f32(0x3555), 0.333251953125f);
  EXPECT_EQ(f16_to_f32(0x03ff), 0x1.ff8p-15f);
}

TEST(ReducedFloat, EveryF16Widens) {
  for (uint32_t h = 0; h < 65536; ++h) {
    const float value = f16_to_f32(static_cast<uint16_t>(h));
    const auto expected = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(h)));
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(value)) << h;
      EXPECT_EQ(std::signbit(value), (h & 0x8000) != 0);
    } else {
      EXPECT_EQ(std::bit_cast<uint32_t>(value), std::bit_cast<uint32_t>(expected)) << h;
      if (std::isfinite(expected)) {
        EXPECT_EQ(static_cast<double>(value), decode(h, 5, 10));
      }
    }
    EXPECT_EQ(f32_to_f16(value), is_signalling_f16(h) ? h | 0x200 : h);
  }
}

TEST(ReducedFloat, F32NarrowsToF16LikeTheCompiler) {
  std::mt19937 rng(1);
  const auto check = [](uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(f16_to_f32(f32_to_f16(value)))) << bits;
    } else {
      EXPECT_EQ(f32_to_f16(value), std::bit_cast<uint16_t>(static_cast<_Float16>(value))) << bits;
    }
  };
  for (int i = 0; i < 300000; ++i)
    check(rng());
  // Around each f16 and each tie, where rounding decides.
  for (uint32_t h = 0; h < 0x7c00; ++h) {
    const uint32_t bits = std::bit_cast<uint32_t>(f16_to_f32(static_cast<uint16_t>(h)));
    const double next = h == 0x7bff ? 65536.0 : decode(h + 1, 5, 10);
    const uint32_t tie = std::bit_cast<uint32_t>(static_cast<float>((decode(h, 5, 10) + next) / 2));
    for (const uint32_t centre : {bits, tie}) {
      for (uint32_t sign : {0u, 0x80000000u}) {
        check((centre + 1) | sign);
        check(centre | sign);
        if (centre != 0) check((centre - 1) | sign);
      }
    }
  }
}

TEST(ReducedFloat, Bf16KnownValues) {
  EXPECT_EQ(f32_to_bf16(1.0f), 0x3f80);
  EXPECT_EQ(f32_to_bf16(-0.0f), 0x8000);
  EXPECT_EQ(f32_to_bf16(0x1.01p0f), 0x3f80);  // tie to even, down
  EXPECT_EQ(f32_to_bf16(0x1.03p0f), 0x3f82);  // tie to even, up
  EXPECT_EQ(f32_to_bf16(0x1.010002p0f), 0x3f81);
  EXPECT_EQ(f32_to_bf16(3.14159274f), 0x4049);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
  EXPECT_EQ(f32_to_bf16(-kInf), 0xff80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x7f800001u)), 0x7fc0);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0xffffffffu)), 0xffff);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::denorm_min()), 0x0000);
}

TEST(ReducedFloat, EveryBf16RoundTripsAndMatchesItsFields) {
  for (uint32_t b = 0; b < 65536; ++b) {
    const float value = bf16_to_f32(static_cast<uint16_t>(b));
    if ((b & 0x7f80) != 0x7f80) {
      EXPECT_EQ(static_cast<double>(value), decode(b, 8, 7));
    }
    EXPECT_EQ(f32_to_bf16(value), std::isnan(value) ? b | 0x40 : b);
  }
}

TEST(ReducedFloat, Bf16IsTheNearestWithTiesToEven) {
  std::mt19937 rng(2);
  for (int i = 0; i < 200000; ++i) {
    const uint32_t bits = i % 4 == 0 ? (rng() & 0xffff0000u) | 0x8000u : rng();
    const float value = std::bit_cast<float>(bits);
    const uint32_t below = bits >> 16;
    if ((below & 0x7f80) >= 0x7f00) continue;  // the next one must be finite
    const double down = std::fabs(value - decode(below, 8, 7));
    const double up = std::fabs(decode(below + 1, 8, 7) - value);
    const uint32_t expected = down < up || (down == up && below % 2 == 0) ? below : below + 1;
    EXPECT_EQ(f32_to_bf16(value), expected) << bits;
  }
}

TEST(ReducedFloat, RoundingInPlace) {
  EXPECT_EQ(round_to_f16(0.1f), 0.0999755859375f);
  EXPECT_EQ(round_to_bf16(0.1f), 0.10009765625f);
}

}  // namespace
}  // namespace tosaic::numeric
