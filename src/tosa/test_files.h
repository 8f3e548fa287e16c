// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ir/text.h"
#include "ir/verify.h"
#include "tosa/fb_storage.h"
#include "tosa/flatbuffer.h"

/// What tests of .tosa files share: text in and out, and files made by hand.
namespace tosaic::tosa::test {

using Bytes = std::vector<std::byte>;

inline std::unique_ptr<Module> parsed(std::string_view text) {
  auto module = parse_module(text, "test.tir");
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return nullptr;
  }
  if (Status s = verify(**module); !s) ADD_FAILURE() << render(s.error());
  return *std::move(module);
}

inline Expected<std::unique_ptr<Module>> read(std::span<const std::byte> bytes) {
  return read_flatbuffer(bytes, nullptr, "net.tosa");
}

/// Text of what is read, or the error.
inline std::string text_of(std::span<const std::byte> bytes) {
  auto module = read(bytes);
  if (!module) return render(module.error());
  PrintOptions options;
  options.locs = false;
  return print(**module, options);
}

inline std::string message_of(std::span<const std::byte> bytes) {
  auto module = read(bytes);
  if (module) return "no error";
  EXPECT_EQ(module.error().where.file, "net.tosa");
  return fmt::format("{}: {}", code_id(module.error().code), module.error().message);
}

inline const fb::Block& block_of(const Bytes& bytes) {
  return *fb::GetRoot(bytes.data())->regions()->Get(0)->blocks()->Get(0);
}

inline std::vector<std::string> strings(
    const flatbuffers::Vector<flatbuffers::Offset<flatbuffers::String>>* list) {
  std::vector<std::string> result;
  for (const auto* s : *list)
    result.push_back(s->str());
  return result;
}

inline const flatbuffers::Table& attributes_of(const fb::Operator& op) {
  return *reinterpret_cast<const flatbuffers::Table*>(op.attribute());
}

// Files made by hand, so that they can break every rule.

struct RawTensor {
  std::string name;
  std::vector<int32_t> shape;
  uint32_t type = 3;  // INT8
  std::vector<uint8_t> data;
  bool variable = false;
  bool is_unranked = false;
  uint64_t offset = 0;
};
struct RawOp {
  uint32_t number = 0;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  int attribute_type = -1;                       // -1: the number; 0: none
  std::vector<std::pair<int, uint32_t>> fields;  // id and number
  std::vector<std::pair<int, std::vector<int32_t>>> lists = {};
};
struct RawShape {
  std::string name;
  uint32_t rank = 0;
  std::vector<uint8_t> data;
};
struct RawFile {
  std::array<int32_t, 3> version = {1, 0, 0};
  bool draft = false;
  std::vector<RawTensor> tensors;
  std::vector<RawOp> ops;
  std::vector<RawShape> shapes;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  int num_regions = 1;
  int num_blocks = 1;
};

inline Bytes made(const RawFile& file) {
  flatbuffers::FlatBufferBuilder b;
  std::vector<flatbuffers::Offset<fb::Tensor>> tensors;
  for (const RawTensor& t : file.tensors) {
    tensors.push_back(fb::CreateTensorDirect(b, t.name.c_str(), &t.shape, t.type, &t.data,
                                             t.variable, t.is_unranked, nullptr, t.offset));
  }
  std::vector<flatbuffers::Offset<fb::ShapeValue>> shapes;
  for (const RawShape& s : file.shapes) {
    shapes.push_back(fb::CreateShapeValueDirect(b, s.name.c_str(), s.rank, &s.data));
  }
  std::vector<flatbuffers::Offset<fb::Operator>> ops;
  for (const RawOp& op : file.ops) {
    flatbuffers::Offset<fb::Attributes> attributes = 0;
    std::vector<std::pair<int, flatbuffers::uoffset_t>> lists;
    for (const auto& [id, list] : op.lists)
      lists.emplace_back(id, b.CreateVector(list).o);
    if (op.attribute_type != 0) {
      const auto start = b.StartTable();
      for (const auto& [id, value] : op.fields) {
        b.AddElement(field_id(static_cast<size_t>(id)), value, 0u);
      }
      for (const auto& [id, offset] : lists)
        b.AddOffset(field_id(static_cast<size_t>(id)), flatbuffers::Offset<void>(offset));
      attributes = b.EndTable(start);
    }
    const auto type = static_cast<uint8_t>(op.attribute_type < 0 ? static_cast<int>(op.number)
                                                                 : op.attribute_type);
    const auto in = b.CreateVectorOfStrings(op.inputs);
    const auto out = b.CreateVectorOfStrings(op.outputs);
    ops.push_back(fb::CreateOperator(b, op.number, type, attributes, in, out));
  }
  const auto in = b.CreateVectorOfStrings(file.inputs);
  const auto out = b.CreateVectorOfStrings(file.outputs);
  const auto block = fb::CreateBlock(b, b.CreateString("main"), b.CreateVector(ops),
                                     b.CreateVector(tensors), in, out, b.CreateVector(shapes));
  const std::vector blocks(static_cast<size_t>(file.num_blocks), block);
  const auto region = fb::CreateRegion(b, b.CreateString("main"), b.CreateVector(blocks));
  const std::vector regions(static_cast<size_t>(file.num_regions), region);
  const auto version =
      fb::CreateVersion(b, file.version[0], file.version[1], file.version[2], file.draft);
  fb::FinishRootBuffer(b, fb::CreateRoot(b, version, b.CreateVector(regions)));
  const auto* begin = reinterpret_cast<const std::byte*>(b.GetBufferPointer());
  return {begin, begin + b.GetSize()};
}

inline std::string message_after(const RawFile& base, const std::function<void(RawFile&)>& change) {
  RawFile file = base;
  change(file);
  return message_of(made(file));
}

}  // namespace tosaic::tosa::test
