// SPDX-License-Identifier: Apache-2.0
// Expected values: the field ids and numbers of the published schema of TOSA 1.0 (read with classes
// that flatc makes from our containers, and for attribute tables by field id), and text IR.
#include "tosa/flatbuffer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "tosa/test_files.h"

namespace tosaic::tosa {
namespace {

using namespace test;

/// A convolution and a RESCALE, as every quantised network has them.
constexpr std::string_view kConv = R"(tosa graph @main(%x: i8[1,4,4,3]) {
  %0 = const i8[2,1,1,3] [1, -2, 3, 4, 5, -127]
  %1 = const i32[2] [100, -70]
  %2 = const i8[1] [3]
  %3 = const i8[1] [0]
  %4 = const i32[1] [1073741824]
  %5 = const i8[1] [34]
  %6 = const i32[1] [0]
  %7 = const shape[2] [4, 8]
  %8: i32[1,4,4,2] = tosa.conv2d(%x, %0, %1, %2, %3) {pad = [0, 0, 0, 0], stride = [1, 1], dilation = [1, 1], local_bound = false, acc_type = i32}
  %9: i8[1,4,4,2] = tosa.rescale(%8, %4, %5, %6, %3) {scale32 = true, rounding_mode = "single", per_channel = false, input_unsigned = false, output_unsigned = false}
  %r: i8[4,8] = tosa.reshape(%9, %7)
  return %r
}
)";

Bytes written(std::string_view text, const WriteOptions& options = {}) {
  const auto module = parsed(text);
  if (module == nullptr) return {};
  auto bytes = write_flatbuffer(*module->main(), {}, options);
  if (!bytes) {
    ADD_FAILURE() << render(bytes.error());
    return {};
  }
  return *std::move(bytes);
}

constexpr uint32_t kAdd = 15;
constexpr uint32_t kReshape = 57;
constexpr uint32_t kConst = 67;
constexpr uint32_t kCondIf = 70;
constexpr uint32_t kWhileLoop = 71;
constexpr uint32_t kConstShape = 75;
constexpr uint32_t kInt32 = 5;

/// z = (x + y) + y over int32, in that order.
RawFile adds() {
  RawFile file;
  file.tensors = {{"x", {2}, kInt32}, {"y", {2}, kInt32}, {"s", {2}, kInt32}, {"z", {2}, kInt32}};
  file.ops = {{kAdd, {"x", "y"}, {"s"}}, {kAdd, {"s", "y"}, {"z"}}};
  file.inputs = {"x", "y"};
  file.outputs = {"z"};
  return file;
}
constexpr std::string_view kAddsText = R"(tosa graph @main(%x: i32[2], %y: i32[2]) {
  %0: i32[2] = tosa.add(%x, %y)
  %z: i32[2] = tosa.add(%0, %y)
  return %z
}
)";

/// A file whose only value is one constant.
RawFile one_constant(uint32_t type, std::vector<int32_t> shape, std::vector<uint8_t> data) {
  RawFile file;
  file.tensors = {{"c", std::move(shape), type, std::move(data)}};
  file.ops = {{kConst, {}, {"c"}}};
  file.outputs = {"c"};
  return file;
}

// Writing.

TEST(TosaWrite, TextIsTheSameAfterReading) {
  EXPECT_EQ(text_of(written(kConv)), kConv);
}

