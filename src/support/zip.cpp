// SPDX-License-Identifier: Apache-2.0
// The zip directory (PKWARE APPNOTE 6.3.10, sections 4.3 and 4.4).
//
// The central directory at the end of the file decides; each local header is read to find where the
// data begins, and must tell the same story as the directory. All arithmetic is done on uint64_t
// after a comparison with the size of the file, so no sum of file contents can wrap.
#include "support/zip.h"

#include <simdjson.h>

#include <algorithm>
#include <optional>

#include "support/crc32.h"
#include "support/little_endian.h"

namespace tosaic {
namespace {

constexpr uint32_t kLocalSignature = 0x04034b50;
constexpr uint32_t kCentralSignature = 0x02014b50;
constexpr uint32_t kEndSignature = 0x06054b50;
constexpr uint32_t kEnd64Signature = 0x06064b50;
constexpr uint32_t kLocator64Signature = 0x07064b50;
constexpr size_t kLocalBytes = 30;
constexpr size_t kCentralBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kEnd64Bytes = 56;
constexpr size_t kLocator64Bytes = 20;
constexpr size_t kMaxCommentBytes = 0xffff;
constexpr uint16_t kNotHere16 = 0xffff;      // the zip64 field holds the value
constexpr uint32_t kNotHere32 = 0xffffffff;  // the same, for 32 bits
constexpr uint16_t kZip64Extra = 0x0001;
// General purpose flags: encryption (0, 6, 13), patch data (5), sizes only after the data (3).
constexpr uint16_t kRefusedFlags = 1u << 0 | 1u << 5 | 1u << 6 | 1u << 13;
constexpr uint16_t kSizesFollowFlag = 1u << 3;

using Bytes = std::span<const std::byte>;

uint16_t u16(Bytes record, size_t at) {
  return load_le<uint16_t>(record.data() + at);
}
uint32_t u32(Bytes record, size_t at) {
  return load_le<uint32_t>(record.data() + at);
}
uint64_t u64(Bytes record, size_t at) {
  return load_le<uint64_t>(record.data() + at);
}

std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Directory {
  uint64_t begin = 0;
  uint64_t num_bytes = 0;
  uint64_t num_members = 0;
};

// A member with the place of its local header.
struct Entry {
  ZipMember member;
  uint64_t header_begin = 0;
  uint64_t data_end = 0;
};

// The end record is the last thing in the file except its own comment.
std::optional<size_t> find_end_record(Bytes file) {
  if (file.size() < kEndBytes) return std::nullopt;
  const size_t last = file.size() - kEndBytes;
  const size_t first = last > kMaxCommentBytes ? last - kMaxCommentBytes : 0;
  for (size_t at = last + 1; at-- > first;) {
    if (u32(file, at) == kEndSignature && u16(file, at + 20) == last - at) return at;
  }
  return std::nullopt;
}

// A 32-bit field may leave its value to the zip64 record; otherwise both must agree.
template <typename T>
bool agrees(T narrow, uint64_t wide) {
  return narrow == static_cast<T>(~T{0}) || narrow == wide;
}

class Parser {
 public:
  explicit Parser(const MappedFile& file) : path_(file.path()), file_(file.bytes()) {}

  Expected<std::vector<Entry>> parse();

 private:
  struct Sizes {
    uint64_t stored = 0, unpacked = 0, header_begin = 0;
  };

  Diagnostic damaged(std::string_view what) const {
    Location where;
    where.file = path_;
    return error(Code::kZip, "damaged zip archive: {}", what).at(std::move(where));
  }
  Diagnostic damaged(std::string_view name, std::string_view what) const {
    Location where;
    where.file = path_;
    return error(Code::kZip, "zip member '{}': {}", name, what).at(std::move(where));
  }

