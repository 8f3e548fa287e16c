// SPDX-License-Identifier: Apache-2.0
#include "support/npz.h"

#include <zip.h>

#include <algorithm>
#include <memory>
#include <set>
#include <span>
#include <string_view>

#include "support/crc32.h"
#include "support/little_endian.h"
#include "support/mapped_file.h"
#include "support/npy_header.h"
#include "support/output_file.h"
#include "support/zip.h"

namespace tosaic {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint64_t kMaxUnpackedBytes = uint64_t{1} << 32;
// Deflate packs at most 1032 to 1; more is a lie of the directory.
constexpr uint64_t kMaxRatio = 1100;
constexpr std::string_view kSuffix = ".npy";

Location in_file(const std::string& path) {
  Location where;
  where.file = path;
  return where;
}

// Copies elements so that the last index runs fastest; in the file the first one does.
void from_fortran_order(const std::byte* from, std::byte* to, size_t element_bytes,
                        std::span<const int64_t> shape, size_t num_elements) {
  std::vector<size_t> strides(shape.size());  // of the file, in elements
  size_t stride = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    strides[d] = stride;
    stride *= static_cast<size_t>(shape[d]);
  }
  std::vector<int64_t> index(shape.size(), 0);
  size_t source = 0;
  for (size_t i = 0; i < num_elements; ++i) {
    std::copy_n(from + source * element_bytes, element_bytes, to + i * element_bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++index[d] < shape[d]) break;
      source -= strides[d] * static_cast<size_t>(shape[d]);
      index[d] = 0;
    }
  }
}

// The bytes of data that hold the rows which are wanted.
uint64_t data_bytes_wanted(const NpyHeader& header, const RowsWanted& rows_wanted) {
  if (!rows_wanted) return header.data_bytes;
  const int64_t rows = rows_wanted({"", header.dtype, header.shape, {}});
  if (rows <= 0) return 0;
  if (header.shape.empty() || rows >= header.shape[0]) return header.data_bytes;
  // The rows of an array in Fortran's order are all over it.
  if (header.fortran_order && header.shape.size() > 1) return header.data_bytes;
  const auto num_rows = static_cast<uint64_t>(header.shape[0]);
  return header.data_bytes / num_rows * static_cast<uint64_t>(rows);
}

// The bytes at the start of a file that hold what is wanted of it; all when there is no telling.
uint64_t file_bytes_wanted(Bytes start, uint64_t file_bytes, const RowsWanted& rows_wanted) {
  const Expected<NpyHeader> header = parse_npy_header(start);
  if (!header) return file_bytes;
  const uint64_t data_bytes = data_bytes_wanted(*header, rows_wanted);
  if (data_bytes == header->data_bytes) return file_bytes;
  return std::min(file_bytes, header->header_bytes + data_bytes);
}

// `file` has at least what is wanted of a file of `file_bytes`.
Expected<NpyArray> parse_npy(std::string name, Bytes file, uint64_t file_bytes,
                             const RowsWanted& rows_wanted) {
  TOSAIC_TRY(NpyHeader header, parse_npy_header(file));
  if (file_bytes - header.header_bytes != header.data_bytes) {
    return error(Code::kNpy, "the shape needs {} bytes of data, and there are {}",
                 header.data_bytes, file_bytes - header.header_bytes);
  }
  const Bytes data = file.subspan(header.header_bytes, data_bytes_wanted(header, rows_wanted));
  NpyArray array{std::move(name), std::move(header.dtype), std::move(header.shape), {}};
  if (data.empty()) return array;
  const size_t element_bytes = npy_element_bytes(array.dtype);
  if (header.fortran_order && array.shape.size() > 1) {
    array.data.resize(data.size());
    from_fortran_order(data.data(), array.data.data(), element_bytes, array.shape,
                       data.size() / element_bytes);
  } else {
    array.data.assign(data.begin(), data.end());
  }
  if (header.big_endian) {
    for (auto at = array.data.begin(); at != array.data.end(); at += element_bytes) {
      std::reverse(at, at + element_bytes);
    }
  }
  if (array.dtype == "b1" &&
      std::ranges::any_of(array.data, [](std::byte b) { return static_cast<uint8_t>(b) > 1; })) {
    return error(Code::kNpy, "a boolean is neither 0 nor 1");
  }
  return array;
}

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