TEST(TosaWrite, ContainerIsThePublishedOne) {
  const Bytes bytes = written(kConv);
  EXPECT_EQ(std::memcmp(bytes.data() + 4, "TOSA", 4), 0);
  const fb::Root& root = *fb::GetRoot(bytes.data());
  EXPECT_EQ(root.version()->number_major(), 1);
  EXPECT_EQ(root.version()->number_minor(), 0);
  EXPECT_EQ(root.version()->number_patch(), 0);
  EXPECT_FALSE(root.version()->draft());
  ASSERT_EQ(root.regions()->size(), 1u);
  EXPECT_EQ(root.regions()->Get(0)->name()->str(), "main");
  const fb::Block& block = block_of(bytes);
  EXPECT_EQ(strings(block.inputs()), std::vector<std::string>{"x"});
  EXPECT_EQ(strings(block.outputs()), std::vector<std::string>{"r"});
  std::vector<uint32_t> numbers;
  for (const auto* op : *block.operators()) {
    numbers.push_back(static_cast<uint32_t>(op->op()));
    EXPECT_EQ(op->attribute_type(), numbers.back());
    EXPECT_NE(op->attribute(), nullptr);
    EXPECT_NE(op->inputs(), nullptr);
    EXPECT_EQ(op->location(), nullptr);
  }
  EXPECT_EQ(numbers, (std::vector<uint32_t>{67, 67, 67, 67, 67, 67, 67, 75, 3, 66, 57}));
  // The zero points of the convolution's weight and of RESCALE's result are one constant.
  ASSERT_EQ(block.operators()->size(), 11u);
  EXPECT_EQ(block.operators()->Get(8)->inputs()->Get(4)->str(),
            block.operators()->Get(9)->inputs()->Get(4)->str());
  ASSERT_EQ(block.shapes()->size(), 1u);
  EXPECT_EQ(block.shapes()->Get(0)->rank(), 2u);
  EXPECT_EQ(block.shapes()->Get(0)->data()->size(), 16u);
  EXPECT_EQ(block.shapes()->Get(0)->data()->Get(8), 8);
}

TEST(TosaWrite, AttributesHaveTheIdsAndNumbersOfTheSchema) {
  const Bytes bytes = written(kConv);
  // Conv2dAttribute: pad 0, stride 1, dilation 2, local_bound 3, acc_type 4 (INT32 is 5).
  const flatbuffers::Table& conv = attributes_of(*block_of(bytes).operators()->Get(8));
  using Ints = flatbuffers::Vector<int32_t>;
  EXPECT_EQ(conv.GetPointer<const Ints*>(field_id(0))->size(), 4u);
  EXPECT_EQ(conv.GetPointer<const Ints*>(field_id(1))->size(), 2u);
  EXPECT_EQ(conv.GetPointer<const Ints*>(field_id(2))->Get(1), 1);
  EXPECT_FALSE(conv.CheckField(field_id(3)));  // false is the default
  EXPECT_EQ(conv.GetField<uint32_t>(field_id(4), 0), 5u);
  // RescaleAttribute: scale32 0, rounding_mode 1 (SINGLE_ROUND is 1).
  const flatbuffers::Table& rescale = attributes_of(*block_of(bytes).operators()->Get(9));
  EXPECT_EQ(rescale.GetField<uint8_t>(field_id(0), 0), 1);
  EXPECT_EQ(rescale.GetField<uint32_t>(field_id(1), 0), 1u);
}

TEST(TosaWrite, DataAreAlignedInTheFile) {
  const Bytes bytes = written(kConv);
  for (const auto* tensor : *block_of(bytes).tensors()) {
    if (tensor->data() == nullptr) continue;
    const auto* data = reinterpret_cast<const std::byte*>(tensor->data()->data());
    EXPECT_EQ((data - bytes.data()) % 16, 0) << tensor->name()->str();
  }
}

TEST(TosaWrite, EqualConstantsAreWrittenOnce) {
  const Bytes bytes = written(R"(tosa graph @main(%x: i32[2]) {
  %a = const i32[2] [5, 6]
  %b = const i32[2] [5, 6]
  %c = const i32[2] [5, 7]
  %d: i32[2] = tosa.add(%x, %a)
  %e: i32[2] = tosa.add(%d, %b)
  %f: i32[2] = tosa.add(%e, %c)
  return %f
}
)");
  const auto& ops = *block_of(bytes).operators();
  ASSERT_EQ(ops.size(), 5u);
  EXPECT_EQ(ops[2]->inputs()->Get(1)->str(), ops[3]->inputs()->Get(1)->str());
  EXPECT_NE(ops[2]->inputs()->Get(1)->str(), ops[4]->inputs()->Get(1)->str());
}

TEST(TosaWrite, OutputsThatNeedATensorOfTheirOwnGetAnIdentity) {
  EXPECT_EQ(text_of(written(R"(tosa graph @main(%x: i32[2], %unused: i8[2]) {
  %c = const i32[2] [5, 6]
  %y: i32[2] = tosa.add(%x, %c)
  return %y, %x, %y, %c
}
)")),
            R"(tosa graph @main(%x: i32[2], %unused: i8[2]) {
  %0 = const i32[2] [5, 6]
  %y: i32[2] = tosa.add(%x, %0)
  %x_2: i32[2] = tosa.identity(%x)
  %y_2: i32[2] = tosa.identity(%y)
  %c: i32[2] = tosa.identity(%0)
  return %y, %x_2, %y_2, %c
}
)");
}

