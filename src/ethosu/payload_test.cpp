// SPDX-License-Identifier: Apache-2.0
#include "ethosu/payload.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>

#include "support/little_endian.h"

namespace tosaic {
namespace {

VelaResult example() {
  VelaResult result;
  for (char c : std::string("COP1abcdefgh1234567"))
    result.command_stream.push_back(static_cast<std::byte>(c));
  result.read_only.assign(20, std::byte{9});
  result.scratch_bytes = 144;
  result.inputs = {{1, 64, 16, 1, {1, 1, 1, 1, 1, 16}}, {1, 80, 16, 2, {1, 1, 1, 2, 2, 2}}};
  result.outputs = {{1, 128, 16, 4, {1, 1, 1, 1, 1, 4}}};
  return result;
}

/// A payload as its blocks, so that tests can break one thing each.
struct Blocks {
  struct Block {
    std::string name;
    std::vector<std::byte> data;
    uint8_t external = 0;
    std::optional<uint32_t> size = std::nullopt;  // what the header says, when it lies
  };
  std::vector<Block> all;

  static Blocks of(const std::vector<std::byte>& bytes) {
    Blocks out;
    for (size_t at = 0; at < bytes.size();) {
      std::string name(reinterpret_cast<const char*>(bytes.data() + at));
      uint32_t size = load_le<uint32_t>(bytes.data() + at + 16);
      auto begin = bytes.begin() + static_cast<ptrdiff_t>(at) + 32;
      out.all.push_back({name, {begin, begin + size}});
      at += 32 + (size + 15) / 16 * 16;
    }
    return out;
  }
  std::vector<std::byte> bytes() const {
    std::vector<std::byte> out;
    for (const Block& block : all) {
      size_t header = out.size();
      out.resize(header + 16);
      std::memcpy(out.data() + header, block.name.data(), std::min<size_t>(16, block.name.size()));
      append_le(out, block.size.value_or(static_cast<uint32_t>(block.data.size())));
      out.push_back(static_cast<std::byte>(block.external));
      out.resize(header + 32);
      out.insert(out.end(), block.data.begin(), block.data.end());
      out.resize((out.size() + 15) / 16 * 16);
    }
    return out;
  }
};

enum : size_t { kStart, kCommands, kWeights, kScratch, kInputs, kOutputs, kEnd };

Blocks example_blocks() {
  auto bytes = write_vela_bin_stream(example());
  EXPECT_TRUE(bytes.ok());
  return Blocks::of(*bytes);
}

bool refused(const std::vector<std::byte>& bytes, size_t shift = 0) {
  std::vector<std::byte> storage(bytes.size() + 32);
  size_t at = (16 - reinterpret_cast<uintptr_t>(storage.data()) % 16) % 16 + shift;
  std::copy(bytes.begin(), bytes.end(), storage.begin() + static_cast<ptrdiff_t>(at));
  auto payload = parse_vela_bin_stream(std::span(storage).subspan(at, bytes.size()));
  if (!payload) {
    EXPECT_EQ(payload.error().code, Code::kPayload);
  }
  return !payload.ok();
}

bool refused_after(const std::function<void(Blocks&)>& change) {
  Blocks blocks = example_blocks();
  change(blocks);
  return refused(blocks.bytes());
}

void put_i32(std::vector<std::byte>& data, size_t at, int32_t value) {
  for (size_t i = 0; i < 4; i++)
    data[at + i] = static_cast<std::byte>(static_cast<uint32_t>(value) >> (8 * i));
}

/// Breaks field `index` (0-5 shape, 6 element size, 7 offset, 8 region) of the first input.
bool refused_input(size_t index, int32_t value) {
  return refused_after([&](Blocks& b) { put_i32(b.all[kInputs].data, 4 + 4 * index, value); });
}

TEST(Payload, HasTheBlocksThatTheRuntimeReads) {
  auto bytes = write_vela_bin_stream(example());
  ASSERT_TRUE(bytes.ok());
  Blocks blocks = Blocks::of(*bytes);
  std::vector<std::string> names;
  for (const auto& block : blocks.all)
    names.push_back(block.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{"vela_bin_stream", "cmd_data", "weight_data", "scratch_size",
                                      "inputs", "outputs", "vela_end_stream"}));
  EXPECT_EQ(blocks.all[kInputs].data.size(), 4u + 2 * 36);
  EXPECT_EQ(blocks.all[kOutputs].data.size(), 4u + 36);
  EXPECT_EQ(load_le<uint32_t>(blocks.all[kScratch].data.data()), 144u);
  EXPECT_EQ(bytes->size() % 16, 0u);
  EXPECT_EQ(blocks.bytes(), *bytes);
}

TEST(Payload, ReaderGivesWhatWasWritten) {
  auto bytes = write_vela_bin_stream(example());
  ASSERT_TRUE(bytes.ok());
  auto payload = parse_vela_bin_stream(*bytes);
  ASSERT_TRUE(payload.ok()) << payload.error().message;
  EXPECT_EQ(payload->command_stream.size(), 19u);
  EXPECT_EQ(payload->weights.size(), 20u);
  EXPECT_EQ(payload->scratch_bytes, 144u);
  ASSERT_EQ(payload->inputs.size(), 2u);
  EXPECT_EQ(payload->inputs[1].shape, (std::array<int32_t, 6>{1, 1, 1, 2, 2, 2}));
  EXPECT_EQ(payload->inputs[1].num_bytes, 16u);
  EXPECT_EQ(payload->inputs[1].offset, 80);
  EXPECT_EQ(payload->outputs[0].element_size, 4);
}

TEST(Payload, WithoutWeightsThereIsOneNul) {
  VelaResult result = example();
  result.read_only.clear();
  auto bytes = write_vela_bin_stream(result);
  ASSERT_TRUE(bytes.ok());
  EXPECT_EQ(Blocks::of(*bytes).all[kWeights].data, std::vector<std::byte>{std::byte{0}});
}

TEST(Payload, TruncatedAtAnyByteIsRefused) {  // M1 and more
  std::vector<std::byte> bytes = example_blocks().bytes();
  for (size_t size = 0; size < bytes.size(); size++) {
    EXPECT_TRUE(refused({bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size)})) << size;
  }
}

