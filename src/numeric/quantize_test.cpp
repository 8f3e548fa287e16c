// SPDX-License-Identifier: Apache-2.0
#include "numeric/quantize.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "gtest/gtest.h"

namespace tosaic::numeric {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr int32_t kMax32 = std::numeric_limits<int32_t>::max();
constexpr int32_t kMin32 = std::numeric_limits<int32_t>::min();

TEST(Quantize, RoundsTiesToEvenBeforeTheZeroPoint) {
  const auto quantizer = tensor_quantizer({.scale = 1.0, .zero_point = 1});
  EXPECT_EQ(quantizer.quantize(0.5f), 1);
  EXPECT_EQ(quantizer.quantize(1.5f), 3);
  EXPECT_EQ(quantizer.quantize(2.5f), 3);
  EXPECT_EQ(quantizer.quantize(-0.5f), 1);
  EXPECT_EQ(quantizer.quantize(-1.5f), -1);
}

struct TieCase {
  double scale;
  float x;
  int32_t per_tensor;
  int32_t channel_f32;
  int32_t channel_f64;
};

// Results of quantized_decomposed in PyTorch 2.13, zero point 3, int8: half-integer multiples of
// the scale, where the three arithmetics disagree.
constexpr TieCase kTies[] = {
    {0.0123, -0x1.e4ea4ap-2f, -35, -36, -35}, {0.0123, -0x1.eb367ap-3f, -17, -17, -16},
    {0.0123, -0x1.9fa44p-3f, -13, -14, -14},  {0.0123, -0x1.f7cedap-6f, 1, 0, 0},
    {0.0123, 0x1.2e48e8p-6f, 4, 5, 4},        {0.0123, 0x1.f7cedap-6f, 5, 6, 6},
    {0.0123, 0x1.eb367ap-3f, 23, 23, 22},     {0.1, -0x1.d33334p+1f, -33, -33, -34},
    {0.1, -0x1.666666p-2f, -1, -1, 0},        {0.1, 0x1.99999ap-5f, 3, 3, 4},
    {0.1, 0x1.e66666p-1f, 13, 13, 12},        {0.1, 0x1.d33334p+1f, 39, 39, 40},
};

TEST(Quantize, EachFormMatchesPyTorchAtNearTies) {
  for (const TieCase& c : kTies) {
    const AffineParams params{.scale = c.scale, .zero_point = 3};
    AffineParams narrow = params;
    narrow.scale = static_cast<float>(c.scale);
    EXPECT_EQ(tensor_quantizer(params).quantize(c.x), c.per_tensor) << c.x;
    EXPECT_EQ(channel_quantizer_f32(narrow).quantize(c.x), c.channel_f32) << c.x;
    EXPECT_EQ(channel_quantizer_f64(params).quantize(c.x), c.channel_f64) << c.x;
  }
}

TEST(Quantize, ClampsToTheLimits) {
  const auto quantizer =
      tensor_quantizer({.scale = 1.0, .zero_point = 2, .qmin = -127, .qmax = 127});
  EXPECT_EQ(quantizer.quantize(1e20f), 127);
  EXPECT_EQ(quantizer.quantize(kInf), 127);
  EXPECT_EQ(quantizer.quantize(-129.0f), -127);
  EXPECT_EQ(quantizer.quantize(-kInf), -127);
  EXPECT_EQ(quantizer.quantize(124.6f), 127);
  EXPECT_EQ(quantizer.quantize(123.4f), 125);
}

TEST(Quantize, NanGivesZeroInsideTheLimits) {
  const float nan = std::nanf("");
  EXPECT_EQ(tensor_quantizer({.zero_point = 2}).quantize(nan), 0);
  EXPECT_EQ(tensor_quantizer({.zero_point = 9, .qmin = 5, .qmax = 20}).quantize(nan), 5);
  EXPECT_EQ(tensor_quantizer({.zero_point = -9, .qmin = -20, .qmax = -5}).quantize(nan), -5);
}

TEST(Quantize, Int32Saturates) {
  const auto quantizer = tensor_quantizer({.scale = 1.0, .qmin = kMin32, .qmax = kMax32});
  EXPECT_EQ(quantizer.quantize(3e9f), kMax32);
  EXPECT_EQ(quantizer.quantize(-3e9f), kMin32);
  EXPECT_EQ(quantizer.quantize(2147483520.0f), 2147483520);
}

TEST(Quantize, TheZeroPointIsAddedInFloat) {
  // PyTorch: 16777217 is no float, the sum ties to even.
  const auto quantizer =
      tensor_quantizer({.scale = 1.0, .zero_point = 1, .qmin = kMin32, .qmax = kMax32});
  EXPECT_EQ(quantizer.quantize(16777216.0f), 16777216);
  EXPECT_EQ(quantizer.quantize(33554432.0f), 33554432);
}

TEST(Quantize, DequantizeMultipliesInTheFormsPrecision) {
  const AffineParams params{.scale = 0.1, .zero_point = 3};
  for (int32_t q = -128; q < 128; ++q) {
    EXPECT_EQ(tensor_quantizer(params).dequantize(q), static_cast<float>(q - 3) * 0.1f);
    EXPECT_EQ(channel_quantizer_f64(params).dequantize(q), static_cast<float>((q - 3) * 0.1));
  }
}

TEST(Quantize, DequantisedValuesQuantiseBack) {
  for (const double scale : {0.1, 0.0123, 1.0 / 3, 1e-5, 7.0}) {
    const AffineParams params{.scale = scale, .zero_point = -7};
    const auto quantizer = tensor_quantizer(params);
    for (int32_t q = -128; q < 128; ++q) {
      EXPECT_EQ(quantizer.quantize(quantizer.dequantize(q)), q);
    }
  }
}

}  // namespace
}  // namespace tosaic::numeric