TEST(TosaWrite, NamesOfInputsAndOutputsAreKeptAndMadeUnique) {
  const Bytes bytes = written(R"(tosa graph @main(%t0: i32[2], %t0_2: i32[2] "t0", %0: i32[2]) {
  %y: i32[2] = tosa.add(%t0, %t0_2)
  %1: i32[2] = tosa.add(%y, %0)
  %z: i32[2] "t0" = tosa.add(%1, %0)
  %2: i32[2] = tosa.add(%z, %0)
  return %z, %2
}
)");
  EXPECT_EQ(strings(block_of(bytes).inputs()), (std::vector<std::string>{"t0", "t0_2", "input"}));
  EXPECT_EQ(strings(block_of(bytes).outputs()), (std::vector<std::string>{"t0_3", "output"}));
  std::vector<std::string> names;
  for (const auto* tensor : *block_of(bytes).tensors())
    names.push_back(tensor->name()->str());
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(TosaWrite, PackedTypes) {
  // 5, -7, 1 as nibbles 5, 9, 1; 140000000000000 is 0x7f544a44c000 and -3 is 2^48 - 3.
  const Bytes bytes = written(R"(tosa graph @main() {
  %i4 = const i4[3] [5, -7, 1]
  %i48 = const i48[2] [140000000000000, -3]
  %b = const bool[2] [true, false]
  return %i4, %i48, %b
}
)");
  const auto data = [&](uint32_t i) {
    const auto& d = *block_of(bytes).tensors()->Get(i)->data();
    return std::vector<int>(d.begin(), d.end());
  };
  EXPECT_EQ(data(0), (std::vector<int>{0x95, 0x01}));
  EXPECT_EQ(data(1), (std::vector<int>{0x00, 0xc0, 0x44, 0x4a, 0x54, 0x7f,  //
                                       0xfd, 0xff, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_EQ(data(2), (std::vector<int>{1, 0}));
  const std::string text = text_of(bytes);
  EXPECT_NE(text.find("[5, -7, 1]"), std::string::npos) << text;
  EXPECT_NE(text.find("[140000000000000, -3]"), std::string::npos) << text;
  EXPECT_NE(text.find("[true, false]"), std::string::npos) << text;
}

TEST(TosaWrite, ClampLimitsHaveTheTypeOfTheOperand) {
  constexpr std::string_view kText = R"(tosa graph @main(%x: i16[2], %y: f16[2], %z: f32[2]) {
  %a: i16[2] = tosa.clamp(%x) {min_val = -300, max_val = 301, nan_mode = "propagate"}
  %b: f16[2] = tosa.clamp(%y) {min_val = -0.5, max_val = 6.0, nan_mode = "ignore"}
  %c: f32[2] = tosa.clamp(%z) {min_val = 0.0, max_val = 3.4028234663852886e+38, nan_mode = "propagate"}
  return %a, %b, %c
}
)";
  const Bytes bytes = written(kText);
  EXPECT_EQ(text_of(bytes), kText);
  const auto limit = [&](uint32_t op, size_t field) {
    const auto& table = attributes_of(*block_of(bytes).operators()->Get(op));
    const auto& d = *table.GetPointer<const flatbuffers::Vector<uint8_t>*>(field_id(field));
    return std::vector<int>(d.begin(), d.end());
  };
  EXPECT_EQ(limit(0, 0), (std::vector<int>{0xd4, 0xfe}));
  EXPECT_EQ(limit(0, 1), (std::vector<int>{0x2d, 0x01}));
  EXPECT_EQ(limit(1, 0), (std::vector<int>{0x00, 0xb8}));
  EXPECT_EQ(limit(1, 1), (std::vector<int>{0x00, 0x46}));
  EXPECT_EQ(limit(2, 1), (std::vector<int>{0xff, 0xff, 0x7f, 0x7f}));
}

