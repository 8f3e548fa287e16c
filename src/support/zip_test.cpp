// SPDX-License-Identifier: Apache-2.0
#include "support/zip.h"

#include <gtest/gtest.h>
#include <zip.h>

#include "support/crc32.h"
#include "support/little_endian.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

using ByteVector = std::vector<std::byte>;

void append(ByteVector& to, std::string_view text) {
  for (const char c : text)
    to.push_back(static_cast<std::byte>(c));
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// One member as it is written to both headers; the fields can be made to lie.
struct TestMember {
  std::string name;
  std::string data;
  uint16_t flags = 0x0808;  // sizes follow the data and UTF-8, as PyTorch writes
  uint16_t method = 0;
  std::string local_name = name;
  std::string local_extra = {};
  std::string extra = {};
  int64_t size_lie = 0;    // added to the directory's uncompressed size
  int64_t offset_lie = 0;  // added to the directory's offset
  uint16_t disk = 0;
  uint16_t local_method = method;
};

struct TestArchive {
  std::vector<TestMember> members;
  bool zip64 = false;
  std::string comment = {};
  int count_lie = 0;

  // APPNOTE 4.3.7, 4.3.12, 4.3.14 to 4.3.16.
  ByteVector bytes() const {
    ByteVector file, directory;
    for (const TestMember& m : members)
      append_member(file, directory, m);
    const uint64_t begin = file.size(), num_bytes = directory.size();
    const uint64_t count = members.size() + static_cast<uint64_t>(count_lie);
    file.insert(file.end(), directory.begin(), directory.end());
    if (zip64) {
      const uint64_t end64 = file.size();
      append_le<uint32_t>(file, 0x06064b50);
      append_le<uint64_t>(file, 44);
      append_le<uint32_t>(file, 0x002d002d);
      append_le<uint64_t>(file, 0);
      for (const uint64_t v : {count, count, num_bytes, begin})
        append_le<uint64_t>(file, v);
      append_le<uint32_t>(file, 0x07064b50);
      append_le<uint32_t>(file, 0);
      append_le<uint64_t>(file, end64);
      append_le<uint32_t>(file, 1);
    }
    append_le<uint32_t>(file, 0x06054b50);
    append_le<uint32_t>(file, 0);
    for (int i = 0; i < 2; ++i) {
      append_le<uint16_t>(file, static_cast<uint16_t>(zip64 ? 0xffff : count));
    }
    append_le<uint32_t>(file, static_cast<uint32_t>(zip64 ? 0xffffffff : num_bytes));
    append_le<uint32_t>(file, static_cast<uint32_t>(zip64 ? 0xffffffff : begin));
    append_le<uint16_t>(file, static_cast<uint16_t>(comment.size()));
    append(file, comment);
    return file;
  }

  static void append_member(ByteVector& file, ByteVector& directory, const TestMember& m) {
    const auto offset = static_cast<uint32_t>(static_cast<int64_t>(file.size()) + m.offset_lie);
    const auto num_bytes = static_cast<uint32_t>(m.data.size());
    const uint32_t crc = crc32(std::as_bytes(std::span(m.data)));
    const bool follows = (m.flags & 8) != 0;
    append_le<uint32_t>(file, 0x04034b50);
    for (const uint16_t v : {uint16_t{20}, m.flags, m.local_method, uint16_t{0}, uint16_t{0x21}}) {
      append_le<uint16_t>(file, v);
    }
    for (const uint32_t v : {crc, num_bytes, num_bytes})
      append_le<uint32_t>(file, follows ? 0 : v);
    append_le<uint16_t>(file, static_cast<uint16_t>(m.local_name.size()));
    append_le<uint16_t>(file, static_cast<uint16_t>(m.local_extra.size()));
    append(file, m.local_name + m.local_extra + m.data);
    if (follows) {
      for (const uint32_t v : {0x08074b50u, crc, num_bytes, num_bytes})
        append_le<uint32_t>(file, v);
    }
    append_le<uint32_t>(directory, 0x02014b50);
    for (const uint16_t v :
         {uint16_t{20}, uint16_t{20}, m.flags, m.method, uint16_t{0}, uint16_t{0x21}}) {
      append_le<uint16_t>(directory, v);
    }
    append_le<uint32_t>(directory, crc);
    append_le<uint32_t>(directory, num_bytes);
    append_le<uint32_t>(directory, static_cast<uint32_t>(num_bytes + m.size_lie));
    append_le<uint16_t>(directory, static_cast<uint16_t>(m.name.size()));
    append_le<uint16_t>(directory, static_cast<uint16_t>(m.extra.size()));
    append_le<uint16_t>(directory, 0);
    append_le<uint16_t>(directory, m.disk);
    append_le<uint16_t>(directory, 0);
    append_le<uint32_t>(directory, 0);
    append_le<uint32_t>(directory, offset);
    append(directory, m.name + m.extra);
  }
};

Expected<ZipReader> open_bytes(const TestMemoryFile& memory, std::span<const std::byte> bytes) {
  TOSAIC_TRY(auto file, MappedFile::open(memory.put(bytes)));
  return ZipReader::open(std::move(file));
}

TestArchive small_archive(bool zip64 = true) {
  return {.members = {{"net/models/model.json", "{}"},
                      {.name = "net/data/weights/weight_0",
                       .data = "0123456789abcdef",
                       .local_extra = std::string("FB\x03\x00ZZZ", 7)},
                      {"net/byteorder", "little"}},
          .zip64 = zip64};
}

TEST(Crc32, gives_the_published_check_value_in_any_partition) {
  const std::string text = "123456789";
  const auto bytes = std::as_bytes(std::span(text));
  EXPECT_EQ(crc32(bytes), 0xcbf43926u);  // the check value of CRC-32/ISO-HDLC
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(crc32(bytes.subspan(cut), crc32(bytes.first(cut))), 0xcbf43926u);
  }
  EXPECT_EQ(crc32({}), 0u);
}

