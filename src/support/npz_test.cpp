// SPDX-License-Identifier: Apache-2.0
#include "support/npz.h"

#include <gtest/gtest.h>
#include <zip.h>

#include <unistd.h>

#include <cstring>
#include <tuple>

#include "support/check.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

// The bytes that numpy.save (2.x) writes: a header of 128 bytes, then the elements.
std::string npy(std::string_view dictionary, std::string_view data, char major = 1,
                size_t header_bytes = 128) {
  std::string text = "\x93NUMPY";
  text += major;
  text += '\0';
  const size_t length = header_bytes - (major == 1 ? 10 : 12);
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
    text += static_cast<char>(length >> (8 * i));
  text += dictionary;
  text.append(header_bytes - 1 - text.size(), ' ');
  return text + '\n' + std::string(data);
}

std::string dictionary(std::string_view descr, std::string_view shape,
                       std::string_view fortran_order = "False") {
  return fmt::format("{{'descr': '{}', 'fortran_order': {}, 'shape': {}, }}", descr, fortran_order,
                     shape);
}

std::string raw(std::initializer_list<int> bytes) {
  std::string text;
  for (const int b : bytes)
    text += static_cast<char>(b);
  return text;
}

std::string data_of(const NpyArray& array) {
  return {reinterpret_cast<const char*>(array.data.data()), array.data.size()};
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  return {bytes.begin(), bytes.end()};
}

using Shape = std::vector<int64_t>;

void expect_npy_error(const std::string& content, std::string_view part) {
  const TestFolder folder;
  const auto arrays = read_npz(folder.put("a.npy", content));
  ASSERT_FALSE(arrays.ok()) << part;
  EXPECT_EQ(arrays.error().code, Code::kNpy) << part;
  EXPECT_EQ(arrays.error().where.file, folder.file("a.npy"));
  EXPECT_NE(arrays.error().message.find(part), std::string::npos) << arrays.error().message;
}

// Members written by libzip, deflated or stored.
std::string make_archive(const TestFolder& folder,
                         const std::vector<std::pair<std::string, std::string>>& members,
                         zip_int32_t method) {
  const std::string path = folder.file("lib.npz");
  std::filesystem::remove(path);
  int failed = 0;
  zip_t* out = zip_open(path.c_str(), ZIP_CREATE | ZIP_EXCL, &failed);
  for (const auto& [name, content] : members) {
    const auto index =
        zip_file_add(out, name.c_str(), zip_source_buffer(out, content.data(), content.size(), 0),
                     ZIP_FL_ENC_UTF_8);
    zip_set_file_compression(out, static_cast<zip_uint64_t>(index), method, 0);
  }
  EXPECT_EQ(zip_close(out), 0);
  return path;
}

TEST(ReadNpy, reads_each_dtype_shape_and_version) {
  const TestFolder folder;
  for (const auto& [descr, dtype, num_bytes] :
       std::initializer_list<std::tuple<std::string, std::string, size_t>>{{"|b1", "b1", 1},
                                                                           {"|i1", "i1", 1},
                                                                           {"|u1", "u1", 1},
                                                                           {"<i2", "i2", 2},
                                                                           {"<u2", "u2", 2},
                                                                           {"<i4", "i4", 4},
                                                                           {"<u4", "u4", 4},
                                                                           {"<i8", "i8", 8},
                                                                           {"<u8", "u8", 8},
                                                                           {"<f2", "f2", 2},
                                                                           {"<f4", "f4", 4},
                                                                           {"<f8", "f8", 8}}) {
    for (const char version : {1, 2, 3}) {
      const std::string data(6 * num_bytes, '\x01');
      const auto arrays =
          read_npz(folder.put("a.npy", npy(dictionary(descr, "(2, 3)"), data, version)));
      ASSERT_TRUE(arrays.ok()) << render(arrays.error());
      ASSERT_EQ(arrays->size(), 1u);
      const NpyArray& array = (*arrays)[0];
      EXPECT_EQ(array.name, "");
      EXPECT_EQ(array.dtype, dtype);
      EXPECT_EQ(array.shape, (Shape{2, 3}));
      EXPECT_EQ(data_of(array), data);
    }
  }
  const std::tuple<std::string, Shape, size_t> shapes[] = {
      {"()", {}, 1}, {"(3,)", {3}, 3}, {"(0, 5)", {0, 5}, 0}, {"(1, 2, 2)", {1, 2, 2}, 4}};
  for (const auto& [text, shape, num_bytes] : shapes) {
    const auto arrays =
        read_npz(folder.put("a.npy", npy(dictionary("|u1", text), std::string(num_bytes, 'x'))));
    ASSERT_TRUE(arrays.ok()) << render(arrays.error());
    EXPECT_EQ((*arrays)[0].shape, shape);
  }
}