// Decompresses members of one archive with libzip. ZipReader has checked the directory before.
class Unpacker {
 public:
  explicit Unpacker(const MappedFile& file) : file_(file) {}

  /// All of a member; or at least the first bytes, up to the last of an array's that is wanted.
  Expected<std::vector<std::byte>> unpack(const ZipMember& member, const RowsWanted& rows_wanted) {
    if (member.num_bytes / kMaxRatio > member.stored.size()) return too_much(member.num_bytes);
    if (archive_ == nullptr) TOSAIC_CHECK_OK(open());
    const std::string name(member.name);
    const zip_int64_t index = zip_name_locate(archive_.get(), name.c_str(), ZIP_FL_ENC_RAW);
    std::unique_ptr<zip_file_t, CloseMember> opened(
        index < 0 ? nullptr : zip_fopen_index(archive_.get(), static_cast<zip_uint64_t>(index), 0));
    if (opened == nullptr) return failed(zip_strerror(archive_.get()));
    return read(opened.get(), member.num_bytes, rows_wanted);
  }

 private:
  static Diagnostic failed(std::string_view why) {
    return error(Code::kZip, "it cannot be decompressed: {}", why);
  }

  Status open() {
    zip_error_t why;
    zip_error_init(&why);
    const Bytes bytes = file_.bytes();
    zip_source_t* source = zip_source_buffer_create(bytes.data(), bytes.size(), /*freep=*/0, &why);
    if (source != nullptr) archive_.reset(zip_open_from_source(source, ZIP_RDONLY, &why));
    Status status;
    if (archive_ == nullptr) {
      status = failed(zip_error_strerror(&why));
      if (source != nullptr) zip_source_free(source);
    }
    zip_error_fini(&why);
    return status;
  }

  static Diagnostic too_much(uint64_t num_bytes) {
    return error(Code::kZip, "it claims to hold {} bytes, which is too much to be true", num_bytes);
  }

  Expected<std::vector<std::byte>> read(zip_file_t* member, uint64_t num_bytes,
                                        const RowsWanted& rows_wanted) {
    constexpr uint64_t kChunkBytes = uint64_t{1} << 20;
    std::vector<std::byte> data;
    uint64_t wanted = num_bytes;
    // Grows with what is really there, whatever the directory claims. The read after the last byte
    // lets libzip compare the checksum.
    for (;;) {
      const size_t have = data.size();
      data.resize(have + std::min(num_bytes - have, kChunkBytes) + 1);
      const zip_int64_t got = zip_fread(member, data.data() + have, data.size() - have);
      if (got < 0) return failed(zip_file_strerror(member));
      data.resize(have + static_cast<size_t>(got));
      if (data.size() > num_bytes) return failed("it holds more bytes than its directory says");
      if (got == 0) break;
      if (have == 0) {
        wanted = file_bytes_wanted(data, num_bytes, rows_wanted);
        if (wanted > kMaxUnpackedBytes - num_unpacked_) return too_much(wanted);
        num_unpacked_ += wanted;
      }
      if (wanted < num_bytes && data.size() >= wanted) return data;
    }
    if (data.size() != num_bytes) return failed("it holds fewer bytes than its directory says");
    return data;
  }

  const MappedFile& file_;
  std::unique_ptr<zip_t, CloseArchive> archive_;
  uint64_t num_unpacked_ = 0;
};

Expected<NpyArray> read_member(const ZipReader& zip, const ZipMember& member, Unpacker& unpacker,
                               const RowsWanted& rows_wanted) {
  if (!member.name.ends_with(kSuffix)) {
    return error(Code::kNpy, "it is no array: its name does not end with '{}'", kSuffix);
  }
  std::string name(member.name.substr(0, member.name.size() - kSuffix.size()));
  if (member.compressed) {
    TOSAIC_TRY(const std::vector<std::byte> data, unpacker.unpack(member, rows_wanted));
    return parse_npy(std::move(name), data, member.num_bytes, rows_wanted);
  }
  const Bytes file = member.stored;
  if (file_bytes_wanted(file, file.size(), rows_wanted) == file.size()) {
    TOSAIC_CHECK_OK(verify_crc(zip, member));
  }
  return parse_npy(std::move(name), file, file.size(), rows_wanted);
}

