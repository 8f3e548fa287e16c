// SPDX-License-Identifier: Apache-2.0
#include "numeric/packed_int.h"

#include <array>
#include <cstdint>
#include <vector>

#include "gtest/gtest.h"

namespace tosaic::numeric {
namespace {

TEST(PackedInt, LowNibbleIsTheFirstInt4) {
  EXPECT_EQ(int4_low(0x7f), -1);
  EXPECT_EQ(int4_high(0x7f), 7);
  EXPECT_EQ(int4_low(0x9c), -4);
  EXPECT_EQ(int4_high(0x9c), -7);
  EXPECT_EQ(int4_pair(-7, 7), 0x79);
}

TEST(PackedInt, EveryPairOfInt4RoundTrips) {
  for (int first = -8; first < 8; ++first) {
    for (int second = -8; second < 8; ++second) {
      const uint8_t byte = int4_pair(static_cast<int8_t>(first), static_cast<int8_t>(second));
      EXPECT_EQ(int4_low(byte), first);
      EXPECT_EQ(int4_high(byte), second);
    }
  }
}

TEST(PackedInt, OddCountLeavesTheLastHighNibbleZero) {
  const std::vector<int8_t> values = {1, -1, -7};
  ASSERT_EQ(int4_bytes(values.size()), 2u);
  std::array<uint8_t, 2> packed{0xff, 0xff};
  pack_int4(values, packed);
  EXPECT_EQ(packed, (std::array<uint8_t, 2>{0xf1, 0x09}));
  std::vector<int8_t> unpacked(3);
  unpack_int4(packed, unpacked);
  EXPECT_EQ(unpacked, values);
  EXPECT_EQ(int4_bytes(0), 0u);
}

TEST(PackedInt, Int48IsSixLittleEndianBytes) {
  std::array<uint8_t, 8> bytes{};
  bytes[6] = 0xaa;
  store_int48(0x0102030405ff, bytes.data());
  EXPECT_EQ(bytes, (std::array<uint8_t, 8>{0xff, 0x05, 0x04, 0x03, 0x02, 0x01, 0xaa, 0}));
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, kInt48Min, kInt48Max, int64_t{-123456789012}}) {
    store_int48(value, bytes.data());
    EXPECT_EQ(load_int48(bytes.data()), value);
  }
  store_int48(kInt48Max + 1, bytes.data());
  EXPECT_EQ(load_int48(bytes.data()), kInt48Min);
}

}  // namespace
}  // namespace tosaic::numeric
