// SPDX-License-Identifier: Apache-2.0
#include "numeric/table.h"

#include <cmath>
#include <cstdint>

#include "gtest/gtest.h"

namespace tosaic::numeric {
namespace {

constexpr AffineParams kInt16Full{.scale = 1.0, .zero_point = 0, .qmin = -32768, .qmax = 32767};

double identity(double x) {
  return x;
}

TEST(Table, Int8IdentityMapsEveryInputToItself) {
  const AffineParams params{.scale = 0.0371, .zero_point = -5};
  const Int8Table table = make_int8_table(identity, params, params);
  for (int q = -128; q < 128; ++q) {
    EXPECT_EQ(table_lookup_int8(static_cast<int8_t>(q), table), q);
  }
}

TEST(Table, Int8EntriesAreTheRoundedFunction) {
  const AffineParams in{.scale = 0.05, .zero_point = 4};
  const AffineParams out{.scale = 1.0 / 256, .zero_point = -128};
  const auto sigmoid = [](double x) { return 1 / (1 + std::exp(-x)); };
  const Int8Table table = make_int8_table(sigmoid, in, out);
  for (int q = -128; q < 128; ++q) {
    const double exact = sigmoid((q - 4) * 0.05) * 256 - 128;
    const int entry = table_lookup_int8(static_cast<int8_t>(q), table);
    // Near ties the float steps in between may decide; elsewhere the entry is the nearest integer.
    EXPECT_LE(std::fabs(entry - exact), 0.5 + 1e-4) << q;
  }
  EXPECT_EQ(table_lookup_int8(4, table), 0);
}

TEST(Table, Int8InputsOutsideTheirLimitsUseTheNearestInside) {
  const AffineParams in{.scale = 1.0, .zero_point = 0, .qmin = -10, .qmax = 20};
  const Int8Table table = make_int8_table(identity, in, {.scale = 1.0});
  EXPECT_EQ(table_lookup_int8(-128, table), -10);
  EXPECT_EQ(table_lookup_int8(-11, table), -10);
  EXPECT_EQ(table_lookup_int8(19, table), 19);
  EXPECT_EQ(table_lookup_int8(127, table), 20);
}

TEST(Table, Int8OutputLimitsAndPolesSaturate) {
  const AffineParams in{.scale = 1.0};
  const AffineParams out{.scale = 0.5, .zero_point = 0, .qmin = -100, .qmax = 100};
  const Int8Table log_table = make_int8_table([](double x) { return std::log(x); }, in, out);
  EXPECT_EQ(table_lookup_int8(0, log_table), -100);  // log(0) = -infinity
  EXPECT_EQ(table_lookup_int8(-1, log_table), 0);    // NaN
  EXPECT_EQ(table_lookup_int8(1, log_table), 0);
  EXPECT_EQ(table_lookup_int8(20, log_table), 6);  // 2.9957 / 0.5
}

TEST(Table, Int16IdentityInterpolatesExactly) {
  const Int16Table table = make_int16_table(identity, kInt16Full, kInt16Full);
  EXPECT_EQ(table.front(), -32768);
  EXPECT_EQ(table[256], 0);
  EXPECT_EQ(table[511], 32640);
  EXPECT_EQ(table.back(), 32767);  // 32768 saturates
  EXPECT_TRUE(all_slopes_fit(table));
  for (int q = -32768; q < 32640; ++q) {
    ASSERT_EQ(table_lookup_int16(static_cast<int16_t>(q), table), q * 128);
  }
}

TEST(Table, Int16LookupIsLinearBetweenEntries) {
  Int16Table table{};
  table[0] = -100;
  table[1] = 50;
  table[511] = 7;
  table[512] = -32768;
  EXPECT_EQ(table_lookup_int16(-32768, table), -100 * 128);
  EXPECT_EQ(table_lookup_int16(-32767, table), -100 * 128 + 150);
  EXPECT_EQ(table_lookup_int16(-32641, table), 50 * 128 - 150);
  EXPECT_EQ(table_lookup_int16(-32640, table), 50 * 128);
  EXPECT_EQ(table_lookup_int16(32767, table), 7 * 128 + (-32768 - 7) * 127);
  EXPECT_FALSE(all_slopes_fit(table));
  table[512] = -32761;
  EXPECT_TRUE(all_slopes_fit(table));
}

TEST(Table, Int16TanhStaysCloseToTheFunction) {
  const AffineParams in{.scale = 4.0 / 32768, .zero_point = 0, .qmin = -32768, .qmax = 32767};
  const AffineParams out{.scale = 1.0 / 32768, .zero_point = 0, .qmin = -32768, .qmax = 32767};
  const Int16Table table = make_int16_table([](double x) { return std::tanh(x); }, in, out);
  ASSERT_TRUE(all_slopes_fit(table));
  for (int q = -32768; q < 32768; ++q) {
    const double exact = std::tanh(q * 4.0 / 32768) * 32768;
    const double got = table_lookup_int16(static_cast<int16_t>(q), table) / 128.0;
    // Half a unit from the entries, plus max|tanh''| / 8 * step^2 = 0.77 / 8 * 2^-12 * 2^15 / 1.
    ASSERT_LE(std::fabs(got - exact), 0.5 + 0.77 / 8 * (1.0 / 4096) * 32768) << q;
  }
}

TEST(Table, Int16LimitedInputIsFlatOutside) {
  AffineParams in = kInt16Full;
  in.qmin = 0;
  in.qmax = 1280;
  const Int16Table table = make_int16_table(identity, in, kInt16Full);
  EXPECT_EQ(table[0], 0);
  EXPECT_EQ(table[257], 128);
  EXPECT_EQ(table[512], 1280);
}

}  // namespace
}  // namespace tosaic::numeric
