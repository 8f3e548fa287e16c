// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/expected.h"
#include "support/mapped_file.h"

namespace tosaic {

/// One member of an archive. `data` points into the mapped file when the member is STORED.
struct ZipMember {
  std::string_view name;
  std::span<const std::byte> stored;  ///< raw bytes as they lie in the file
  uint64_t num_bytes = 0;             ///< size after decompression
  uint32_t crc32 = 0;
  bool compressed = false;
};

/// True when a member may have this name: not empty, UTF-8 without control characters, relative,
/// and without "..".
bool is_safe_zip_name(std::string_view name);

/// Walks the central directory (zip64 included) of a mapped archive: no copy, no decompression.
/// Refused: encrypted members, unsafe names (see is_safe_zip_name), duplicate names, members that
/// overlap or reach past the file, and sizes that contradict each other.
class ZipReader {
 public:
  static Expected<ZipReader> open(std::shared_ptr<const MappedFile> file);

  const std::vector<ZipMember>& members() const { return members_; }
  /// The member of that name, or nullptr. Logarithmic.
  const ZipMember* find(std::string_view name) const;
  const MappedFile& file() const { return *file_; }
  std::shared_ptr<const MappedFile> share_file() const { return file_; }

 private:
  std::shared_ptr<const MappedFile> file_;
  std::vector<ZipMember> members_;  // sorted by name
};

/// CRC-32 of a member's stored bytes equals the directory's (STORED members only).
Status verify_crc(const ZipReader& zip, const ZipMember& member);

}  // namespace tosaic
