// SPDX-License-Identifier: Apache-2.0
#include "zip_checksums.h"

#include <cstdint>
#include <cstring>

#include "support/crc32.h"

namespace tosaic::fuzz {
namespace {

constexpr uint32_t kEntry = 0x02014b50;  // of the directory (APPNOTE 4.3.12)
constexpr size_t kEntryBytes = 46;
constexpr uint32_t kEnd = 0x06054b50;  // of the directory (4.3.16)
constexpr size_t kEndBytes = 22;
constexpr size_t kLocalBytes = 30;

template <typename T>
T number_at(std::span<const std::byte> bytes, size_t at) {
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

void correct_entry(std::vector<std::byte>& file, size_t entry) {
  const auto method = number_at<uint16_t>(file, entry + 10);
  const size_t size = number_at<uint32_t>(file, entry + 20);
  const size_t local = number_at<uint32_t>(file, entry + 42);
  if (method != 0 || local + kLocalBytes > file.size()) return;
  const size_t data = local + kLocalBytes + number_at<uint16_t>(file, local + 26) +
                      number_at<uint16_t>(file, local + 28);
  if (data > file.size() || size > file.size() - data) return;
  const uint32_t crc = crc32(std::span(file).subspan(data, size));
  std::memcpy(file.data() + entry + 16, &crc, sizeof crc);
  // 0 in the local header when the checksum follows the data.
  if (number_at<uint32_t>(file, local + 14) != 0) {
    std::memcpy(file.data() + local + 14, &crc, sizeof crc);
  }
}

/// Where the directory begins: members may be archives with directories of their own.
size_t directory_of(const std::vector<std::byte>& file) {
  for (size_t at = file.size(); at-- > 0;) {
    if (file.size() - at < kEndBytes || number_at<uint32_t>(file, at) != kEnd) continue;
    return number_at<uint32_t>(file, at + 16);
  }
  return 0;
}

}  // namespace

std::vector<std::byte> with_right_checksums(std::span<const std::byte> bytes) {
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  for (size_t at = directory_of(file); at + kEntryBytes <= file.size(); ++at) {
    if (number_at<uint32_t>(file, at) == kEntry) correct_entry(file, at);
  }
  return file;
}

}  // namespace tosaic::fuzz