TEST(TosaWrite, LocationsAreOptional) {
  constexpr std::string_view kText = R"(tosa graph @main(%x: i32[2]) {
  %y: i32[2] = tosa.add(%x, %x) loc("net.py":41 "Net.stem")
  return %y
}
)";
  WriteOptions options;
  options.locations = true;
  const Bytes with = written(kText, options);
  EXPECT_EQ(block_of(with).operators()->Get(0)->location()->text()->str(), "net.py:41/Net.stem");
  auto module = read(with);
  ASSERT_TRUE(module);
  EXPECT_EQ((*module)->main()->first()->loc()->scope, "net.py:41/Net.stem");
  const Bytes without = written(kText);
  EXPECT_EQ(block_of(without).operators()->Get(0)->location(), nullptr);
}

TEST(TosaWrite, ConstantsWithAStageAreMaterialised) {
  Module module;
  Graph& graph = module.add_graph("main", Dialect::kTosa);
  const std::array<double, 6> values = {1, 2, 3, 4, 5, 6};
  const Constant& source = module.constant_floats(DType::kF32, Shape{2, 3}, values);
  const std::array<int64_t, 2> perm = {1, 0};
  Value* value = &graph.add_constant(module.permuted(source, perm));
  graph.set_outputs({&value, 1});
  auto bytes = write_flatbuffer(graph, {});
  ASSERT_TRUE(bytes);
  const std::string text = text_of(*bytes);
  EXPECT_NE(text.find("f32[3,2] [1, 4, 2, 5, 3, 6]"), std::string::npos) << text;
}

TEST(TosaWrite, WhatTheVersionLacksIsNamed) {
  const auto refusal = [](std::string_view text, TosaVersion version = {}) {
    const auto module = parsed(text);
    auto bytes = write_flatbuffer(*module->main(), version);
    return bytes ? "no error"
                 : fmt::format("{}: {}", code_id(bytes.error().code), bytes.error().message);
  };
  EXPECT_EQ(refusal("tosa graph @main(%x: u8[2]) {\n  return %x\n}\n"),
            "E0304: input %x has type u8, which TOSA 1.0 lacks");
  EXPECT_EQ(refusal("tosa graph @main(%x: i8[s0]) {\n  return %x\n}\n"),
            "E0306: input %x has sizes [s0], and TOSA needs 32-bit numbers");
  EXPECT_EQ(refusal(kConv, {0, 90, 0}),
            "E0304: TOSA 0.90.0 is not written, only 0.80, 1.0 and 1.1");
  EXPECT_EQ(refusal("tosa graph @f(%x: i8[2]) {\n  return %x\n}\ntosa graph @main(%x: i8[2]) {\n"
                    "  %y: i8[2] = call(%x) {callee = @f}\n  return %y\n}\n"),
            "E0304: call is no operation of TOSA 1.0");
}

TEST(TosaWrite, BytesDependOnTheGraphOnly) {
  EXPECT_EQ(written(kConv), written(kConv));
}

// Reading.

TEST(TosaRead, VersionsOneZeroAndOneOne) {
  RawFile file = adds();
  EXPECT_EQ(text_of(made(file)), kAddsText);
  file.draft = true;
  file.version = {1, 0, 2};
  EXPECT_EQ(text_of(made(file)), kAddsText);
  file.version = {1, 1, 0};
  EXPECT_EQ(text_of(made(file)), kAddsText);
  for (const std::array<int32_t, 3>& version : {std::array{0, 79, 0},
                                                {0, 90, 0},
                                                {0, 100, 0},
                                                {1, 2, 0},
                                                {9, 9, 0},
                                                {-1, -1, -1},
                                                {2, 0, 0}}) {
    file.version = version;
    EXPECT_EQ(message_of(made(file)),
              fmt::format("E0307: has TOSA version {}.{}.{}, and 0.80, 1.0 and 1.1 are read",
                          version[0], version[1], version[2]));
  }
}

TEST(TosaRead, OperatorsMayStandInAnyOrder) {
  RawFile file = adds();
  std::swap(file.ops[0], file.ops[1]);
  EXPECT_EQ(text_of(made(file)), kAddsText);
}

TEST(TosaRead, WrongNames) {
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[1].inputs[0] = "nope"; }),
            "E0307: operator 1 (tosa.add): there is no tensor 'nope'");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[1].outputs[0] = "nope"; }),
            "E0307: operator 1 (tosa.add): there is no tensor 'nope'");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.inputs[0] = "nope"; }),
            "E0307: the graph: there is no tensor 'nope'");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.outputs[0] = "nope"; }),
            "E0307: the graph: there is no tensor 'nope'");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.tensors[2].name = "x"; }),
            "E0307: tensor 2: the name 'x' is used twice");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.tensors[2].name = ""; }),
            "E0307: tensor 2 has no name");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.inputs[1] = "x"; }),
            "E0307: input 'x' stands twice");
}