Expected<std::vector<NpyArray>> read_archive(std::shared_ptr<const MappedFile> file,
                                             const RowsWanted& rows_wanted) {
  TOSAIC_TRY(const ZipReader zip, ZipReader::open(std::move(file)));
  std::vector<const ZipMember*> in_file_order;
  for (const ZipMember& member : zip.members())
    in_file_order.push_back(&member);
  std::ranges::sort(in_file_order, {}, [](const ZipMember* m) { return m->stored.data(); });
  Unpacker unpacker(zip.file());
  std::vector<NpyArray> arrays;
  for (const ZipMember* member : in_file_order) {
    auto array = read_member(zip, *member, unpacker, rows_wanted);
    if (!array) {
      Diagnostic failure = std::move(array).error();
      if (failure.where.file.empty()) {
        failure.message = fmt::format("member '{}': {}", member->name, failure.message);
        failure.where = in_file(zip.file().path());
      }
      return failure;
    }
    arrays.push_back(*std::move(array));
  }
  return arrays;
}

// What an archive is written from: the headers live here, the data stay where they are.
struct ArchiveParts {
  std::vector<std::vector<std::byte>> headers;
  std::vector<std::byte> directory;
  uint64_t num_bytes = 0;  // so far
  size_t num_members = 0;
};

void append_text(std::vector<std::byte>& to, std::string_view text) {
  const Bytes bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  to.insert(to.end(), bytes.begin(), bytes.end());
}

// From "version needed" to the length of the extra field: the same in local header and directory.
void append_common_fields(std::vector<std::byte>& to, uint32_t crc, uint32_t num_bytes,
                          size_t name_bytes) {
  append_le<uint16_t>(to, 20);        // version needed to extract: 2.0
  append_le<uint16_t>(to, 1u << 11);  // the name is UTF-8
  append_le<uint16_t>(to, 0);         // stored
  append_le<uint16_t>(to, 0);         // 0:00:00
  append_le<uint16_t>(to, 0x0021);    // 1980-01-01, the first day of the format
  append_le<uint32_t>(to, crc);
  append_le<uint32_t>(to, num_bytes);
  append_le<uint32_t>(to, num_bytes);
  append_le<uint16_t>(to, static_cast<uint16_t>(name_bytes));
  append_le<uint16_t>(to, 0);  // no extra field
}

void append_member(ArchiveParts& parts, const NpyArray& array) {
  const std::string name = array.name + std::string(kSuffix);
  const std::string npy_header = make_npy_header(array.dtype, array.shape);
  const Bytes head = std::as_bytes(std::span<const char>(npy_header.data(), npy_header.size()));
  const uint32_t crc = crc32(array.data, crc32(head));
  const auto num_bytes = static_cast<uint32_t>(head.size() + array.data.size());

  std::vector<std::byte>& local = parts.headers.emplace_back();
  append_le<uint32_t>(local, 0x04034b50);
  append_common_fields(local, crc, num_bytes, name.size());
  append_text(local, name);
  append_text(local, npy_header);

  append_le<uint32_t>(parts.directory, 0x02014b50);
  append_le<uint16_t>(parts.directory, 3u << 8 | 20u);  // made on Unix, version 2.0
  append_common_fields(parts.directory, crc, num_bytes, name.size());
  append_le<uint16_t>(parts.directory, 0);                        // no comment
  append_le<uint16_t>(parts.directory, 0);                        // disk 0
  append_le<uint16_t>(parts.directory, 0);                        // binary
  append_le<uint32_t>(parts.directory, uint32_t{0100644} << 16);  // a file, rw-r--r--
  append_le<uint32_t>(parts.directory, static_cast<uint32_t>(parts.num_bytes));
  append_text(parts.directory, name);
  parts.num_bytes += local.size() + array.data.size();
  ++parts.num_members;
}

