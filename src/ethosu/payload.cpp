// SPDX-License-Identifier: Apache-2.0
#include "ethosu/payload.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

#include "support/little_endian.h"

namespace tosaic {
namespace {

// A block is a header of 32 bytes (name of 16, u32 size, u8 external, 11 reserved) and its data,
// padded to 16. The first and the last block are empty and carry these names.
constexpr size_t kAlignment = 16;
constexpr size_t kNameBytes = 16;
constexpr size_t kHeaderBytes = 32;
constexpr size_t kTensorBytes = 36;
constexpr size_t kKeyBytes = 64;  // hexadecimal SHA-256
constexpr std::string_view kStart = "vela_bin_stream";
constexpr std::string_view kEnd = "vela_end_stream";
constexpr std::array<std::string_view, 5> kBlocks = {"cmd_data", "weight_data", "scratch_size",
                                                     "inputs", "outputs"};

class Writer {
 public:
  void block(std::string_view name, std::span<const std::byte> data) {
    size_t header = out.size();
    out.resize(header + kNameBytes);
    std::memcpy(out.data() + header, name.data(), name.size());
    append_le(out, static_cast<uint32_t>(data.size()));
    out.resize(header + kHeaderBytes);
    out.insert(out.end(), data.begin(), data.end());
    out.resize((out.size() + kAlignment - 1) / kAlignment * kAlignment);
  }
  std::vector<std::byte> out;
};

void append_i32(std::vector<std::byte>& to, int32_t value) {
  append_le(to, static_cast<uint32_t>(value));
}

std::vector<std::byte> tensor_block(const std::vector<VelaTensor>& tensors) {
  std::vector<std::byte> data;
  append_i32(data, static_cast<int32_t>(tensors.size()));
  for (const VelaTensor& t : tensors) {
    for (int32_t dim : t.shape)
      append_i32(data, dim);
    append_i32(data, t.element_size);
    append_i32(data, static_cast<int32_t>(t.address));
    append_i32(data, t.region);
  }
  return data;
}

struct Block {
  std::string_view name;
  std::span<const std::byte> data;
  bool external = false;
};

int32_t load_i32(const std::byte* from) {
  return static_cast<int32_t>(load_le<uint32_t>(from));
}

Diagnostic bad(std::string what) {
  return error(Code::kPayload, "Ethos-U payload: {}", what);
}

/// Reads the block at `bytes` and moves past it.
Expected<Block> next_block(std::span<const std::byte>& bytes, size_t offset) {
  if (bytes.size() < kHeaderBytes) {
    return bad(fmt::format("{} bytes are left at offset {}, too few for a block header",
                           bytes.size(), offset));
  }
  std::string_view name(reinterpret_cast<const char*>(bytes.data()), kNameBytes);
  size_t end = name.find('\0');
  if (end == std::string_view::npos)
    return bad(fmt::format("the block name at offset {} has no end", offset));
  Block block;
  block.name = name.substr(0, end);
  uint64_t size = load_le<uint32_t>(bytes.data() + kNameBytes);
  uint8_t external = static_cast<uint8_t>(bytes[kNameBytes + 4]);
  if (external > 1)
    return bad(fmt::format("flag {} of the block at offset {} is unknown", external, offset));
  block.external = external == 1;
  bytes = bytes.subspan(kHeaderBytes);
  uint64_t padded = (size + kAlignment - 1) / kAlignment * kAlignment;
  if (padded > bytes.size()) {
    return bad(fmt::format("a block of {} bytes at offset {} reaches past the end", size, offset));
  }
  block.data = bytes.first(size);
  bytes = bytes.subspan(padded);
  return block;
}

Expected<PayloadTensor> read_tensor(const std::byte* from, std::string_view block, size_t index,
                                    uint32_t scratch_bytes) {
  PayloadTensor t;
  for (size_t i = 0; i < t.shape.size(); i++)
    t.shape[i] = load_i32(from + 4 * i);
  t.element_size = load_i32(from + 24);
  t.offset = load_i32(from + 28);
  t.region = load_i32(from + 32);
  auto refuse = [&](std::string what) { return bad(fmt::format("{} {}: {}", block, index, what)); };
  if (t.element_size != 1 && t.element_size != 2 && t.element_size != 4) {
    return refuse(fmt::format("elements of {} bytes; allowed: 1, 2, 4", t.element_size));
  }
  if (t.region < 0 || t.region > 7)
    return refuse(fmt::format("region {}; allowed: 0 to 7", t.region));
  t.num_bytes = static_cast<uint64_t>(t.element_size);
  for (int32_t dim : t.shape) {
    // Each factor is at most 2^32, so that the product cannot wrap before it is compared.
    if (dim <= 0 || t.num_bytes * static_cast<uint64_t>(dim) > scratch_bytes) {
      return refuse(
          fmt::format("shape [{}] has no size or is larger than the scratch buffer of {} bytes",
                      fmt::join(t.shape, ","), scratch_bytes));
    }
    t.num_bytes *= static_cast<uint64_t>(dim);
  }
  if (t.offset < 0 || static_cast<uint64_t>(t.offset) + t.num_bytes > scratch_bytes) {
    return refuse(fmt::format("{} bytes at offset {} are not within the scratch buffer of {} bytes",
                              t.num_bytes, t.offset, scratch_bytes));
  }
  return t;
}

Expected<std::vector<PayloadTensor>> read_tensors(const Block& block, uint32_t scratch_bytes) {
  if (block.data.size() < 4) return bad(fmt::format("block {} has no count", block.name));
  int64_t count = load_i32(block.data.data());
  if (count < 0 || block.data.size() != 4 + kTensorBytes * static_cast<uint64_t>(count)) {
    return bad(fmt::format("block {} of {} bytes says that it holds {} entries of {} bytes",
                           block.name, block.data.size(), count, kTensorBytes));
  }
  std::vector<PayloadTensor> tensors;
  for (size_t i = 0; i < static_cast<size_t>(count); i++) {
    TOSAIC_TRY(PayloadTensor t,
               read_tensor(block.data.data() + 4 + kTensorBytes * i, block.name, i, scratch_bytes));
    tensors.push_back(t);
  }
  return tensors;
}

/// Bytes of a block that may be external, or its key.
Status read_data(const Block& block, std::span<const std::byte>& data, std::string& key) {
  if (!block.external) {
    data = block.data;
    return ok();
  }
  key = std::string(reinterpret_cast<const char*>(block.data.data()), block.data.size());
  if (key.size() != kKeyBytes || key.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return bad(fmt::format("block {} names its data by a key that is not 64 hexadecimal digits",
                           block.name));
  }
  return ok();
}

using Blocks = std::array<std::optional<Block>, kBlocks.size()>;

/// Splits a payload into its five blocks, each of which stands once, in any order.
Expected<Blocks> split(std::span<const std::byte> bytes) {
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment != 0) {
    return bad(fmt::format("it needs 16-byte alignment in memory, got {} mod 16",
                           reinterpret_cast<uintptr_t>(bytes.data()) % kAlignment));
  }
  std::span<const std::byte> rest = bytes;
  TOSAIC_TRY(Block start, next_block(rest, 0));
  if (start.name != kStart || !start.data.empty() || start.external) {
    return bad("it does not begin with 'vela_bin_stream'");
  }
  Blocks blocks;
  while (true) {
    size_t offset = bytes.size() - rest.size();
    if (rest.empty()) return bad("it does not end with 'vela_end_stream'");
    TOSAIC_TRY(Block block, next_block(rest, offset));
    if (block.name == kEnd) {
      if (!block.data.empty() || block.external) return bad("'vela_end_stream' carries data");
      break;
    }
    auto it = std::find(kBlocks.begin(), kBlocks.end(), block.name);
    if (it == kBlocks.end()) {
      return bad(fmt::format("the block at offset {} has an unknown name", offset));
    }
    std::optional<Block>& slot = blocks[static_cast<size_t>(it - kBlocks.begin())];
    if (slot) return bad(fmt::format("block {} stands twice", *it));
    if (block.external && it - kBlocks.begin() > 1) {
      return bad(fmt::format("block {} cannot be external", *it));
    }
    slot = block;
  }
  if (!rest.empty()) return bad(fmt::format("{} bytes follow its end", rest.size()));
  for (size_t i = 0; i < kBlocks.size(); i++) {
    if (!blocks[i]) return bad(fmt::format("block {} is missing", kBlocks[i]));
  }
  return blocks;
}

}  // namespace

