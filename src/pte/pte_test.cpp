// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>

#include "pte/check.h"
#include "pte/planner.h"
#include "pte/reader.h"
#include "pte/writer.h"
#include "support/little_endian.h"

namespace tosaic {
namespace {

alignas(16) constexpr std::array<std::byte, 100> kPayload = {std::byte{'v'}, std::byte{'e'}};
alignas(16) constexpr std::array<std::byte, 12> kWeights = {std::byte{7}, std::byte{8}};

PteTensor tensor(PteDtype dtype, std::vector<int32_t> sizes,
                 PteStorage storage = PteStorage::kPlanned) {
  PteTensor t;
  t.dtype = dtype;
  t.sizes = std::move(sizes);
  t.storage = storage;
  return t;
}

/// x -> quantise -> delegate -> dequantise -> add a constant -> y, and one value of each kind.
PteProgram example() {
  PteProgram program;
  program.constants = {kWeights};
  PtePlan& plan = program.plans.emplace_back();
  plan.values = {tensor(PteDtype::kFloat32, {3}),
                 tensor(PteDtype::kInt8, {3}),
                 tensor(PteDtype::kInt8, {3}),
                 tensor(PteDtype::kFloat32, {3}),
                 tensor(PteDtype::kFloat32, {3}, PteStorage::kConstant),
                 tensor(PteDtype::kFloat32, {3}),
                 0.5,
                 int64_t{-128},
                 std::monostate{},
                 true,
                 std::string("text"),
                 PteIntList{{7, 7}},
                 PteDoubleList{{1.5}},
                 PteBoolList{{true, false}},
                 PteTensorList{{0, 3}},
                 PteOptionalTensorList{{-1, 3}}};
  plan.inputs = {0};
  plan.outputs = {5};
  plan.operators = {{"quantized_decomposed::quantize_per_tensor", "out"}, {"aten::add", "out"}};
  plan.delegates = {{"EthosUBackend", kPayload, {{"output_format", {std::byte{'v'}}}}}};
  plan.instructions = {PteKernelCall{0, {0, 6, 7, 1, 1}}, PteDelegateCall{0, {1, 2}},
                       PteKernelCall{0, {2, 6, 7, 3, 3}}, PteKernelCall{1, {3, 4, 7, 5, 5}}};
  EXPECT_TRUE(plan_memory(program).ok());
  return program;
}

/// Bytes at an aligned address, as a mapped file has them.
struct Aligned {
  std::vector<std::byte> storage;
  std::span<std::byte> bytes;
  explicit Aligned(std::span<const std::byte> from, size_t shift = 0) : storage(from.size() + 32) {
    size_t at = (16 - reinterpret_cast<uintptr_t>(storage.data()) % 16) % 16 + shift;
    bytes = std::span(storage).subspan(at, from.size());
    std::copy(from.begin(), from.end(), bytes.begin());
  }
};

std::vector<std::byte> written(const PteProgram& program) {
  auto bytes = write_pte(program);
  EXPECT_TRUE(bytes.ok()) << (bytes ? "" : bytes.error().message);
  return bytes ? *bytes : std::vector<std::byte>();
}

TEST(Pte, WriterAndReaderAgree) {
  PteProgram program = example();
  std::vector<std::byte> bytes = written(program);
  Aligned file(bytes);
  auto read = read_pte(file.bytes);
  ASSERT_TRUE(read.ok()) << read.error().message;
  ASSERT_EQ(read->plans.size(), 1u);
  const PtePlan& plan = read->plans[0];
  ASSERT_EQ(plan.values.size(), program.plans[0].values.size());
  for (size_t i = 0; i < plan.values.size(); i++) {
    EXPECT_EQ(plan.values[i].index(), program.plans[0].values[i].index()) << i;
  }
  EXPECT_EQ(std::get<PteTensor>(plan.values[4]).storage, PteStorage::kConstant);
  EXPECT_EQ(std::get<PteTensor>(plan.values[3]).offset,
            std::get<PteTensor>(program.plans[0].values[3]).offset);
  EXPECT_EQ(std::get<PteIntList>(plan.values[11]).items, (std::vector<int64_t>{7, 7}));
  EXPECT_EQ(std::get<PteOptionalTensorList>(plan.values[15]).items, (std::vector<int32_t>{-1, 3}));
  ASSERT_EQ(read->constants.size(), 1u);
  EXPECT_TRUE(std::equal(kWeights.begin(), kWeights.end(), read->constants[0].begin(),
                         read->constants[0].end()));
  ASSERT_EQ(plan.delegates.size(), 1u);
  EXPECT_EQ(plan.delegates[0].id, "EthosUBackend");
  EXPECT_TRUE(std::equal(kPayload.begin(), kPayload.end(), plan.delegates[0].payload.begin(),
                         plan.delegates[0].payload.end()));
  EXPECT_EQ(std::get<PteDelegateCall>(plan.instructions[1]).args, (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(plan.buffer_sizes, program.plans[0].buffer_sizes);
  // What was read writes the same file again.
  EXPECT_EQ(written(*read), bytes);
}

TEST(Pte, FileHasTheLayoutThatTheRuntimeReads) {
  std::vector<std::byte> bytes = written(example());
  EXPECT_EQ(std::memcmp(bytes.data() + 4, "ET12eh00", 8), 0);
  EXPECT_EQ(load_le<uint32_t>(bytes.data() + 12), 32u);
  uint64_t program_bytes = load_le<uint64_t>(bytes.data() + 16);
  uint64_t base = load_le<uint64_t>(bytes.data() + 24);
  EXPECT_EQ(base % 128, 0u);
  EXPECT_LT(base - program_bytes, 128u);
  // Constants first, the payload at the next multiple of 128, and nothing behind it.
  EXPECT_EQ(load_le<uint64_t>(bytes.data() + 32), 128 + kPayload.size());
  EXPECT_EQ(bytes.size(), base + 128 + kPayload.size());
  EXPECT_EQ(std::memcmp(bytes.data() + base, kWeights.data(), kWeights.size()), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + base + 128, kPayload.data(), kPayload.size()), 0);
  EXPECT_EQ(written(example()), bytes);
}

TEST(Pte, EqualPayloadsAndConstantsAreStoredOnce) {
  PteProgram program = example();
  size_t before = written(program).size();
  std::array<std::byte, 100> copy = kPayload;
  program.plans[0].delegates.push_back({"EthosUBackend", copy, {}});
  std::array<std::byte, 12> weights = kWeights;
  program.constants.push_back(weights);
  std::vector<std::byte> bytes = written(program);
  EXPECT_LT(bytes.size(), before + 128 + 100);
  Aligned file(bytes);
  auto read = read_pte(file.bytes);
  ASSERT_TRUE(read.ok());
  // Two entries at one offset would be read with no bytes for the first.
  EXPECT_EQ(read->constants.size(), example().constants.size());
}

TEST(Pte, WithoutConstantsAndPayloadsThereAreNoSegments) {
  PteProgram program;
  PtePlan& plan = program.plans.emplace_back();
  plan.values = {tensor(PteDtype::kInt8, {2, 2})};
  plan.inputs = plan.outputs = {0};
  ASSERT_TRUE(plan_memory(program).ok());
  std::vector<std::byte> bytes = written(program);
  EXPECT_NE(std::memcmp(bytes.data() + 8, "eh00", 4), 0);
  Aligned file(bytes);
  EXPECT_TRUE(read_pte(file.bytes).ok());
}

TEST(Pte, TruncatedFilesAreErrors) {  // M23
  std::vector<std::byte> bytes = written(example());
  for (size_t size = 0; size < bytes.size(); size++) {
    Aligned file({bytes.data(), size});
    EXPECT_FALSE(read_pte(file.bytes).ok()) << size;
  }
}

TEST(Pte, AnyFlippedByteIsAnErrorOrAReadableProgram) {  // M23
  std::vector<std::byte> bytes = written(example());
  for (size_t at = 0; at < bytes.size(); at++) {
    for (int flip : {0x01, 0x80, 0xff}) {
      Aligned file(bytes);
      file.bytes[at] ^= static_cast<std::byte>(flip);
      auto read = read_pte(file.bytes);
      // What is read can be trusted: it can be written again unless it has an initial state.
      if (read) {
        auto again = write_pte(*read);
        EXPECT_TRUE(again.ok() || again.error().code == Code::kUnsupportedFeature) << at;
      }
    }
  }
}

TEST(Pte, AMisalignedFileIsRefused) {  // M44
  std::vector<std::byte> bytes = written(example());
  Aligned file(bytes, 4);
  auto read = read_pte(file.bytes);
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().message.find("16-byte alignment in memory, got 4"), std::string::npos);
}

struct BadTensor {
  const char* what;
  std::vector<int32_t> sizes;
  std::vector<uint8_t> dim_order;
};

TEST(Pte, BadTensorsAreRefused) {  // M23
  const std::vector<BadTensor> cases = {{"no permutation", {2, 3}, {0, 0}},
                                        {"beyond the rank", {2, 3}, {0, 2}},
                                        {"length", {2, 3}, {0}},
                                        {"17 dimensions", std::vector<int32_t>(17, 1), {}},
                                        {"overflow", std::vector<int32_t>(5, 65536), {}},
                                        {"negative", {-1, 4}, {}}};
  for (const BadTensor& c : cases) {
    PteTensor t = tensor(PteDtype::kFloat32, c.sizes);
    t.dim_order = c.dim_order;
    EXPECT_FALSE(check_pte_tensor(t).ok()) << c.what;
    PteProgram program = example();
    program.plans[0].values[0] = t;
    EXPECT_FALSE(write_pte(program).ok()) << c.what;
  }
  PteTensor nhwc = tensor(PteDtype::kFloat32, {1, 3, 4, 5});
  nhwc.dim_order = {0, 2, 3, 1};
  EXPECT_TRUE(check_pte_tensor(nhwc).ok());
}

TEST(Pte, IndicesOutOfRangeAreRefused) {  // M23
  auto refused = [](auto change) {
    PteProgram program = example();
    change(program.plans[0]);
    return !write_pte(program).ok();
  };
  EXPECT_TRUE(refused([](PtePlan& p) { p.inputs = {99}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.outputs = {-1}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.instructions = {PteKernelCall{2, {}}}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.instructions = {PteDelegateCall{1, {}}}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.instructions = {PteKernelCall{0, {16}}}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.instructions = {PteJumpFalseCall{9, 2}}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { std::get<PteTensor>(p.values[4]).constant = 1; }));
  EXPECT_TRUE(refused([](PtePlan& p) { std::get<PteTensor>(p.values[4]).sizes = {4}; }));
  EXPECT_TRUE(
      refused([](PtePlan& p) { std::get<PteTensor>(p.values[0]).offset = uint64_t{1} << 40; }));
  EXPECT_TRUE(refused([](PtePlan& p) { std::get<PteTensor>(p.values[0]).memory_id = 0; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.values[14] = PteTensorList{{6}}; }));
  EXPECT_TRUE(refused([](PtePlan& p) { p.buffer_sizes = {}; }));
}

struct Alive {
  size_t first, last;
};

/// An independent statement of what the planner promises: for each instruction, the tensors that
/// hold data across or at it do not overlap.
void expect_no_overlap(const PtePlan& plan) {
  const size_t num = plan.instructions.size();
  auto uses = [&](size_t at) {
    return at == 0         ? plan.inputs
           : at == num + 1 ? plan.outputs
                           : std::get<PteKernelCall>(plan.instructions[at - 1]).args;
  };
  std::vector<std::optional<Alive>> alive(plan.values.size());
  for (size_t at = 0; at <= num + 1; at++) {
    for (int32_t v : uses(at)) {
      auto& a = alive[static_cast<size_t>(v)];
      a = Alive{a ? a->first : at, at};
    }
  }
  for (size_t at = 0; at <= num + 1; at++) {
    std::vector<std::pair<uint64_t, uint64_t>> ranges;
    for (size_t v = 0; v < alive.size(); v++) {
      if (!alive[v] || alive[v]->first > at || alive[v]->last < at) continue;
      const auto& t = std::get<PteTensor>(plan.values[v]);
      EXPECT_EQ(t.offset % 16, 0u);
      EXPECT_LE(t.offset + t.num_bytes(), static_cast<uint64_t>(plan.buffer_sizes[1]));
      ranges.emplace_back(t.offset, t.offset + t.num_bytes());
    }
    std::sort(ranges.begin(), ranges.end());
    for (size_t i = 1; i < ranges.size(); i++)
      EXPECT_LE(ranges[i - 1].second, ranges[i].first);
  }
}

TEST(PtePlanner, TensorsThatAreAliveTogetherNeverOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round < 300; round++) {
    PteProgram program;
    PtePlan& plan = program.plans.emplace_back();
    plan.operators = {{"aten::add", "out"}};
    auto pick = [&](size_t below) { return static_cast<int32_t>(random() % below); };
    for (int i = 0; i < 3; i++) {
      plan.inputs.push_back(static_cast<int32_t>(plan.values.size()));
      plan.values.push_back(tensor(PteDtype::kInt8, {1 + pick(100)}));
    }
    for (int i = 0; i < 20; i++) {
      std::vector<int32_t> args = {pick(plan.values.size()), pick(plan.values.size()),
                                   static_cast<int32_t>(plan.values.size())};
      plan.values.push_back(tensor(PteDtype::kInt8, {1 + pick(1000)}));
      plan.instructions.push_back(PteKernelCall{0, args});
    }
    plan.outputs = {0, pick(plan.values.size()), static_cast<int32_t>(plan.values.size() - 1)};
    ASSERT_TRUE(plan_memory(program).ok());
    expect_no_overlap(plan);
  }
}

TEST(PtePlanner, AChainNeedsTwoBuffersOnly) {
  PteProgram program;
  PtePlan& plan = program.plans.emplace_back();
  plan.operators = {{"aten::relu", "out"}};
  for (int32_t i = 0; i < 10; i++)
    plan.values.push_back(tensor(PteDtype::kInt8, {64}));
  for (int32_t i = 0; i < 9; i++)
    plan.instructions.push_back(PteKernelCall{0, {i, i + 1, i + 1}});
  plan.inputs = {0};
  plan.outputs = {9};
  ASSERT_TRUE(plan_memory(program).ok());
  EXPECT_EQ(plan.buffer_sizes, (std::vector<int64_t>{0, 128}));
  expect_no_overlap(plan);
}

TEST(PtePlanner, TensorsInListsStayAlive) {
  PteProgram program;
  PtePlan& plan = program.plans.emplace_back();
  plan.operators = {{"aten::cat", "out"}};
  plan.values = {tensor(PteDtype::kInt8, {64}), tensor(PteDtype::kInt8, {64}),
                 tensor(PteDtype::kInt8, {64}), PteTensorList{{0, 1}},
                 tensor(PteDtype::kInt8, {128})};
  plan.instructions = {PteKernelCall{0, {0, 1}}, PteKernelCall{0, {1, 2}},
                       PteKernelCall{0, {3, 4}}};
  plan.inputs = {0};
  plan.outputs = {4};
  ASSERT_TRUE(plan_memory(program).ok());
  auto offset = [&](size_t v) { return std::get<PteTensor>(plan.values[v]).offset; };
  EXPECT_NE(offset(0), offset(2));
  EXPECT_NE(offset(1), offset(2));
}

TEST(PtePlanner, AMethodWithJumpsSharesNothing) {
  PteProgram program;
  PtePlan& plan = program.plans.emplace_back();
  plan.operators = {{"aten::relu", "out"}};
  for (int i = 0; i < 4; i++)
    plan.values.push_back(tensor(PteDtype::kInt8, {16}));
  plan.values.push_back(true);
  plan.instructions = {PteKernelCall{0, {0, 1}}, PteKernelCall{0, {1, 2}}, PteKernelCall{0, {2, 3}},
                       PteJumpFalseCall{4, 0}};
  plan.inputs = {0};
  plan.outputs = {3};
  ASSERT_TRUE(plan_memory(program).ok());
  EXPECT_EQ(plan.buffer_sizes[1], 64);
}

}  // namespace
}  // namespace tosaic