// numpy.save(numpy.asfortranarray(numpy.arange(24, dtype="<i2").reshape(2, 3, 4))): element
// [i, j, k] has the value 12 i + 4 j + k, and i runs fastest in the file.
TEST(ReadNpy, turns_fortran_order_into_c_order) {
  std::string data;
  for (int k = 0; k < 4; ++k) {
    for (int j = 0; j < 3; ++j) {
      for (int i = 0; i < 2; ++i)
        data += raw({12 * i + 4 * j + k, 0});
    }
  }
  const TestFolder folder;
  const auto arrays =
      read_npz(folder.put("a.npy", npy(dictionary("<i2", "(2, 3, 4)", "True"), data)));
  ASSERT_TRUE(arrays.ok()) << render(arrays.error());
  std::string expected;
  for (int v = 0; v < 24; ++v)
    expected += raw({v, 0});
  EXPECT_EQ(data_of((*arrays)[0]), expected);
  const auto empty = read_npz(folder.put("a.npy", npy(dictionary("<i2", "(2, 0)", "True"), "")));
  EXPECT_TRUE(empty.ok());
}

TEST(ReadNpy, turns_big_endian_into_little_endian) {
  const TestFolder folder;
  const auto arrays =
      read_npz(folder.put("a.npy", npy(dictionary(">i4", "(2,)"), raw({1, 2, 3, 4, 5, 6, 7, 8}))));
  ASSERT_TRUE(arrays.ok()) << render(arrays.error());
  EXPECT_EQ((*arrays)[0].dtype, "i4");
  EXPECT_EQ(data_of((*arrays)[0]), raw({4, 3, 2, 1, 8, 7, 6, 5}));
}

TEST(ReadNpy, refuses_what_is_no_plain_array) {
  expect_npy_error(npy(dictionary("|O", "(1,)"), "x"), "pickle");
  expect_npy_error(npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "x"),
                   "structured");
  for (const char* descr : {"<U1", "|S4", "<c8", "<M8[s]", "|V2", "<f16", "<b1x", "", "<"}) {
    expect_npy_error(npy(dictionary(descr, "(1,)"), "x"), "not supported");
  }
  for (const char* descr : {"=i4", "|i4", "i4"}) {
    expect_npy_error(npy(dictionary(descr, "(1,)"), "xxxx"), "dtype");
  }
  expect_npy_error(npy(dictionary("|b1", "(1,)"), "\x02"), "boolean");
  expect_npy_error(npy(dictionary("|u1", "(1,)"), "x", 4), "version");
}

TEST(ReadNpy, refuses_headers_that_numpy_does_not_write) {
  for (const char* shape : {"(3)", "(-3,)", "(,)", "(3 3)", "3", "[3]", "(3,,)", "(3.0,)", "(3L,)",
                            "(99999999999999999999,)", "(3,"}) {
    expect_npy_error(npy(dictionary("|u1", shape), "xxx"), "damaged");
  }
  for (const char* text :
       {"", "{}", "{'descr': '<f4'}", "{'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': false, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1,)",
        "{'descr: <f4, fortran_order: False, shape: (1,)}"}) {
    expect_npy_error(npy(text, "xxxx"), "damaged");
  }
}

TEST(ReadNpy, refuses_shapes_whose_product_wraps_or_differs_from_the_data) {
  expect_npy_error(npy(dictionary("<i8", "(4294967296, 4294967296)"), ""), "too large");
  expect_npy_error(npy(dictionary("<i8", "(0, 4294967296, 4294967296)"), ""), "too large");
  expect_npy_error(npy(dictionary("<i8", "(2305843009213693952,)"), ""), "too large");
  expect_npy_error(npy(dictionary("|u1", "(3,)"), "xx"), "needs 3 bytes");
  expect_npy_error(npy(dictionary("|u1", "(3,)"), "xxxx"), "there are 4");
  std::string many = "(";
  for (int i = 0; i < 65; ++i)
    many += "1, ";
  expect_npy_error(npy(dictionary("|u1", many + ")"), "x", 1, 512), "dimensions");
}