TEST(TosaRead, EachTensorHasOneProducer) {
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[1].outputs[0] = "s"; }),
            "E0307: operator 1 (tosa.add): gives 's', which operator 0 gives as well");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[0].outputs[0] = "y"; }),
            "E0307: operator 0 (tosa.add): gives 'y', which is an input");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.inputs.pop_back(); }),
            "E0307: operator 0 (tosa.add): nothing gives 'y' a value");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[0].inputs[0] = "z"; }),
            "E0307: operator 1 (tosa.add): needs 's', which needs its result");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[0].inputs[0] = "s"; }),
            "E0307: operator 0 (tosa.add): needs 's', which needs its result");
}

TEST(TosaRead, LongChainsInWrongOrderNeedNoStack) {
  RawFile file;
  constexpr int kLength = 50000;
  file.tensors.push_back({"t0", {2}, kInt32});
  for (int i = kLength; i > 0; --i) {
    file.tensors.push_back({fmt::format("t{}", i), {2}, kInt32});
    file.ops.push_back({kAdd, {fmt::format("t{}", i - 1), "t0"}, {fmt::format("t{}", i)}});
  }
  file.inputs = {"t0"};
  file.outputs = {fmt::format("t{}", kLength)};
  auto module = read(made(file));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->num_nodes(), static_cast<size_t>(kLength));
}

TEST(TosaRead, TensorTypes) {
  const auto with = [](const std::function<void(RawTensor&)>& change) {
    return message_after(adds(), [&](RawFile& f) { change(f.tensors[1]); });
  };
  for (const uint32_t type : {0u, 10u, 13u, 17u, 4000000000u}) {
    EXPECT_EQ(with([&](RawTensor& t) { t.type = type; }),
              fmt::format("E0307: tensor 1 'y' has type number {}, which is no supported tensor "
                          "type of TOSA 1.0",
                          type));
  }
  EXPECT_EQ(with([](RawTensor& t) {
              t.shape = {2, 0};
            }),
            "V0007: tensor 1 'y' has size 0 along axis 1, and TOSA needs 1 or more");
  EXPECT_EQ(with([](RawTensor& t) { t.shape = {-1}; }),
            "V0007: tensor 1 'y' has size -1 along axis 0, and TOSA needs 1 or more");
  EXPECT_EQ(with([](RawTensor& t) { t.shape = std::vector<int32_t>(7, 1); }),
            "V0009: tensor 1 'y' has rank 7, and the level allows 6");
  EXPECT_EQ(with([](RawTensor& t) { t.shape = std::vector<int32_t>(6, 0x7fffffff); }),
            "E0307: tensor 1 'y' is larger than the 4 GiB that TOSA's level 8K allows");
  EXPECT_EQ(with([](RawTensor& t) { t.is_unranked = true; }), "E0307: tensor 1 'y' has no rank");
  EXPECT_EQ(with([](RawTensor& t) { t.offset = 4096; }),
            "E0307: tensor 1 'y' has its data outside of the flatbuffer");
}

TEST(TosaRead, UnknownOperatorsAndForeignAttributes) {
  for (const uint32_t number : {0u, 79u, 255u, 256u, 65537u, 4000000000u}) {
    EXPECT_EQ(message_after(adds(), [&](RawFile& f) { f.ops[1].number = number; }),
              fmt::format("E0307: operator 1 (number {}): is not supported", number));
  }
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.ops[1].attribute_type = 3; }),
            "E0307: operator 1 (tosa.add): its attributes are of table 3, and TOSA 1.0 has table "
            "15 there");
  // ADD's table is empty: a file without it says the same.
  RawFile file = adds();
  file.ops[1].attribute_type = 0;
  EXPECT_EQ(text_of(made(file)), kAddsText);
}