TEST(ZipReader, finds_every_member_with_and_without_zip64) {
  const TestMemoryFile memory;
  for (const bool zip64 : {false, true}) {
    const auto zip = open_bytes(memory, small_archive(zip64).bytes());
    ASSERT_TRUE(zip.ok()) << render(zip.error());
    ASSERT_EQ(zip->members().size(), 3u);
    const ZipMember* weight = zip->find("net/data/weights/weight_0");
    ASSERT_NE(weight, nullptr);
    EXPECT_EQ(text_of(weight->stored), "0123456789abcdef");
    EXPECT_EQ(weight->num_bytes, 16u);
    EXPECT_FALSE(weight->compressed);
    EXPECT_TRUE(verify_crc(*zip, *weight).ok());
    EXPECT_EQ(text_of(zip->find("net/byteorder")->stored), "little");
    EXPECT_EQ(zip->find("net/byte"), nullptr);
    EXPECT_EQ(zip->find(""), nullptr);
  }
}

TEST(ZipReader, takes_an_empty_archive_a_comment_and_members_without_data) {
  const TestMemoryFile memory;
  const auto empty = open_bytes(memory, TestArchive{}.bytes());
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE(empty->members().empty());
  // The comment imitates an end record, which its own length field gives away.
  const auto zip = open_bytes(memory, TestArchive{.members = {{"a/", ""}, {"b", ""}},
                                                  .comment = "PK\x05\x06 and some more text here"}
                                          .bytes());
  ASSERT_TRUE(zip.ok()) << render(zip.error());
  EXPECT_EQ(zip->members().size(), 2u);
}

TEST(ZipReader, reads_what_libzip_writes) {
  const TestFolder folder;
  const std::string path = folder.file("lib.zip"), big(50000, 'z'), small = "small";
  int failed = 0;
  zip_t* out = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &failed);
  ASSERT_NE(out, nullptr);
  zip_file_add(out, "größe", zip_source_buffer(out, big.data(), big.size(), 0), ZIP_FL_ENC_UTF_8);
  const auto stored =
      zip_file_add(out, "s", zip_source_buffer(out, small.data(), small.size(), 0), 0);
  zip_set_file_compression(out, static_cast<zip_uint64_t>(stored), ZIP_CM_STORE, 0);
  ASSERT_EQ(zip_close(out), 0);

  const auto zip = ZipReader::open(*MappedFile::open(path));
  ASSERT_TRUE(zip.ok()) << render(zip.error());
  const ZipMember* packed = zip->find("größe");
  ASSERT_NE(packed, nullptr);
  EXPECT_TRUE(packed->compressed);
  EXPECT_EQ(packed->num_bytes, big.size());
  EXPECT_LT(packed->stored.size(), big.size());
  EXPECT_FALSE(verify_crc(*zip, *packed).ok());
  EXPECT_EQ(text_of(zip->find("s")->stored), small);
  EXPECT_TRUE(verify_crc(*zip, *zip->find("s")).ok());
}