TEST(ReadNpy, any_cut_is_an_error_and_any_changed_byte_is_an_error_or_an_array) {
  const TestMemoryFile memory;
  const std::string good = npy(dictionary("<i2", "(3, 2)", "True"), "abcdefghijkl");
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(read_npz(memory.put(good.substr(0, cut))).ok()) << cut;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (int flip = 1; flip < 256; flip = 2 * flip + 1) {
      std::string changed = good;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto arrays = read_npz(memory.put(changed));
      if (!arrays.ok()) continue;
      EXPECT_EQ((*arrays)[0].data.size(), 12u);
    }
  }
}

TEST(ReadNpz, reads_stored_and_compressed_members_in_the_order_of_the_file) {
  const TestFolder folder;
  const std::string big(3000000, '\x07');
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const auto arrays =
        read_npz(make_archive(folder,
                              {{"z.npy", npy(dictionary("|u1", "(2,)"), "ab")},
                               {"a/b.npy", npy(dictionary("|i1", "(3000, 1000)"), big)},
                               {"größe.npy", npy(dictionary("<f4", "()"), "abcd")}},
                              method));
    ASSERT_TRUE(arrays.ok()) << render(arrays.error());
    ASSERT_EQ(arrays->size(), 3u);
    EXPECT_EQ((*arrays)[0].name, "z");
    EXPECT_EQ(data_of((*arrays)[0]), "ab");
    EXPECT_EQ((*arrays)[1].name, "a/b");
    EXPECT_EQ(data_of((*arrays)[1]), big);
    EXPECT_EQ((*arrays)[2].name, "größe");
  }
}

TEST(ReadNpz, data_of_arrays_that_nobody_wants_are_not_unpacked) {
  const TestFolder folder;
  const std::string zeros(size_t{4} << 20, '\0');
  const std::string path = make_archive(folder,
                                        {{"great.npy", npy(dictionary("<f4", "(1048576,)"), zeros)},
                                         {"small.npy", npy(dictionary("|u1", "(2,)"), "ab")}},
                                        ZIP_CM_DEFLATE);
  const auto arrays =
      read_npz(path, [](const NpyArray& head) { return head.shape[0] == 2 ? kAllRows : 0; });
  ASSERT_TRUE(arrays.ok()) << arrays.error().message;
  ASSERT_EQ(arrays->size(), 2u);
  EXPECT_EQ((*arrays)[0].name, "great");
  EXPECT_EQ((*arrays)[0].dtype, "f4");
  EXPECT_EQ((*arrays)[0].shape, Shape{1048576});
  EXPECT_TRUE((*arrays)[0].data.empty());
  EXPECT_EQ(data_of((*arrays)[1]), "ab");
}

/// Of 3 rows, the first 2: of an array in C order, what is after them does not matter, while the
/// rows of one in Fortran's order need all of it.
TEST(ReadNpz, gives_as_many_rows_as_are_wanted) {
  const TestFolder folder;
  const std::vector<std::pair<std::string, std::string>> members = {
      {"c.npy", npy(dictionary("|u1", "(3, 2)"), "abcdef")},
      {"f.npy", npy(dictionary("|u1", "(3, 2)", "True"), "acebdf")},
      {"short.npy", npy(dictionary("|u1", "(1, 2)"), "ab")}};
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    const auto arrays =
        read_npz(make_archive(folder, members, method), [](const NpyArray&) { return 2; });
    ASSERT_TRUE(arrays.ok()) << arrays.error().message;
    EXPECT_EQ(data_of((*arrays)[0]), "abcd");
    EXPECT_EQ((*arrays)[0].shape, (Shape{3, 2}));
    EXPECT_EQ(data_of((*arrays)[1]).substr(0, 4), "abcd");
    EXPECT_EQ(data_of((*arrays)[2]), "ab");
  }
}

TEST(ReadNpz, rows_beyond_those_wanted_are_not_unpacked) {
  const TestFolder folder;
  // 3 MiB, whose checksum is wrong: seen only by who reads to the end.
  std::ignore = make_archive(
      folder,
      {{"a.npy", npy(dictionary("|u1", "(3, 1048576)"), std::string(size_t{3} << 20, 'x'))}},
      ZIP_CM_DEFLATE);
  std::string file = folder.get("lib.npz");
  const size_t directory = file.find("PK\x01\x02");
  file[14] ^= 1;
  file[directory + 16] ^= 1;
  const std::string path = folder.put("bad.npz", file);
  EXPECT_FALSE(read_npz(path).ok());
  const auto arrays = read_npz(path, [](const NpyArray&) { return 1; });
  ASSERT_TRUE(arrays.ok()) << arrays.error().message;
  EXPECT_EQ(data_of((*arrays)[0]), std::string(size_t{1} << 20, 'x'));
}