TEST(TosaRead, RegionsAndBlocks) {
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.num_regions = 2; }),
            "E0307: block 1: the name 'main' is used twice");
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.num_blocks = 0; }), "E0307: has no block");
  // Branches of nested conditions are such blocks or regions; one that is shared is not walked
  // again and again.
  const std::string damaged =
      "E0205: is truncated or damaged: an offset or a length leads out of the file";
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.num_regions = 10'000; }), damaged);
  EXPECT_EQ(message_after(adds(), [](RawFile& f) { f.num_blocks = 10'000; }), damaged);
  for (const auto& [number, first] : {std::pair(kCondIf, "cond_if: attribute then_graph"),
                                      std::pair(kWhileLoop, "while_loop: attribute cond_graph")}) {
    EXPECT_EQ(message_after(adds(), [&, n = number](RawFile& f) { f.ops[1].number = n; }),
              fmt::format("V0011: tosa.{} names graph @, which does not exist", first));
  }
}

TEST(TosaRead, EnumerationsAreChecked) {
  RawFile file;
  constexpr uint32_t kMaximum = 26;
  file.tensors = {{"x", {2}, kInt32}, {"y", {2}, kInt32}};
  file.ops = {{kMaximum, {"x", "x"}, {"y"}, -1, {{0, 1}}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  EXPECT_EQ(text_of(made(file)),
            "tosa graph @main(%x: i32[2]) {\n  %y: i32[2] = tosa.maximum(%x, %x) {nan_mode = "
            "\"propagate\"}\n  return %y\n}\n");
  file.ops[0].fields = {{0, 3}};
  EXPECT_EQ(message_of(made(file)),
            "E0307: operator 0 (tosa.maximum): attribute nan_mode: has the value 3, and 1 to 2 are "
            "known");
  file.ops[0].fields = {};
  EXPECT_EQ(message_of(made(file)),
            "E0307: operator 0 (tosa.maximum): attribute nan_mode: has the value 0, and 1 to 2 are "
            "known");
  file.ops[0].attribute_type = 0;
  EXPECT_EQ(message_of(made(file)),
            "E0307: operator 0 (tosa.maximum): its attributes are of table 0, and TOSA 1.0 has "
            "table 26 there");
}

TEST(TosaRead, DataMayBeLongerAndNotShorter) {
  // INT48 2 values, padded to 16 bytes as one of the published writers does.
  std::vector<uint8_t> data = {1, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0};
  EXPECT_EQ(text_of(made(one_constant(6, {2}, data))),
            "tosa graph @main() {\n  %c = const i48[2] [1, -1]\n  return %c\n}\n");
  data.resize(11);
  EXPECT_EQ(message_of(made(one_constant(6, {2}, data))),
            "E0307: 'c' has 11 bytes of data, and i48[2] needs 12");
  EXPECT_EQ(message_of(made(one_constant(3, {2}, {}))),
            "E0307: operator 0 (CONST): nothing gives 'c' a value");
  EXPECT_EQ(text_of(made(one_constant(2, {3}, {0x95, 0x01}))),
            "tosa graph @main() {\n  %c = const i4[3] [5, -7, 1]\n  return %c\n}\n");
  EXPECT_EQ(text_of(made(one_constant(3, {}, {7}))),
            "tosa graph @main() {\n  %c = const i8[] [7]\n  return %c\n}\n");
  EXPECT_EQ(message_of(made(one_constant(1, {2}, {1, 2}))),
            "E0307: 'c' has a bool that is neither 0 nor 1");
}

TEST(TosaRead, ConstantsAreViewsIntoTheFile) {
  const Bytes bytes = written(kConv);
  auto module = read(bytes);
  ASSERT_TRUE(module);
  for (const Value* value : (*module)->main()->constants()) {
    EXPECT_GE(value->constant()->data, bytes.data());
    EXPECT_LT(value->constant()->data, bytes.data() + bytes.size());
  }
}

TEST(TosaRead, TheFileIsKeptAlive) {
  auto bytes = std::make_shared<const Bytes>(written(kConv));
  const std::weak_ptr<const Bytes> watch = bytes;
  {
    auto module = read_flatbuffer(*bytes, bytes, "net.tosa");
    ASSERT_TRUE(module);
    bytes.reset();
    EXPECT_FALSE(watch.expired());
  }
  EXPECT_TRUE(watch.expired());
}

TEST(TosaRead, BytesNeedNoAlignment) {
  const Bytes bytes = written(kConv);
  Bytes shifted(bytes.size() + 16);
  for (size_t shift = 1; shift < 16; ++shift) {
    std::copy(bytes.begin(), bytes.end(), shifted.begin() + static_cast<std::ptrdiff_t>(shift));
    EXPECT_EQ(text_of(std::span(shifted).subspan(shift, bytes.size())), kConv);
  }
}

TEST(TosaRead, ConstOperators) {
  const RawFile base = one_constant(3, {2}, {1, 2});
  EXPECT_EQ(message_after(base, [](RawFile& f) { f.ops[0].number = kConstShape; }),
            "E0307: operator 0 (CONST_SHAPE): 'c' is a tensor");
  EXPECT_EQ(message_after(base, [](RawFile& f) { f.ops[0].inputs = {"c"}; }),
            "E0307: operator 0 (CONST): needs 'c', which needs its result");
  EXPECT_EQ(
      message_after(base, [](RawFile& f) { f.ops[0].attribute_type = 1; }),
      "E0307: operator 0 (CONST): its attributes are of table 1, and TOSA 1.0 has table 67 there");
  // A tensor with data is a constant without an operator too.
  RawFile file = base;
  file.ops.clear();
  EXPECT_EQ(text_of(made(file)),
            "tosa graph @main() {\n  %c = const i8[2] [1, 2]\n  return %c\n}\n");
}

TEST(TosaRead, Shapes) {
  RawFile file;
  std::vector<uint8_t> data(16);
  data[0] = 2;
  data[8] = 3;
  file.tensors = {{"x", {6}}, {"y", {2, 3}}};
  file.shapes = {{"s", 2, data}};
  file.ops = {{kConstShape, {}, {"s"}}, {kReshape, {"x", "s"}, {"y"}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  EXPECT_EQ(text_of(made(file)),
            "tosa graph @main(%x: i8[6]) {\n  %0 = const shape[2] [2, 3]\n"
            "  %y: i8[2,3] = tosa.reshape(%x, %0)\n  return %y\n}\n");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.shapes[0].rank = 3; }),
            "E0307: 's' has 16 bytes of data, and shape[3] needs 24");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.shapes[0].rank = 0xffffffff; }),
            "E0307: shape 0 's' has 4294967295 numbers, and 32 are allowed");
  EXPECT_EQ(message_after(file,
                          [](RawFile& f) {
                            f.inputs = {"x", "s"};
                          }),
            "E0307: input 's' is a shape");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.outputs = {"s"}; }),
            "E0307: output 's' is a shape");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.shapes[0].name = "x"; }),
            "E0307: shape 0: the name 'x' is used twice");
}