  Expected<Directory> find_directory() const;
  Expected<Directory> read_end64(size_t end_at, const Directory& narrow) const;
  Expected<Entry> parse_central(uint64_t& at, uint64_t end) const;
  Status read_zip64_extra(std::string_view name, Bytes extra, Sizes& sizes) const;
  Status resolve_data(Entry& entry, uint16_t flags, uint16_t method, uint64_t stored_bytes) const;
  Status check_local_sizes(const Entry& entry, Bytes header, Bytes extra,
                           uint64_t stored_bytes) const;
  Status check_overlap(const std::vector<Entry>& entries) const;

  const std::string& path_;
  Bytes file_;
  Directory directory_;
};

Expected<Directory> Parser::find_directory() const {
  const auto at = find_end_record(file_);
  if (!at) return damaged("there is no end record, so this is no zip archive or it is cut off");
  const Bytes record = file_.subspan(*at, kEndBytes);
  Directory found{u32(record, 16), u32(record, 12), u16(record, 10)};
  const uint16_t disk = u16(record, 4), directory_disk = u16(record, 6);
  if ((disk != 0 && disk != kNotHere16) || (directory_disk != 0 && directory_disk != kNotHere16) ||
      u16(record, 8) != found.num_members) {
    return damaged("it is split into several files");
  }
  uint64_t end = *at;
  if (*at >= kLocator64Bytes && u32(file_, *at - kLocator64Bytes) == kLocator64Signature) {
    TOSAIC_TRY(found, read_end64(*at, found));
    end = u64(file_, *at - kLocator64Bytes + 8);
  } else if (found.begin == kNotHere32 || found.num_bytes == kNotHere32) {
    return damaged("its zip64 record is missing");
  }
  if (found.num_bytes > end || found.begin != end - found.num_bytes) {
    return damaged("its directory does not end where the end record begins");
  }
  if (found.num_members > found.num_bytes / kCentralBytes) {
    return damaged("its directory is too small for the number of members");
  }
  return found;
}

Expected<Directory> Parser::read_end64(size_t end_at, const Directory& narrow) const {
  const size_t locator_at = end_at - kLocator64Bytes;
  const Bytes locator = file_.subspan(locator_at, kLocator64Bytes);
  const uint64_t at = u64(locator, 8);
  if (u32(locator, 4) != 0 || u32(locator, 16) > 1)
    return damaged("it is split into several files");
  if (at > locator_at || locator_at - at < kEnd64Bytes) {
    return damaged("its zip64 record lies outside the file");
  }
  const Bytes record = file_.subspan(at, kEnd64Bytes);
  if (u32(record, 0) != kEnd64Signature || u64(record, 4) != locator_at - at - 12) {
    return damaged("its zip64 record is not where its locator says");
  }
  Directory wide{u64(record, 48), u64(record, 40), u64(record, 32)};
  if (u32(record, 16) != 0 || u32(record, 20) != 0 || u64(record, 24) != wide.num_members) {
    return damaged("it is split into several files");
  }
  if (!agrees(static_cast<uint32_t>(narrow.begin), wide.begin) ||
      !agrees(static_cast<uint32_t>(narrow.num_bytes), wide.num_bytes) ||
      !agrees(static_cast<uint16_t>(narrow.num_members), wide.num_members)) {
    return damaged("its zip64 record contradicts its end record");
  }
  return wide;
}

// The zip64 extra field holds, in this order, just those values that did not fit their own field.
Status Parser::read_zip64_extra(std::string_view name, Bytes extra, Sizes& sizes) const {
  uint64_t* wanted[3];
  size_t num_wanted = 0;
  for (uint64_t* value : {&sizes.unpacked, &sizes.stored, &sizes.header_begin}) {
    if (*value == kNotHere32) wanted[num_wanted++] = value;
  }
  bool found = false;
  for (size_t at = 0; at < extra.size();) {
    if (extra.size() - at < 4) return damaged(name, "an extra field is cut off");
    const uint16_t id = u16(extra, at);
    const size_t num_bytes = u16(extra, at + 2);
    at += 4;
    if (num_bytes > extra.size() - at) return damaged(name, "an extra field is cut off");
    if (id == kZip64Extra) {
      if (found) return damaged(name, "it has two zip64 fields");
      if (num_bytes < 8 * num_wanted) return damaged(name, "its zip64 field is too short");
      found = true;
      for (size_t i = 0; i < num_wanted; ++i)
        *wanted[i] = u64(extra, at + 8 * i);
    }
    at += num_bytes;
  }
  if (num_wanted > 0 && !found) return damaged(name, "its zip64 field is missing");
  return ok();
}

Expected<Entry> Parser::parse_central(uint64_t& at, uint64_t end) const {
  if (end - at < kCentralBytes || u32(file_, at) != kCentralSignature) {
    return damaged("its directory is cut off");
  }
  const Bytes record = file_.subspan(at, kCentralBytes);
  const size_t name_bytes = u16(record, 28), extra_bytes = u16(record, 30);
  const size_t comment_bytes = u16(record, 32);
  at += kCentralBytes;
  if (end - at < name_bytes + extra_bytes + comment_bytes) {
    return damaged("its directory is cut off");
  }
  Entry entry;
  entry.member.name = as_text(file_.subspan(at, name_bytes));
  const Bytes extra = file_.subspan(at + name_bytes, extra_bytes);
  at += name_bytes + extra_bytes + comment_bytes;

  const std::string_view name = entry.member.name;
  if (!is_safe_zip_name(name)) {
    return damaged(name, "the name is empty, absolute, leaves the archive or is no plain UTF-8");
  }
  const uint16_t flags = u16(record, 8), method = u16(record, 10);
  if ((flags & kRefusedFlags) != 0) return damaged(name, "encryption is not supported");
  if (u16(record, 34) != 0) return damaged(name, "it lies in another file of a split archive");
  Sizes sizes{u32(record, 20), u32(record, 24), u32(record, 42)};
  TOSAIC_CHECK_OK(read_zip64_extra(name, extra, sizes));
  entry.member.compressed = method != 0;
  entry.member.crc32 = u32(record, 16);
  entry.member.num_bytes = sizes.unpacked;
  entry.header_begin = sizes.header_begin;
  if (method == 0 && sizes.stored != sizes.unpacked) {
    return damaged(name, "it is not compressed, yet its two sizes differ");
  }
  TOSAIC_CHECK_OK(resolve_data(entry, flags, method, sizes.stored));
  return entry;
}

Status Parser::resolve_data(Entry& entry, uint16_t flags, uint16_t method,
                            uint64_t stored_bytes) const {
  const std::string_view name = entry.member.name;
  const uint64_t limit = directory_.begin;  // members come before the directory
  uint64_t at = entry.header_begin;
  if (at > limit || limit - at < kLocalBytes || u32(file_, at) != kLocalSignature) {
    return damaged(name, "there is no local header where the directory says");
  }
  const Bytes header = file_.subspan(at, kLocalBytes);
  const size_t name_bytes = u16(header, 26), extra_bytes = u16(header, 28);
  at += kLocalBytes;
  if (limit - at < name_bytes + extra_bytes) return damaged(name, "its local header is cut off");
  if (as_text(file_.subspan(at, name_bytes)) != name || u16(header, 6) != flags ||
      u16(header, 8) != method) {
    return damaged(name, "its local header contradicts the directory");
  }
  const Bytes extra = file_.subspan(at + name_bytes, extra_bytes);
  at += name_bytes + extra_bytes;
  if (limit - at < stored_bytes) return damaged(name, "its data reach past the end of the file");
  if ((flags & kSizesFollowFlag) == 0) {
    TOSAIC_CHECK_OK(check_local_sizes(entry, header, extra, stored_bytes));
  }
  entry.member.stored = file_.subspan(at, stored_bytes);
  entry.data_end = at + stored_bytes;
  return ok();
}

Status Parser::check_local_sizes(const Entry& entry, Bytes header, Bytes extra,
                                 uint64_t stored_bytes) const {
  Sizes sizes{u32(header, 18), u32(header, 22), /*header_begin=*/0};
  if (sizes.stored == kNotHere32 || sizes.unpacked == kNotHere32) {
    TOSAIC_CHECK_OK(read_zip64_extra(entry.member.name, extra, sizes));
  }
  if (sizes.stored != stored_bytes || sizes.unpacked != entry.member.num_bytes ||
      u32(header, 14) != entry.member.crc32) {
    return damaged(entry.member.name, "its local header contradicts the directory");
  }
  return ok();
}

Status Parser::check_overlap(const std::vector<Entry>& entries) const {
  std::vector<const Entry*> in_file_order;
  for (const Entry& entry : entries)
    in_file_order.push_back(&entry);
  std::ranges::sort(in_file_order, {}, &Entry::header_begin);
  for (size_t i = 1; i < in_file_order.size(); ++i) {
    if (in_file_order[i]->header_begin < in_file_order[i - 1]->data_end) {
      return damaged(in_file_order[i]->member.name, "it overlaps another member");
    }
  }
  return ok();
}

Expected<std::vector<Entry>> Parser::parse() {
  TOSAIC_TRY(directory_, find_directory());
  std::vector<Entry> entries;
  entries.reserve(directory_.num_members);
  uint64_t at = directory_.begin;
  const uint64_t end = directory_.begin + directory_.num_bytes;
  for (uint64_t i = 0; i < directory_.num_members; ++i) {
    TOSAIC_TRY(Entry entry, parse_central(at, end));
    entries.push_back(entry);
  }
  if (at != end) return damaged("its directory holds more than the number of members");
  TOSAIC_CHECK_OK(check_overlap(entries));
  std::ranges::sort(entries, {}, [](const Entry& entry) { return entry.member.name; });
  for (size_t i = 1; i < entries.size(); ++i) {
    if (entries[i].member.name == entries[i - 1].member.name) {
      return damaged(entries[i].member.name, "the name occurs twice");
    }
  }
  return entries;
}

}  // namespace

bool is_safe_zip_name(std::string_view name) {
  if (name.empty() || !simdjson::validate_utf8(name.data(), name.size())) return false;
  const auto is_separator = [](char c) { return c == '/' || c == '\\'; };
  if (is_separator(name[0]) || (name.size() > 1 && name[1] == ':')) return false;
  if (std::ranges::any_of(
          name, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; })) {
    return false;
  }
  for (size_t begin = 0; begin <= name.size();) {
    size_t end = begin;
    while (end < name.size() && !is_separator(name[end]))
      ++end;
    if (name.substr(begin, end - begin) == "..") return false;
    begin = end + 1;
  }
  return true;
}

Expected<ZipReader> ZipReader::open(std::shared_ptr<const MappedFile> file) {
  TOSAIC_TRY(const std::vector<Entry> entries, Parser(*file).parse());
  ZipReader reader;
  reader.members_.reserve(entries.size());
  for (const Entry& entry : entries)
    reader.members_.push_back(entry.member);
  reader.file_ = std::move(file);
  return reader;
}

const ZipMember* ZipReader::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(members_, name, {}, &ZipMember::name);
  return at != members_.end() && at->name == name ? &*at : nullptr;
}

Status verify_crc(const ZipReader& zip, const ZipMember& member) {
  Location where;
  where.file = zip.file().path();
  if (member.compressed) {
    return error(Code::kZip, "zip member '{}': it is compressed, and must be stored here",
                 member.name)
        .at(std::move(where));
  }
  if (crc32(member.stored) != member.crc32) {
    return error(Code::kZip, "zip member '{}': its checksum (CRC-32) is wrong", member.name)
        .at(std::move(where));
  }
  return ok();
}

}  // namespace tosaic