TEST(ReadNpz, names_the_member_that_is_bad) {
  const TestFolder folder;
  const std::string good = npy(dictionary("|u1", "(2,)"), "ab");
  for (const auto& [name, content] : {std::pair<std::string, std::string>{"b.txt", good},
                                      {"b.npy", "no array"},
                                      {"b.npy", good + "x"}}) {
    const auto arrays =
        read_npz(make_archive(folder, {{"a.npy", good}, {name, content}}, ZIP_CM_DEFLATE));
    ASSERT_FALSE(arrays.ok());
    EXPECT_EQ(arrays.error().code, Code::kNpy);
    EXPECT_NE(arrays.error().message.find("'" + name + "'"), std::string::npos);
    EXPECT_EQ(arrays.error().where.file, folder.file("lib.npz"));
  }
}

TEST(ReadNpz, a_claimed_size_that_no_compression_reaches_is_refused_before_any_memory_is_taken) {
  const TestFolder folder;
  std::ignore =
      make_archive(folder, {{"a.npy", npy(dictionary("|u1", "(90000,)"), std::string(90000, 'x'))}},
                   ZIP_CM_DEFLATE);
  std::string file = folder.get("lib.npz");
  // The uncompressed size stands at 22 of the local header and at 24 of the directory's.
  const size_t directory = file.find("PK\x01\x02");
  for (const uint32_t claim : {0xfffffffeu, 90127u, 90129u, 5000000u}) {
    std::memcpy(&file[22], &claim, 4);
    std::memcpy(&file[directory + 24], &claim, 4);
    const auto arrays = read_npz(folder.put("bomb.npz", file));
    ASSERT_FALSE(arrays.ok()) << claim;
    EXPECT_EQ(arrays.error().code, Code::kZip);
  }
}

TEST(ReadNpz, a_wrong_checksum_is_an_error) {
  const TestFolder folder;
  for (const zip_int32_t method : {ZIP_CM_STORE, ZIP_CM_DEFLATE}) {
    std::ignore = make_archive(
        folder, {{"a.npy", npy(dictionary("|u1", "(500,)"), std::string(500, 'x'))}}, method);
    std::string file = folder.get("lib.npz");
    const size_t directory = file.find("PK\x01\x02");
    for (const size_t at : {size_t{14}, directory + 16}) {
      file[at] = static_cast<char>(file[at] ^ 1);  // the CRC, in both headers
    }
    const auto arrays = read_npz(folder.put("bad.npz", file));
    ASSERT_FALSE(arrays.ok());
    EXPECT_EQ(arrays.error().code, Code::kZip);
  }
}

TEST(ReadNpz, any_cut_or_changed_byte_of_a_compressed_archive_is_an_error_or_an_array) {
  const TestFolder folder;
  const TestMemoryFile memory;
  std::ignore = make_archive(
      folder, {{"a.npy", npy(dictionary("|u1", "(20,)"), std::string(20, 'x'))}}, ZIP_CM_DEFLATE);
  const std::string good = folder.get("lib.npz");
  for (size_t cut = 0; cut < good.size(); ++cut) {
    EXPECT_FALSE(read_npz(memory.put(good.substr(0, cut))).ok()) << cut;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const int flip : {1, 8, 0x80, 0xff}) {
      std::string changed = good;
      changed[at] = static_cast<char>(changed[at] ^ flip);
      const auto arrays = read_npz(memory.put(changed));
      if (!arrays.ok() || arrays->empty()) continue;
      EXPECT_EQ((*arrays)[0].data.size(), 20u);
    }
  }
}

TEST(ReadNpz, a_file_of_another_kind_is_an_error) {
  const TestMemoryFile memory;
  for (const std::string text : {"", "P", "{}", "\x93NUMPX"}) {
    const auto arrays = read_npz(memory.put(text));
    ASSERT_FALSE(arrays.ok());
    EXPECT_EQ(arrays.error().code, Code::kFileKind);
  }
}

std::vector<NpyArray> sample_arrays() {
  return {{"x", "f4", {1, 2}, bytes_of("abcdefgh")},
          {"Net.größe/1", "i1", {}, bytes_of("q")},
          {"empty", "i8", {0, 3}, {}},
          {"a", "u2", {3}, bytes_of("123456")}};
}