TEST(TosaRead, TheGraphIsVerified) {
  auto module = read(made([] {
    RawFile file = adds();
    file.tensors[3].shape = {3};
    return file;
  }()));
  ASSERT_FALSE(module);
  EXPECT_EQ(code_id(module.error().code), "V0005");
  EXPECT_EQ(module.error().where.file, "net.tosa");
  EXPECT_EQ(module.error().where.scope, "operator 1");
}

TEST(TosaRead, OtherFiles) {
  const std::string wrong = "E0205: is no TOSA flatbuffer: bytes 4 to 7 must be \"TOSA\"";
  EXPECT_EQ(message_of({}), wrong);
  Bytes bytes = written(kConv);
  bytes[4] = std::byte{'t'};
  EXPECT_EQ(message_of(bytes), wrong);
}

// Damage: every file is read or refused, and nothing is read outside of it (under the sanitizers).

TEST(TosaRead, EveryTruncationIsRefusedOrRead) {
  const Bytes bytes = written(kConv);
  for (size_t size = 0; size < bytes.size(); ++size) {
    const Bytes part(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size));
    auto module = read(part);
    EXPECT_TRUE(!module || verify(**module));
  }
}

TEST(TosaRead, EveryFlippedByteIsRefusedOrRead) {
  Bytes bytes = written(kConv);
  for (std::byte& byte : bytes) {
    const std::byte before = byte;
    for (const int mask : {0x01, 0x04, 0x10, 0x80, 0xff}) {
      byte = before ^ static_cast<std::byte>(mask);
      auto module = read(bytes);
      EXPECT_TRUE(!module || verify(**module));
    }
    byte = before;
  }
}

}  // namespace
}  // namespace tosaic::tosa
