// SPDX-License-Identifier: Apache-2.0
#include "support/crc32.h"

#include <array>

#include "support/little_endian.h"

namespace tosaic {
namespace {

constexpr size_t kStep = 8;  // bytes per round
using Tables = std::array<std::array<uint32_t, 256>, kStep>;

// tables[k][b]: what byte b does to the remainder when k zero bytes follow it.
constexpr Tables make_tables() {
  constexpr uint32_t kReflectedPolynomial = 0xedb88320;
  Tables tables = {};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) {
      remainder = (remainder >> 1) ^ ((remainder & 1) != 0 ? kReflectedPolynomial : 0);
    }
    tables[0][byte] = remainder;
  }
  for (size_t k = 1; k < kStep; ++k) {
    for (size_t byte = 0; byte < 256; ++byte) {
      const uint32_t before = tables[k - 1][byte];
      tables[k][byte] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kTables = make_tables();

}  // namespace

uint32_t crc32(std::span<const std::byte> data, uint32_t crc) {
  uint32_t remainder = ~crc;
  size_t at = 0;
  for (; data.size() - at >= kStep; at += kStep) {
    const uint32_t low = load_le<uint32_t>(&data[at]) ^ remainder;
    const uint32_t high = load_le<uint32_t>(&data[at + 4]);
    remainder = kTables[7][low & 0xff] ^ kTables[6][(low >> 8) & 0xff] ^
                kTables[5][(low >> 16) & 0xff] ^ kTables[4][low >> 24] ^ kTables[3][high & 0xff] ^
                kTables[2][(high >> 8) & 0xff] ^ kTables[1][(high >> 16) & 0xff] ^
                kTables[0][high >> 24];
  }
  for (; at < data.size(); ++at) {
    remainder = (remainder >> 8) ^ kTables[0][(remainder ^ static_cast<uint32_t>(data[at])) & 0xff];
  }
  return ~remainder;
}

}  // namespace tosaic
