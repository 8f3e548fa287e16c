// SPDX-License-Identifier: Apache-2.0
#include "aten/integers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "aten/test_target.h"
#include "tosa/reference.h"

// Functions of integers against those of <cmath>, on the scalar reference.

namespace tosaic::aten {
namespace {

/// Results of a function on int32 values; nothing may be unpredictable.
std::vector<int32_t> run(const std::vector<int32_t>& values,
                         const std::function<Value*(Integers&, Value*)>& function) {
  Module module;
  Graph graph(module, "main", Dialect::kTosa);
  const Target target = test_target();
  Builder b(graph, target);
  const Shape shape{static_cast<int64_t>(values.size())};
  Value* x = &graph.add_input({DType::kI32, shape, nullptr}, "x");
  Integers in(b);
  Value* y = function(in, x);
  EXPECT_FALSE(b.failure()) << b.failure()->why;
  graph.set_outputs({&y, 1});
  tosa::Reference reference(graph);
  const tosa::HostTensor input =
      tosa::HostTensor::view(DType::kI32, shape, std::as_bytes(std::span(values)));
  const auto outputs = reference.run({&input, 1});
  EXPECT_TRUE(outputs);
  EXPECT_EQ(reference.unpredictable(), "");
  std::vector<int32_t> results(values.size());
  if (outputs) std::memcpy(results.data(), (*outputs)[0].bytes.data(), results.size() * 4);
  return results;
}

/// From `first` to the greatest int32, each about a hundredth above the one before.
std::vector<int32_t> magnitudes(double first) {
  std::vector<int32_t> values;
  for (double v = first; v < 0x1p31; v *= 1.01)
    values.push_back(static_cast<int32_t>(v));
  for (double power = first; power < 0x1p31; power *= 2) {
    values.push_back(static_cast<int32_t>(power));
    values.push_back(static_cast<int32_t>(2 * power - 1));
  }
  return values;
}

TEST(Integers, ExpIsRightTo16BitsInAnyUnit) {
  for (const double unit : {1e-6, 0.002, 0.3, 7.0, 225.0, 1e6}) {
    std::vector<int32_t> values = {0, -1, -2, -255, -256, -257, -(1 << 24)};
    for (int i = 0; i < 1000; ++i)
      values.push_back(static_cast<int32_t>(-i * 0.02 / unit));
    double scale = 0;
    const auto results = run(values, [&](Integers& in, Value* x) {
      const Scaled y = in.exp(x, unit);
      scale = y.scale;
      return y.value;
    });
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = std::exp(values[i] * unit);
      const double error = results[i] * scale - expected;
      EXPECT_LE(std::abs(error), 0x1p-16 + expected * 0x1p-15) << values[i] << " * " << unit;
    }
  }
}

TEST(Integers, ReciprocalIsRightTo15Bits) {
  const std::vector<int32_t> values = magnitudes(0x1p15);
  const auto results = run(values, [](Integers& in, Value* x) { return in.reciprocal(x); });
  for (size_t i = 0; i < values.size(); ++i) {
    const double expected = std::ldexp(1.0, Integers::kReciprocalBits) / values[i];
    EXPECT_NEAR(results[i], expected, expected * 0x1p-15 + 1) << values[i];
  }
}

TEST(Integers, QuotientIsCutOffWhereItLeaves30Bits) {
  std::vector<int32_t> divisors;
  for (const int32_t y : magnitudes(1)) {
    if (y <= 1 << 17) divisors.push_back(y);
  }
  for (const int bits : {0, 7, 14, 15, 22, 30}) {
    for (const int32_t x : {0, 1, -1, 77, -3000, 1 << 16, -(1 << 16)}) {
      const auto results = run(divisors, [&](Integers& in, Value* y) {
        return in.quotient(in.mul(in.like(y, x), in.like(y, 1), 0), y, bits);
      });
      for (size_t i = 0; i < divisors.size(); ++i) {
        const double expected = std::clamp(std::ldexp(x, bits) / divisors[i], -0x1p30, 0x1p30);
        EXPECT_NEAR(results[i], expected, std::abs(expected) * 0x1p-14 + 1)
            << x << "/" << divisors[i];
      }
    }
  }
}

TEST(Integers, InverseRootIsRightTo15Or26Bits) {
  const std::vector<int32_t> values = magnitudes(1);
  for (const bool fine : {false, true}) {
    const auto results = run(values, [&](Integers& in, Value* x) { return in.rsqrt(x, fine); });
    for (size_t i = 0; i < values.size(); ++i) {
      const double expected = std::exp2(Integers::kRsqrtBits) / std::sqrt(values[i]);
      EXPECT_NEAR(results[i], expected, expected * (fine ? 0x1p-26 : 0x1p-15) + 1) << values[i];
    }
  }
}

TEST(Integers, LogIsRightTo15Bits) {
  const std::vector<int32_t> values = magnitudes(1);
  const auto results = run(values, [](Integers& in, Value* x) { return in.log(x); });
  for (size_t i = 0; i < values.size(); ++i) {
    EXPECT_NEAR(std::ldexp(results[i], -Integers::kLogBits), std::log(values[i]), 0x1p-15)
        << values[i];
  }
}

}  // namespace
}  // namespace tosaic::aten
