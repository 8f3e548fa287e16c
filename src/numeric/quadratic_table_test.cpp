// SPDX-License-Identifier: Apache-2.0
#include "numeric/quadratic_table.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tosaic::numeric {
namespace {

AffineParams int16(double scale) {
  return {.scale = scale, .zero_point = 0, .qmin = -32768, .qmax = 32767};
}

TEST(QuadraticTable, SmoothFunctionsAreRightToTheStep) {
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  EXPECT_LT(make_quadratic_table(sigmoid, int16(8.0 / 32768), int16(1.0 / 32768)).worst, 0.1);
  const auto sine = [](double x) { return std::sin(x); };
  EXPECT_LT(make_quadratic_table(sine, int16(8.0 / 32768), int16(1.0 / 32768)).worst, 0.5);
}

TEST(QuadraticTable, WhatLeavesTheOutputCostsNoPrecisionWithin) {
  const auto exp = [](double x) { return std::exp(x); };
  EXPECT_LT(make_quadratic_table(exp, int16(8.0 / 32768), int16(20.0 / 32768)).worst, 0.5);
}

TEST(QuadraticTable, AParabolaIsItself) {
  const auto square = [](double x) { return x * x; };
  EXPECT_LT(make_quadratic_table(square, int16(1.0 / 32768), int16(1.0 / 32768)).worst, 0.1);
}

TEST(QuadraticTable, LimitsOfTheInputAreKept) {
  const auto pole = [](double x) { return 1 / (x - 0.5); };
  AffineParams in = int16(1.0 / 32768);
  in.qmax = 8192;  // 0.25
  EXPECT_LT(make_quadratic_table(pole, in, int16(4.0 / 32768)).worst, 0.5);
}

TEST(QuadraticTable, AJumpIsReported) {
  const auto step = [](double x) { return x > 0.123 ? 1.0 : 0.0; };
  EXPECT_GT(make_quadratic_table(step, int16(1.0 / 32768), int16(1.0 / 32768)).worst, 1000);
}

}  // namespace
}  // namespace tosaic::numeric