void append_end_record(ArchiveParts& parts) {
  const size_t directory_bytes = parts.directory.size();
  append_le<uint32_t>(parts.directory, 0x06054b50);
  append_le<uint16_t>(parts.directory, 0);  // disk 0
  append_le<uint16_t>(parts.directory, 0);  // directory on disk 0
  append_le<uint16_t>(parts.directory, static_cast<uint16_t>(parts.num_members));
  append_le<uint16_t>(parts.directory, static_cast<uint16_t>(parts.num_members));
  append_le<uint32_t>(parts.directory, static_cast<uint32_t>(directory_bytes));
  append_le<uint32_t>(parts.directory, static_cast<uint32_t>(parts.num_bytes));
  append_le<uint16_t>(parts.directory, 0);  // no comment
}

Status check_writable(const std::string& path, const std::vector<NpyArray>& arrays) {
  constexpr size_t kMaxMembers = 0xfffe, kMaxNameBytes = 0x8000, kMaxRank = 64;
  constexpr uint64_t kMaxArchiveBytes = 0xfffffffe;
  // Headers of the archive and of the array, generously.
  constexpr uint64_t kMaxMemberOverhead = 4096;
  std::set<std::string_view> names;
  uint64_t num_bytes = 0;
  for (const NpyArray& array : arrays) {
    const size_t element_bytes = npy_element_bytes(array.dtype);
    TOSAIC_CHECK(element_bytes != 0, "no such dtype: " + array.dtype);
    TOSAIC_CHECK(array.shape.size() <= kMaxRank, "too many dimensions in array " + array.name);
    TOSAIC_CHECK(npy_data_bytes(element_bytes, array.shape) == array.data.size(),
                 "data do not fill the shape of array " + array.name);
    if (!is_safe_zip_name(array.name) || array.name.size() > kMaxNameBytes) {
      return error(Code::kFileWrite, "'{}' cannot be the name of an array in an archive",
                   array.name)
          .at(in_file(path));
    }
    if (!names.insert(array.name).second) {
      return error(Code::kFileWrite, "two arrays have the name '{}'", array.name).at(in_file(path));
    }
    num_bytes += array.data.size() + 2 * array.name.size() + kMaxMemberOverhead;
  }
  if (arrays.size() > kMaxMembers || num_bytes > kMaxArchiveBytes) {
    return error(Code::kFileWrite, "{} arrays of {} bytes are too much for one archive of 4 GiB",
                 arrays.size(), num_bytes)
        .at(in_file(path));
  }
  return ok();
}

}  // namespace

std::optional<size_t> narrow_to_int32(NpyArray& array) {
  const size_t count = array.data.size() / sizeof(int64_t);
  std::vector<std::byte> narrow(count * sizeof(int32_t));
  for (size_t i = 0; i < count; ++i) {
    int64_t wide = 0;
    std::memcpy(&wide, array.data.data() + i * sizeof(wide), sizeof(wide));
    const auto value = static_cast<int32_t>(wide);
    if (value != wide) return i;
    std::memcpy(narrow.data() + i * sizeof(value), &value, sizeof(value));
  }
  array.data = std::move(narrow);
  array.dtype = "i4";
  return std::nullopt;
}

Expected<std::vector<NpyArray>> read_npz(const std::string& path, const RowsWanted& rows_wanted) {
  TOSAIC_TRY(std::shared_ptr<const MappedFile> file, MappedFile::open(path));
  const Bytes bytes = file->bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (text.starts_with("PK")) return read_archive(std::move(file), rows_wanted);
  if (!text.starts_with("\x93NUMPY")) {
    return error(Code::kFileKind, "this is neither a .npz nor a .npy file").at(in_file(path));
  }
  auto array = parse_npy("", bytes, bytes.size(), rows_wanted);
  if (!array) return std::move(array).error().at(in_file(path));
  std::vector<NpyArray> arrays;
  arrays.push_back(*std::move(array));
  return arrays;
}

Status write_npz(const std::string& path, const std::vector<NpyArray>& arrays) {
  TOSAIC_CHECK_OK(check_writable(path, arrays));
  ArchiveParts parts;
  for (const NpyArray& array : arrays)
    append_member(parts, array);
  append_end_record(parts);
  std::vector<Bytes> pieces;
  for (size_t i = 0; i < arrays.size(); ++i) {
    pieces.emplace_back(parts.headers[i]);
    pieces.emplace_back(arrays[i].data);
  }
  pieces.emplace_back(parts.directory);
  return write_file(path, pieces);
}

}  // namespace tosaic