TEST(Payload, AnyFlippedByteEndsInAResult) {
  const std::vector<std::byte> bytes = example_blocks().bytes();
  for (size_t at = 0; at < bytes.size(); at++) {
    for (int flip : {1, 0x80, 0xff}) {
      std::vector<std::byte> broken = bytes;
      broken[at] ^= static_cast<std::byte>(flip);
      refused(broken);
    }
  }
}

TEST(Payload, FrameIsChecked) {
  std::vector<std::byte> bytes = example_blocks().bytes();
  EXPECT_FALSE(refused(bytes));
  EXPECT_TRUE(refused(bytes, 4));                                                          // M2
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all.pop_back(); }));                         // M3
  EXPECT_TRUE(refused_after([](Blocks& b) { std::swap(b.all[kEnd], b.all[kOutputs]); }));  // M4
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kWeights].name = "weights"; }));         // M5
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kWeights].name = "0123456789abcdef"; }));
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all.push_back(b.all[kEnd]); }));
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kStart].name = "vela_bin_strea"; }));
  for (size_t i = 0; i <= kEnd; i++) {  // M8
    EXPECT_TRUE(refused_after([i](Blocks& b) {
      b.all.erase(b.all.begin() + static_cast<ptrdiff_t>(i));
    })) << i;
  }
  for (size_t i : {kCommands, kInputs}) {  // M7
    EXPECT_TRUE(refused_after([i](Blocks& b) { b.all.insert(b.all.begin() + 1, b.all[i]); })) << i;
  }
}

TEST(Payload, SizesCannotWrap) {  // M6
  for (uint32_t size : {0xFFFFFFF0u, 0xFFFFFFFFu, 0x7FFFFFFFu}) {
    EXPECT_TRUE(refused_after([size](Blocks& b) { b.all[kWeights].size = size; })) << size;
  }
  EXPECT_TRUE(refused_after([](Blocks& b) {
    size_t rest = 32 + 16 + 32 + 80 + 32 + 48 + 32;
    b.all[kWeights].size = static_cast<uint32_t>(32 + rest + 1);
  }));
}

TEST(Payload, ScratchSizeAndCommandsAreChecked) {  // M9, M10
  for (size_t size = 0; size < 4; size++) {
    EXPECT_TRUE(refused_after([size](Blocks& b) { b.all[kScratch].data.resize(size); })) << size;
    EXPECT_TRUE(refused_after([size](Blocks& b) { b.all[kCommands].data.resize(size); })) << size;
  }
  EXPECT_TRUE(refused_after([](Blocks& b) { put_i32(b.all[kScratch].data, 0, 0); }));
  EXPECT_FALSE(refused_after(
      [](Blocks& b) { put_i32(b.all[kScratch].data, 0, -1); }));  // 4 GB - 1 is a size
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kCommands].data[3] = std::byte{'3'}; }));
}

TEST(Payload, TensorCountsAreChecked) {  // M11
  for (int32_t count : {-1, 0x7FFFFFFF, 3, 1}) {
    EXPECT_TRUE(refused_after([count](Blocks& b) { put_i32(b.all[kInputs].data, 0, count); }))
        << count;
  }
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kInputs].data.resize(3); }));
}

TEST(Payload, TensorsLieWithinTheScratchBuffer) {
  for (int32_t offset : {-1, 144, 129, 0x7FFFFFF0, INT32_MIN})
    EXPECT_TRUE(refused_input(7, offset)) << offset;  // M13
  EXPECT_FALSE(refused_input(7, 128));
  for (int32_t size : {0, -1, 3, 1 << 30})
    EXPECT_TRUE(refused_input(6, size)) << size;  // M14
  for (int32_t dim : {0, -1, 0x7FFFFFFF, 1 << 16})
    EXPECT_TRUE(refused_input(0, dim)) << dim;  // M15
  EXPECT_TRUE(refused_after([](Blocks& b) {
    for (size_t i = 0; i < 6; i++)
      put_i32(b.all[kInputs].data, 4 + 4 * i, 1 << 30);
  }));
  for (int32_t region : {8, -1})
    EXPECT_TRUE(refused_input(8, region)) << region;  // M16
}

TEST(Payload, ExternalBlocksCarryAKey) {
  std::vector<std::byte> key(64, std::byte{'a'});
  EXPECT_FALSE(refused_after([&](Blocks& b) {
    b.all[kCommands].external = 1;
    b.all[kCommands].data = key;
  }));
  key.pop_back();
  EXPECT_TRUE(refused_after([&](Blocks& b) {
    b.all[kCommands].external = 1;
    b.all[kCommands].data = key;
  }));
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kWeights].external = 2; }));
  EXPECT_TRUE(refused_after([](Blocks& b) { b.all[kInputs].external = 1; }));
}

TEST(Payload, AddressesBeyondTheFormatAreRefused) {
  VelaResult result = example();
  result.inputs[0].address = uint64_t{1} << 31;
  EXPECT_FALSE(write_vela_bin_stream(result).ok());
  result = example();
  result.scratch_bytes = uint64_t{1} << 32;
  EXPECT_FALSE(write_vela_bin_stream(result).ok());
}

}  // namespace
}  // namespace tosaic
