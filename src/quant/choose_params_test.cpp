// SPDX-License-Identifier: Apache-2.0
#include "quant/choose_params.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace tosaic {
namespace {

const Quant& int8_of(Module& module, double low, double high) {
  return *activation_type(module, {low, high}, Precision::kInt8, {4}).quant;
}

TEST(ActivationType, SpansTheRangeAndZero) {
  Module module;
  const TensorType type = activation_type(module, {-1, 3}, Precision::kInt8, {2, 3});
  EXPECT_EQ(type.dtype, DType::kI8);
  EXPECT_EQ(type.shape, Shape({2, 3}));
  EXPECT_FLOAT_EQ(static_cast<float>(type.quant->scale()), 4.0F / 255);
  EXPECT_EQ(type.quant->zero_point(), -64);  // -128 + 255 / 4
  EXPECT_EQ(int8_of(module, 1, 2).zero_point(), -128);
  EXPECT_FLOAT_EQ(static_cast<float>(int8_of(module, 1, 2).scale()), 2.0F / 255);
  EXPECT_EQ(int8_of(module, -5, -1).zero_point(), 127);
}

TEST(ActivationType, SixteenBitsAreSymmetric) {
  Module module;
  const TensorType type = activation_type(module, {-1, 3}, Precision::kInt16x8, {1});
  EXPECT_EQ(type.dtype, DType::kI16);
  EXPECT_EQ(type.quant->zero_point(), 0);
  EXPECT_FLOAT_EQ(static_cast<float>(type.quant->scale()), 3.0F / 32767);
}

TEST(ActivationType, ScalesAreNormalFloatsForAnyRange) {
  Module module;
  constexpr double kMost = std::numeric_limits<float>::max();
  const Range ranges[] = {{},         {0, 0},          {0, 1e-45}, {-1e-31, 0},
                          {0, 1e-29}, {-kMost, kMost}, {0, kMost}, {-1e30, 0}};
  for (const Range& range : ranges) {
    for (Precision precision : {Precision::kInt8, Precision::kInt16x8}) {
      const Quant& q = *activation_type(module, range, precision, {1}).quant;
      EXPECT_TRUE(std::isnormal(static_cast<float>(q.scale()))) << range.low << " " << range.high;
      EXPECT_GT(q.scale(), 0);
      EXPECT_GE(q.zero_point(), q.qmin);
      EXPECT_LE(q.zero_point(), q.qmax);
    }
  }
}

TEST(ActivationType, ZerosAreTakenForMinusOneToOne) {
  Module module;
  EXPECT_FLOAT_EQ(static_cast<float>(int8_of(module, 0, 0).scale()), 2.0F / 255);
  EXPECT_EQ(int8_of(module, 0, 0).zero_point(), 0);
}

const Constant& weight(Module& module, const std::vector<double>& values) {
  return module.constant_floats(DType::kF32, {3, 2}, values);
}

TEST(WeightQuant, HasAScalePerChannel) {
  Module module;
  const Constant& w = weight(module, {1, -2, 0.5, 0.25, -127, 3});
  const auto rows = weight_quant(module, w, 0, {});
  ASSERT_TRUE(rows.ok());
  const Quant& q = **rows;
  EXPECT_EQ(q.axis, 0);
  EXPECT_EQ(q.qmin, -127);
  EXPECT_EQ(q.qmax, 127);
  const float expected[] = {2.0F / 127, 0.5F / 127, 1};
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_FLOAT_EQ(static_cast<float>(q.scales[i]), expected[i]);
    EXPECT_EQ(q.zero_points[i], 0);
  }
  const auto columns = weight_quant(module, w, 1, {});
  ASSERT_TRUE(columns.ok());
  EXPECT_FLOAT_EQ(static_cast<float>((*columns)->scales[0]), 1);
  EXPECT_FLOAT_EQ(static_cast<float>((*columns)->scales[1]), 3.0F / 127);
}

TEST(WeightQuant, AChannelOfZerosHasTheGreatestScaleOfTheOthers) {
  Module module;
  const auto quant = weight_quant(module, weight(module, {0, 0, 1, 2, 0.5, 0}), 0, {});
  ASSERT_TRUE(quant.ok());
  EXPECT_FLOAT_EQ(static_cast<float>((*quant)->scales[0]), 2.0F / 127);
  const auto zeros = weight_quant(module, weight(module, {0, 0, 0, 0, 0, 0}), 0, {});
  ASSERT_TRUE(zeros.ok());
  EXPECT_FLOAT_EQ(static_cast<float>((*zeros)->scales[0]), 1.0F / 127);
}

TEST(WeightQuant, IsNotBelowTheLeastScales) {
  Module module;
  const double least[] = {0, 0.5, 0};
  const auto quant = weight_quant(module, weight(module, {1, 1, 1, 1, 1, 1}), 0, least);
  ASSERT_TRUE(quant.ok());
  EXPECT_FLOAT_EQ(static_cast<float>((*quant)->scales[0]), 1.0F / 127);
  EXPECT_FLOAT_EQ(static_cast<float>((*quant)->scales[1]), 0.5F);
}

TEST(WeightQuant, RefusesWhatIsNotFinite) {
  Module module;
  for (double bad : {std::numeric_limits<double>::infinity(), std::nan("")}) {
    const auto quant = weight_quant(module, weight(module, {1, 1, bad, 1, 1, 1}), 0, {});
    ASSERT_FALSE(quant.ok());
    EXPECT_EQ(quant.error().code, Code::kQuantParams);
  }
}

}  // namespace
}  // namespace tosaic