TEST(ZipReader, libzip_reads_the_archives_of_this_test) {
  const TestFolder folder;
  const std::string path = folder.put("a.zip", small_archive().bytes());
  int failed = 0;
  zip_t* in = zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &failed);
  ASSERT_NE(in, nullptr) << failed;
  EXPECT_EQ(zip_get_num_entries(in, 0), 3);
  zip_discard(in);
}

TEST(ZipReader, refuses_archives_that_lie) {
  const std::string zip64_cut("\x01\x00\x08\x00\x00", 5);
  const std::pair<const char*, TestArchive> cases[] = {
      {"encrypted", {.members = {{.name = "a", .data = "x", .flags = 0x0809}}}},
      {"strong encryption", {.members = {{.name = "a", .data = "x", .flags = 0x0848}}}},
      {"absolute", {.members = {{"/etc/passwd", "x"}}}},
      {"absolute for Windows", {.members = {{"C:\\x", "x"}}}},
      {"outside", {.members = {{"a/../../b", "x"}}}},
      {"outside with backslash", {.members = {{"a\\..\\b", "x"}}}},
      {"no name", {.members = {{"", "x"}}}},
      {"not UTF-8", {.members = {{"a\xff", "x"}}}},
      {"control character", {.members = {{"a\x1b", "x"}}}},
      {"twice", {.members = {{"a", "x"}, {"b", "y"}, {"a", "z"}}}},
      {"sizes differ", {.members = {{.name = "a", .data = "x", .size_lie = 1}}}},
      {"other local name", {.members = {{.name = "a", .data = "x", .local_name = "b"}}}},
      {"other local method", {.members = {{.name = "a", .data = "x", .local_method = 8}}}},
      {"offset past the end", {.members = {{.name = "a", .data = "x", .offset_lie = 5000}}}},
      {"offset into data", {.members = {{.name = "a", .data = "xxxx", .offset_lie = 1}}}},
      {"offset with zip64 mark", {.members = {{.name = "a", .data = "x", .offset_lie = -1}}}},
      {"extra cut off", {.members = {{.name = "a", .data = "x", .extra = "\x01\x01\x01"}}}},
      {"extra too long", {.members = {{.name = "a", .data = "x", .extra = zip64_cut}}}},
      {"other disk", {.members = {{.name = "a", .data = "x", .disk = 1}}}},
      {"too many", {.members = {{"a", "x"}}, .count_lie = 1}},
      {"too few", {.members = {{"a", "x"}, {"b", "x"}}, .count_lie = -1}},
  };
  const TestMemoryFile memory;
  for (const auto& [what, archive] : cases) {
    for (const bool zip64 : {false, true}) {
      TestArchive changed = archive;
      changed.zip64 = zip64;
      const auto zip = open_bytes(memory, changed.bytes());
      ASSERT_FALSE(zip.ok()) << what;
      EXPECT_EQ(zip.error().code, Code::kZip) << what;
      EXPECT_EQ(zip.error().where.file, memory.put(changed.bytes())) << what;
    }
  }
}

TEST(ZipReader, refuses_members_that_share_their_data) {
  // Both directory entries point to the header of "a", the second under the name that it bears.
  TestArchive archive{.members = {{"a", "xxxxxxxx"}, {"a", "xxxxxxxx"}}};
  archive.members[1].offset_lie = -static_cast<int64_t>(30 + 1 + 8 + 16);
  const TestMemoryFile memory;
  const auto zip = open_bytes(memory, archive.bytes());
  ASSERT_FALSE(zip.ok());
  EXPECT_NE(zip.error().message.find("overlaps"), std::string::npos) << zip.error().message;
}

