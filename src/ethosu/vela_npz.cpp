// SPDX-License-Identifier: Apache-2.0
#include "ethosu/vela_npz.h"

#include <charconv>

#include "support/little_endian.h"
#include "support/zip.h"

namespace tosaic {
namespace {

/// One .npy member, still in the file.
struct Member {
  std::string_view dtype;  ///< "<i8", "|S700"
  std::vector<uint64_t> shape;
  std::span<const std::byte> data;
};

Diagnostic bad_member(std::string_view name, std::string_view what) {
  return error(Code::kVelaOutput, "Vela's result file: member '{}' {}", name, what);
}

/// The text between `before` and `after`; empty when they are not there.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  begin += before.size();
  size_t end = text.find(after, begin);
  return end == std::string_view::npos ? std::string_view() : text.substr(begin, end - begin);
}

Expected<Member> read_member(const ZipReader& zip, std::string_view name) {
  const ZipMember* member = zip.find(fmt::format("{}.npy", name));
  if (member == nullptr) return bad_member(name, "is missing");
  std::span<const std::byte> bytes = member->stored;
  if (member->compressed || bytes.size() < 10)
    return bad_member(name, "is compressed or too short");
  // Version 1.0 of the format: magic, version, u16 length of a Python dict as text, the data.
  std::string_view magic(reinterpret_cast<const char*>(bytes.data()), 8);
  size_t head_bytes = load_le<uint16_t>(bytes.data() + 8);
  if (magic != std::string_view("\x93NUMPY\x01\x00", 8) || bytes.size() < 10 + head_bytes) {
    return bad_member(name, "is no array file of version 1.0");
  }
  std::string_view head(reinterpret_cast<const char*>(bytes.data()) + 10, head_bytes);
  Member out;
  out.dtype = between(head, "'descr': '", "'");
  out.data = bytes.subspan(10 + head_bytes);
  std::string_view shape = between(head, "'shape': (", ")");
  while (!shape.empty()) {
    if (shape[0] == ' ' || shape[0] == ',') {
      shape.remove_prefix(1);
      continue;
    }
    uint64_t dim = 0;
    auto [end, ec] = std::from_chars(shape.data(), shape.data() + shape.size(), dim);
    if (ec != std::errc()) return bad_member(name, "has no shape");
    out.shape.push_back(dim);
    shape.remove_prefix(static_cast<size_t>(end - shape.data()));
  }
  return out;
}

/// A byte string: numpy gives it a dtype with its length, "|S700", and no dimensions.
Expected<std::vector<std::byte>> read_bytes(const ZipReader& zip, std::string_view name) {
  TOSAIC_TRY(Member member, read_member(zip, name));
  uint64_t length = 0;
  std::string_view digits = member.dtype.substr(std::min<size_t>(2, member.dtype.size()));
  std::from_chars(digits.data(), digits.data() + digits.size(), length);
  if (!member.dtype.starts_with("|S") || !member.shape.empty() || length != member.data.size()) {
    return bad_member(name, "is no byte string");
  }
  return std::vector<std::byte>(member.data.begin(), member.data.end());
}

Expected<std::vector<int64_t>> read_integers(const ZipReader& zip, std::string_view name,
                                             size_t row_length = 1) {
  TOSAIC_TRY(Member member, read_member(zip, name));
  uint64_t count = member.data.size() / 8;
  uint64_t expected = 1;
  for (uint64_t dim : member.shape) {
    if (dim > count) return bad_member(name, "has a shape that is not that of its data");
    expected *= dim;
  }
  bool rows =
      row_length == 1 || (member.shape.size() == 2 && member.shape[1] == row_length) || count == 0;
  // An empty list is float64 for numpy.
  bool integers = member.dtype == "<i8" || count == 0;
  if (!integers || !rows || count * 8 != member.data.size() || expected != count) {
    return bad_member(name, "is no array of int64 of the expected shape");
  }
  std::vector<int64_t> out(count);
  for (size_t i = 0; i < count; i++) {
    out[i] = static_cast<int64_t>(load_le<uint64_t>(member.data.data() + 8 * i));
  }
  return out;
}

Expected<uint64_t> read_size(const ZipReader& zip, std::string_view name) {
  TOSAIC_TRY(std::vector<int64_t> values, read_integers(zip, name));
  if (values.size() != 1 || values[0] < 0) return bad_member(name, "is no size");
  return static_cast<uint64_t>(values[0]);
}

Expected<std::vector<VelaTensor>> read_tensors(const ZipReader& zip, std::string_view kind) {
  auto name = [kind](const char* field) { return fmt::format("{}_{}", kind, field); };
  TOSAIC_TRY(std::vector<int64_t> shapes, read_integers(zip, name("shape"), 6));
  TOSAIC_TRY(std::vector<int64_t> sizes, read_integers(zip, name("elem_size")));
  TOSAIC_TRY(std::vector<int64_t> regions, read_integers(zip, name("region")));
  TOSAIC_TRY(std::vector<int64_t> addresses, read_integers(zip, name("offset")));
  std::vector<VelaTensor> tensors(sizes.size());
  if (shapes.size() != 6 * sizes.size() || regions.size() != sizes.size() ||
      addresses.size() != sizes.size()) {
    return bad_member(name("shape"), "has not as many rows as the other members");
  }
  auto fits = [](int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; };
  for (size_t i = 0; i < tensors.size(); i++) {
    bool good = fits(sizes[i]) && fits(regions[i]) && addresses[i] >= 0;
    for (size_t k = 0; k < 6; k++)
      good = good && fits(shapes[6 * i + k]);
    if (!good) return bad_member(name("shape"), "or one beside it has a value out of range");
    tensors[i].element_size = static_cast<int32_t>(sizes[i]);
    tensors[i].region = static_cast<int32_t>(regions[i]);
    tensors[i].address = static_cast<uint64_t>(addresses[i]);
    for (size_t k = 0; k < 6; k++)
      tensors[i].shape[k] = static_cast<int32_t>(shapes[6 * i + k]);
  }
  return tensors;
}

}  // namespace

Expected<VelaResult> read_vela_npz(const std::string& path) {
  TOSAIC_TRY(auto file, MappedFile::open(path));
  TOSAIC_TRY(ZipReader zip, ZipReader::open(file));
  VelaResult result;
  TOSAIC_TRY(result.command_stream, read_bytes(zip, "cmd_data"));
  TOSAIC_TRY(result.read_only, read_bytes(zip, "weight_data"));
  // Numpy has no empty byte string and writes one NUL.
  if (result.read_only.size() == 1 && result.read_only[0] == std::byte{}) result.read_only.clear();
  TOSAIC_TRY(result.scratch_bytes, read_size(zip, "scratch_size"));
  TOSAIC_TRY(result.scratch_fast_bytes, read_size(zip, "scratch_fast_size"));
  TOSAIC_TRY(result.inputs, read_tensors(zip, "input"));
  TOSAIC_TRY(result.outputs, read_tensors(zip, "output"));
  TOSAIC_TRY(Member variables, read_member(zip, "variable_region"));
  if (!variables.data.empty()) {
    return error(Code::kVelaOutput,
                 "Vela's result file has variables, which a payload cannot carry");
  }
  return result;
}

}  // namespace tosaic