Expected<std::vector<std::byte>> write_vela_bin_stream(const VelaResult& result) {
  for (const auto* tensors : {&result.inputs, &result.outputs}) {
    for (const VelaTensor& t : *tensors) {
      if (t.address > INT32_MAX) {
        return error(Code::kVelaOutput,
                     "an input or output at {} is beyond 2 GB, where a payload ends", t.address);
      }
    }
  }
  if (std::max({result.command_stream.size(), result.read_only.size(), result.scratch_bytes}) >
      UINT32_MAX) {
    return error(Code::kVelaOutput, "a buffer has more than 4 GB, which a payload cannot say");
  }
  std::vector<std::byte> scratch;
  append_le(scratch, static_cast<uint32_t>(result.scratch_bytes));
  Writer writer;
  writer.out.reserve(result.command_stream.size() + result.read_only.size() + 1024 +
                     kTensorBytes * (result.inputs.size() + result.outputs.size()));
  writer.block(kStart, {});
  writer.block("cmd_data", result.command_stream);
  // Numpy, between Vela and ExecuTorch's packer, makes one NUL of an empty byte string; the runtime
  // then has an address to pass on, as always.
  const std::byte nul{};
  writer.block("weight_data", result.read_only.empty() ? std::span(&nul, 1) : result.read_only);
  writer.block("scratch_size", scratch);
  writer.block("inputs", tensor_block(result.inputs));
  writer.block("outputs", tensor_block(result.outputs));
  writer.block(kEnd, {});
  return std::move(writer.out);
}

Expected<VelaPayload> parse_vela_bin_stream(std::span<const std::byte> bytes) {
  TOSAIC_TRY(Blocks blocks, split(bytes));
  VelaPayload payload;
  TOSAIC_CHECK_OK(read_data(*blocks[0], payload.command_stream, payload.command_stream_key));
  TOSAIC_CHECK_OK(read_data(*blocks[1], payload.weights, payload.weights_key));
  if (payload.command_stream_key.empty()) {
    std::string_view magic(reinterpret_cast<const char*>(payload.command_stream.data()),
                           std::min<size_t>(4, payload.command_stream.size()));
    if (magic != "COP1" && magic != "COP2")
      return bad("block cmd_data begins neither with COP1 nor with COP2");
  }
  if (blocks[2]->data.size() != 4) {
    return bad(fmt::format("block scratch_size has {} bytes instead of 4", blocks[2]->data.size()));
  }
  payload.scratch_bytes = load_le<uint32_t>(blocks[2]->data.data());
  TOSAIC_TRY(payload.inputs, read_tensors(*blocks[3], payload.scratch_bytes));
  TOSAIC_TRY(payload.outputs, read_tensors(*blocks[4], payload.scratch_bytes));
  return payload;
}

}  // namespace tosaic