TEST(ZipReader, a_file_that_is_no_archive_is_an_error) {
  const TestMemoryFile memory;
  for (const std::string text : {"", "P", "PK\x05\x06", "just some text that is longer than 22"}) {
    EXPECT_FALSE(open_bytes(memory, std::as_bytes(std::span(text))).ok()) << text;
  }
  EXPECT_FALSE(open_bytes(memory, ByteVector(200000, std::byte{0x50})).ok());
}

TEST(ZipReader, a_wrong_checksum_is_found) {
  const TestMemoryFile memory;
  ByteVector bytes = small_archive().bytes();
  const size_t at = text_of(bytes).find("0123456789");
  bytes[at] = std::byte{'9'};
  const auto zip = open_bytes(memory, bytes);
  ASSERT_TRUE(zip.ok());
  const Status status = verify_crc(*zip, *zip->find("net/data/weights/weight_0"));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, Code::kZip);
}

// Touches all bytes, so that the address sanitizer sees a span that leaves the file.
uint32_t read_everything(const ZipReader& zip) {
  uint32_t sum = 0;
  for (const ZipMember& member : zip.members()) {
    sum += crc32(member.stored) + static_cast<uint32_t>(member.name.size());
    const auto file = zip.file().bytes();
    EXPECT_GE(member.stored.data(), file.data());
    EXPECT_LE(member.stored.data() + member.stored.size(), file.data() + file.size());
    EXPECT_EQ(zip.find(member.name), &member);
  }
  return sum;
}

TEST(ZipReader, an_archive_cut_at_any_byte_is_an_error) {
  const TestMemoryFile memory;
  for (const bool zip64 : {false, true}) {
    const ByteVector bytes = small_archive(zip64).bytes();
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
      EXPECT_FALSE(open_bytes(memory, std::span(bytes).first(cut)).ok()) << cut;
    }
  }
}

TEST(ZipReader, any_changed_byte_gives_an_error_or_members_inside_the_file) {
  const TestMemoryFile memory;
  for (const bool zip64 : {false, true}) {
    const ByteVector bytes = small_archive(zip64).bytes();
    for (size_t at = 0; at < bytes.size(); ++at) {
      for (const uint8_t flip : {0x01, 0x02, 0x40, 0x80, 0xff}) {
        ByteVector changed = bytes;
        changed[at] ^= std::byte{flip};
        const auto zip = open_bytes(memory, changed);
        if (zip.ok()) read_everything(*zip);
      }
    }
  }
}

TEST(ZipReader, any_field_at_its_limits_gives_an_error_or_members_inside_the_file) {
  const TestMemoryFile memory;
  const ByteVector bytes = small_archive().bytes();
  for (const size_t width : {2u, 4u, 8u}) {
    for (size_t at = 0; at + width <= bytes.size(); ++at) {
      for (const uint8_t low : {0xff, 0xfe, 0xd0, 0x00}) {
        ByteVector changed = bytes;
        std::fill_n(changed.begin() + static_cast<ptrdiff_t>(at), width,
                    std::byte{static_cast<uint8_t>(low == 0 ? 0 : 0xff)});
        changed[at] = std::byte{low};
        const auto zip = open_bytes(memory, changed);
        if (zip.ok()) read_everything(*zip);
      }
    }
  }
}

TEST(ZipReader, many_members_are_found_by_name) {
  const TestMemoryFile memory;
  TestArchive archive{.members = {}, .zip64 = true};
  for (int i = 0; i < 20000; ++i) {
    archive.members.push_back({fmt::format("w/{}", i), fmt::format("{}", i)});
  }
  const auto zip = open_bytes(memory, archive.bytes());
  ASSERT_TRUE(zip.ok()) << render(zip.error());
  for (int i = 0; i < 20000; i += 7) {
    const ZipMember* member = zip->find(fmt::format("w/{}", i));
    ASSERT_NE(member, nullptr);
    EXPECT_EQ(text_of(member->stored), fmt::format("{}", i));
  }
}

}  // namespace
}  // namespace tosaic