TEST(WriteNpz, what_is_written_is_read_again) {
  const TestFolder folder;
  ASSERT_TRUE(write_npz(folder.file("a.npz"), sample_arrays()).ok());
  const auto arrays = read_npz(folder.file("a.npz"));
  ASSERT_TRUE(arrays.ok()) << render(arrays.error());
  const auto expected = sample_arrays();
  ASSERT_EQ(arrays->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ((*arrays)[i].name, expected[i].name);
    EXPECT_EQ((*arrays)[i].dtype, expected[i].dtype);
    EXPECT_EQ((*arrays)[i].shape, expected[i].shape);
    EXPECT_EQ((*arrays)[i].data, expected[i].data);
  }
  ASSERT_TRUE(write_npz(folder.file("none.npz"), {}).ok());
  EXPECT_TRUE(read_npz(folder.file("none.npz"))->empty());
}

TEST(WriteNpz, libzip_finds_the_bytes_that_numpy_writes) {
  const TestFolder folder;
  ASSERT_TRUE(write_npz(folder.file("a.npz"), sample_arrays()).ok());
  int failed = 0;
  zip_t* in = zip_open(folder.file("a.npz").c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &failed);
  ASSERT_NE(in, nullptr) << failed;
  const std::pair<const char*, std::string> expected[] = {
      {"x.npy", npy(dictionary("<f4", "(1, 2)"), "abcdefgh")},
      {"Net.größe/1.npy", npy(dictionary("|i1", "()"), "q")},
      {"empty.npy", npy(dictionary("<i8", "(0, 3)"), "")},
      {"a.npy", npy(dictionary("<u2", "(3,)"), "123456")}};
  EXPECT_EQ(zip_get_num_entries(in, 0), 4);
  for (const auto& [name, content] : expected) {
    zip_file_t* member = zip_fopen(in, name, 0);
    ASSERT_NE(member, nullptr) << name;
    std::string got(1000, '\0');
    const zip_int64_t num_bytes = zip_fread(member, got.data(), got.size());
    got.resize(static_cast<size_t>(std::max<zip_int64_t>(num_bytes, 0)));
    EXPECT_EQ(zip_fread(member, got.data(), 1), 0);  // compares the checksum
    EXPECT_EQ(zip_fclose(member), 0);
    // NumPy leaves room for growth; the padding apart, the headers are the same.
    const auto without_padding = [](std::string text) {
      const size_t end = text.find('}');
      return text.substr(10, end - 9) + text.substr(text.find('\n') + 1);
    };
    EXPECT_EQ(without_padding(got), without_padding(content));
    EXPECT_EQ((got.find('\n') + 1) % 64, 0u);
  }
  zip_discard(in);
}

TEST(WriteNpz, gives_the_same_bytes_every_time) {
  const TestFolder folder;
  ASSERT_TRUE(write_npz(folder.file("a"), sample_arrays()).ok());
  ::usleep(10000);
  ASSERT_TRUE(write_npz(folder.file("b"), sample_arrays()).ok());
  EXPECT_EQ(folder.get("a"), folder.get("b"));
}

TEST(WriteNpz, refuses_names_that_no_archive_may_hold) {
  const TestFolder folder;
  for (const std::string& name : {std::string(), std::string("../x"), std::string("/x"),
                                  std::string("a\0b", 3), std::string(70000, 'n')}) {
    const Status status = write_npz(folder.file("a"), {{name, "i1", {}, bytes_of("q")}});
    ASSERT_FALSE(status.ok()) << name;
    EXPECT_EQ(status.error().code, Code::kFileWrite);
  }
  const NpyArray array{"x", "i1", {}, bytes_of("q")};
  EXPECT_FALSE(write_npz(folder.file("a"), {array, array}).ok());
  EXPECT_TRUE(folder.list().empty());
}

TEST(WriteNpz, data_that_do_not_fill_the_shape_are_a_bug) {
  const TestFolder folder;
  EXPECT_THROW(std::ignore = write_npz(folder.file("a"), {{"x", "i2", {2}, bytes_of("abc")}}),
               BugError);
  EXPECT_THROW(std::ignore = write_npz(folder.file("a"), {{"x", "q2", {}, bytes_of("ab")}}),
               BugError);
}

}  // namespace
}  // namespace tosaic
