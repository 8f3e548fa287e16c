// SPDX-License-Identifier: Apache-2.0
// What concerns all versions of a .tosa file, and what is 0.80's. That its numbers and field ids
// are the published ones is shown with Vela's own reader in test/misc/test_tosa_versions.py.
#include "tosa/fb_version.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <unordered_map>
#include <unordered_set>

#include "test_paths.h"
#include "tosa/ops/control_flow.h"
#include "tosa/ops/variables.h"
#include "tosa/test_files.h"

namespace tosaic::tosa {
namespace {

using namespace test;

constexpr TosaVersion k080{0, 80, 1};
constexpr TosaVersion k10{1, 0, 0};
constexpr TosaVersion k11{1, 1, 0};

std::unique_ptr<Module> every_op() {
  std::ifstream file(std::string(TOSAIC_SOURCE_DIR) + "/test/tosautil/every_op.tir");
  std::stringstream text;
  text << file.rdbuf();
  return parsed(text.str());
}

Bytes written(const Graph& graph, const TosaVersion& version) {
  auto bytes = write_flatbuffer(graph, version);
  if (!bytes) {
    ADD_FAILURE() << render(bytes.error());
    return {};
  }
  return *std::move(bytes);
}

/// Empty when both graphs say the same, whatever their values are called and in which order their
/// constants were made.
std::string difference(const Graph& a, const Graph& b) {
  if (a.num_nodes() != b.num_nodes()) return "numbers of nodes";
  std::unordered_map<const Value*, const Value*> same;
  for (size_t i = 0; i < a.inputs().size(); ++i)
    same[a.inputs()[i]] = b.inputs()[i];
  const auto is_same = [&](const Value& x, const Value& y) {
    if (x.dtype() != y.dtype() || !(x.shape() == y.shape())) return false;
    if (x.is_constant()) return y.is_constant() && x.constant()->equals(*y.constant());
    return same[&x] == &y;
  };
  const Node* y = b.first();
  for (const Node& x : a.nodes()) {
    if (!x.is(y->op()) || x.num_operands() != y->num_operands()) return std::string(x.full_name());
    for (int i = 0; i < x.num_operands(); ++i) {
      if ((x.operand(i) == nullptr) != (y->operand(i) == nullptr)) {
        return fmt::format("operand {} of {} is absent", i, x.full_name());
      }
      if (x.operand(i) == nullptr) continue;
      if (!is_same(*x.operand(i), *y->operand(i))) {
        return fmt::format("operand {} of {}", i, x.full_name());
      }
    }
    for (const NamedAttr& attr : x.attrs()) {
      if (!(*y->attr(attr.name) == attr.value)) {
        return fmt::format("attribute {} of {}", attr.name, x.full_name());
      }
    }
    for (int i = 0; i < x.num_results(); ++i)
      same[&x.result(i)] = &y->result(i);
    y = b.after(*y);
  }
  for (int i = 0; i < a.num_outputs(); ++i) {
    if (!is_same(*a.output(i), *b.output(i))) return fmt::format("output {}", i);
  }
  return "";
}

// Tables against definitions.

TEST(TosaVersions, EveryOperationIsStored) {
  const std::unordered_set<std::string_view> not_in_080 = {"cos", "sin"};
  const FileVersion v080(k080);
  const FileVersion v10(k10);
  const FileVersion v11(k11);
  constexpr uint16_t kConstShape = 75;  // the last of 1.0
  for (const OpDef* op : all_ops()) {
    if (op->dialect != Dialect::kTosa) continue;
    if (op == &variable || op == &variable_read || op == &variable_write) {
      // Their tensors say all: what is written are copies, what is read has a name.
      EXPECT_EQ(v10.stored(*op), nullptr) << op->name;
      EXPECT_EQ(v10.by_number(spec(*op).number)->name, op->name);
      continue;
    }
    const bool is_in_10 = spec(*op).number <= kConstShape;
    EXPECT_EQ(v080.stored(*op) != nullptr, is_in_10 && !not_in_080.contains(op->name)) << op->name;
    EXPECT_EQ(v10.stored(*op) != nullptr, is_in_10) << op->name;
    for (const FileVersion* version : {&v080, &v10, &v11}) {
      const StoredOp* stored = version->stored(*op);
      if (stored == nullptr) continue;
      EXPECT_EQ(stored->op, op) << op->name;
      EXPECT_EQ(version->by_number(stored->number), stored) << op->name;
    }
    EXPECT_NE(v11.stored(*op), nullptr) << op->name;
  }
}

/// An operation's every number has a place in 0.80's file, or only one possible value there.
TEST(TosaVersions, NothingOfAnOperationIsLostIn080) {
  const std::unordered_set<std::string> silent = {"max_pool2d.input_zp", "max_pool2d.output_zp",
                                                  "max_pool2d.acc_type",
                                                  "transpose_conv2d.output_shape"};
  const FileVersion version(k080);
  for (const OpDef* op : all_ops()) {
    if (op->dialect != Dialect::kTosa) continue;
    const StoredOp* stored = version.stored(*op);
    if (stored == nullptr) continue;
    const OpSpec& s = spec(*op);
    for (const AttrField& attr : s.attrs) {
      EXPECT_TRUE(stored->has_field(attr.name) || attr.kind == FieldKind::kNanMode ||
                  attr.kind == FieldKind::kDType)
          << op->name << " " << attr.name;
    }
    for (size_t i = 0; i < s.operands.count; ++i) {
      EXPECT_NE(stored->has_field(s.operands[i].name), stored->is_input(i))
          << op->name << " " << s.operands[i].name;
    }
    for (const AttrField& field : stored->fields) {
      const bool is_silent = silent.contains(fmt::format("{}.{}", op->name, field.name));
      EXPECT_NE(stored->is_used(field), is_silent) << op->name << " " << field.name;
    }
  }
}

/// Those that run other graphs stand in src/tosa/control_flow_test.cpp.
TEST(TosaVersions, EveryOperationStandsInTheFileThatTestsRead) {
  const auto module = every_op();
  std::unordered_set<const OpDef*> seen;
  for (const auto& graph : module->graphs()) {
    for (const Node& node : graph->nodes())
      seen.insert(&node.op());
  }
  for (const OpDef* op : all_ops()) {
    if (op->dialect != Dialect::kTosa || op == &cond_if || op == &while_loop) continue;
    EXPECT_TRUE(seen.contains(op)) << op->name << ": add a node to test/tosautil/every_op.tir";
  }
}

TEST(TosaVersions, EveryOperationIsTheSameAfterReading) {
  const auto module = every_op();
  for (const TosaVersion& version : {k080, k10, k11}) {
    for (const auto& graph : module->graphs()) {
      if (version == k080 && graph->name() != "main") continue;
      TosaVersion seen;
      const Bytes bytes = written(*graph, version);
      auto again = read_flatbuffer(bytes, nullptr, "net.tosa", &seen);
      ASSERT_TRUE(again) << render(again.error());
      EXPECT_EQ(difference(*graph, *(*again)->main()), "") << graph->name() << version.minor;
      EXPECT_EQ(seen, version);
      EXPECT_EQ(fb::GetRoot(bytes.data())->version()->draft(), version == k11);
    }
  }
}

/// Every graph of the file alone, so that what is found does not depend on its neighbours.
TEST(TosaVersions, DamageIsRefusedOrRead) {
  const auto module = every_op();
  for (const TosaVersion& version : {k080, k11}) {
    Bytes bytes = written(*module->main(), version);
    constexpr size_t kStep = 11;  // has no common factor with the sizes of fields
    for (size_t at = 0; at < bytes.size(); at += kStep) {
      const std::byte before = bytes[at];
      bytes[at] ^= static_cast<std::byte>(at % 2 == 0 ? 0x01 : 0xff);
      auto read = test::read(bytes);
      EXPECT_TRUE(!read || verify(**read));
      bytes[at] = before;
    }
    for (size_t size = 0; size < bytes.size(); size += 97) {
      auto read = test::read(std::span(bytes).first(size));
      EXPECT_TRUE(!read || verify(**read));
    }
  }
}

// Writing.

TEST(TosaVersions, WhatAVersionCannotSayIsNamed) {
  const auto refusal = [](std::string_view text, const TosaVersion& version) {
    const auto module = parsed(text);
    auto bytes = write_flatbuffer(*module->main(), version);
    return bytes ? "no error"
                 : fmt::format("{}: {}", code_id(bytes.error().code), bytes.error().message);
  };
  constexpr std::string_view kSin =
      "tosa graph @main(%x: f32[2]) {\n  %y: f32[2] = tosa.sin(%x)\n  return %y\n}\n";
  EXPECT_EQ(refusal(kSin, k080), "E0304: tosa.sin is no operation of TOSA 0.80");
  EXPECT_EQ(refusal(kSin, k11), "no error");
  const auto maximum = [](std::string_view dtype) {
    return fmt::format(
        "tosa graph @main(%x: {0}[2]) {{\n  %y: {0}[2] = tosa.maximum(%x, %x) "
        "{{nan_mode = \"ignore\"}}\n  return %y\n}}\n",
        dtype);
  };
  EXPECT_EQ(refusal(maximum("f32"), k080),
            "E0304: tosa.maximum: nan_mode is \"ignore\", which TOSA 0.80 cannot say: there it is "
            "\"propagate\"");
  EXPECT_EQ(refusal(maximum("i32"), k080), "no error");  // integers are never NaN
  EXPECT_EQ(refusal(R"(tosa graph @main(%x: bf16[1,2,2,1], %w: bf16[1,1,1,1], %b: bf16[1]) {
  %0 = const bf16[1] [0]
  %y: bf16[1,2,2,1] = tosa.conv2d(%x, %w, %b, %0, %0) {pad = [0, 0, 0, 0], stride = [1, 1], dilation = [1, 1], local_bound = false, acc_type = f32}
  return %y
}
)",
                    k080),
            "E0304: tosa.conv2d: acc_type is f32, which TOSA 0.80 cannot say: there it is bf16");
  EXPECT_EQ(refusal("tosa graph @main(%x: f8e4m3[2]) {\n  return %x\n}\n", k080),
            "E0304: input %x has type f8e4m3, which TOSA 0.80 lacks");
}

TEST(TosaVersions, InexactRoundingIsTheSingleOneIn080) {
  const auto module = parsed(R"(tosa graph @main(%x: i32[2]) {
  %0 = const i32[1] [1073741824]
  %1 = const i8[1] [31]
  %2 = const i32[1] [0]
  %3 = const i8[1] [5]
  %y: i8[2] = tosa.rescale(%x, %0, %1, %2, %3) {scale32 = true, rounding_mode = "inexact", per_channel = false, input_unsigned = false, output_unsigned = false}
  return %y
}
)");
  auto again = read(written(*module->main(), k080));
  ASSERT_TRUE(again);
  EXPECT_EQ((*again)->main()->first()->attr("rounding_mode")->as_string(), "single");
}

TEST(TosaVersions, ConstantsThatAreFieldsAreNoTensors) {
  const auto module = parsed(R"(tosa graph @main(%x: i8[2,3]) {
  %0 = const shape[2] [3, 2]
  %1 = const i8[1] [7]
  %2 = const i8[2,3] [1, 2, 3, 4, 5, 6]
  %y: i8[3,2] = tosa.reshape(%x, %0)
  %z: i8[2,3] = tosa.negate(%2, %1, %1)
  return %y, %z, %1
}
)");
  const Bytes bytes = written(*module->main(), k080);
  const auto& block = *block_of(bytes).operators();
  std::vector<uint32_t> numbers;
  for (const auto* op : block)
    numbers.push_back(op->op());
  // CONST, CONST, RESHAPE, NEGATE, IDENTITY: %1 is an output too, so it is a tensor as well.
  EXPECT_EQ(numbers, (std::vector<uint32_t>{64, 64, 54, 39, 65}));
  EXPECT_EQ(block[2]->inputs()->size(), 1u);
  EXPECT_EQ(block[3]->inputs()->size(), 1u);
  EXPECT_EQ(block[4]->attribute(), nullptr);
  EXPECT_EQ(block_of(bytes).shapes(), nullptr);
}

// Reading 0.80.

constexpr uint32_t kInt8 = 4;
constexpr uint32_t kInt32 = 6;
constexpr uint32_t kUint8 = 2;
constexpr uint32_t kFullyConnected = 6;
constexpr uint32_t kMaxPool = 8;
constexpr uint32_t kMul = 27;
constexpr uint32_t kRescale = 63;
constexpr uint32_t kDim = 72;

RawFile file_080() {
  RawFile file;
  file.version = {0, 80, 1};
  return file;
}

TEST(TosaVersions, FullyConnectedBecomesAConvolution) {
  RawFile file = file_080();
  file.tensors = {{"x", {2, 3}, kInt8},
                  {"w", {4, 3}, kInt8, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}},
                  {"b", {4}, kInt32, std::vector<uint8_t>(16)},
                  {"y", {2, 4}, kInt32}};
  file.ops = {
      {kFullyConnected, {"x", "w", "b"}, {"y"}, 19, {{0, 3}, {1, static_cast<uint32_t>(-4)}}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  EXPECT_EQ(text_of(made(file)), R"(tosa graph @main(%x: i8[2,3]) {
  %0 = const i32[4] splat(0)
  %1 = const shape[4] [2, 1, 1, 3]
  %2 = const i8[4,1,1,3] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]
  %3 = const i8[1] [3]
  %4 = const i8[1] [-4]
  %5 = const shape[2] [2, 4]
  %6: i8[2,1,1,3] = tosa.reshape(%x, %1)
  %7: i32[2,1,1,4] = tosa.conv2d(%6, %2, %0, %3, %4) {pad = [0, 0, 0, 0], stride = [1, 1], dilation = [1, 1], local_bound = false, acc_type = i32}
  %y: i32[2,4] = tosa.reshape(%7, %5)
  return %y
}
)");
  RawFile variable_weight = file;
  variable_weight.tensors[1].data.clear();
  variable_weight.inputs = {"x", "w"};
  auto module = read(made(variable_weight));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->num_nodes(), 4u);
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.ops[0].inputs.pop_back(); }),
            "E0307: operator 0 (FULLY_CONNECTED): must have an input and weights of rank 2, a bias "
            "and one result");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.ops[0].fields[0].second = 200; }),
            "E0307: operator 0 (FULLY_CONNECTED): attribute input_zp: 200 is not in -128 to 127");
}

TEST(TosaVersions, UnsignedTypesAreSignedOnesThatRescaleKnows) {
  RawFile file = file_080();
  file.tensors = {{"x", {2}, kUint8}, {"y", {2}, kInt8}};
  const std::vector<int32_t> multiplier = {1073741824};
  const std::vector<int32_t> shift = {30};
  file.ops = {{kRescale, {"x"}, {"y"}, 11, {{0, 128}, {4, 1}}, {{2, multiplier}, {3, shift}}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  EXPECT_EQ(text_of(made(file)), R"(tosa graph @main(%x: i8[2]) {
  %0 = const i32[1] [1073741824]
  %1 = const i8[1] [30]
  %2 = const i8[1] [-128]
  %3 = const i8[1] [0]
  %y: i8[2] = tosa.rescale(%x, %0, %1, %2, %3) {scale32 = true, rounding_mode = "single", per_channel = false, input_unsigned = true, output_unsigned = false}
  return %y
}
)");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.ops[0].fields[0].second = 256; }),
            "E0307: operator 0 (tosa.rescale): attribute input_zp: 256 is not in 0 to 255");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.tensors[0].type = kInt8; }),
            "E0307: operator 0 (tosa.rescale): attribute input_zp: 128 is not in -128 to 127");
  EXPECT_EQ(message_after(file,
                          [](RawFile& f) {
                            f.ops[0] = {32, {"x"}, {"y"}, 0, {}};
                          }),
            "E0307: operator 0 (tosa.bitwise_not): 'x' has an unsigned type, which only "
            "tosa.rescale takes and gives");
}

TEST(TosaVersions, FieldsThatSayNothingAreNotRead) {
  RawFile file = file_080();
  file.tensors = {{"x", {1, 2, 2, 1}, kInt8}, {"y", {1, 1, 1, 1}, kInt8}};
  const std::vector<int32_t> pad(4);
  const std::vector<int32_t> two(2, 2);
  file.ops = {{kMaxPool, {"x"}, {"y"}, 1, {{3, 9}, {5, 77}}, {{0, pad}, {1, two}, {2, two}}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  EXPECT_EQ(text_of(made(file)), R"(tosa graph @main(%x: i8[1,2,2,1]) {
  %y: i8[1,1,1,1] = tosa.max_pool2d(%x) {kernel = [2, 2], stride = [2, 2], pad = [0, 0, 0, 0], nan_mode = "propagate"}
  return %y
}
)");
}

TEST(TosaVersions, WrongOperatorsOf080) {
  RawFile file = file_080();
  file.tensors = {{"x", {2}, kInt32}, {"y", {2}, kInt32}};
  file.ops = {{kMul, {"x", "x"}, {"y"}, 12, {{0, 3}}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  ASSERT_TRUE(read(made(file)));
  const auto message = [&](const std::function<void(RawOp&)>& change) {
    return message_after(file, [&](RawFile& f) { change(f.ops[0]); });
  };
  EXPECT_EQ(message([](RawOp& op) { op.attribute_type = 0; }),
            "E0307: operator 0 (tosa.mul): its attributes are of table 0, and TOSA 0.80 has table "
            "12 there");
  EXPECT_EQ(message([](RawOp& op) { op.attribute_type = 13; }),
            "E0307: operator 0 (tosa.mul): its attributes are of table 13, and TOSA 0.80 has table "
            "12 there");
  EXPECT_EQ(message([](RawOp& op) { op.inputs = {"x"}; }),
            "E0307: operator 0 (tosa.mul): has 1 inputs and needs 2");
  EXPECT_EQ(message([](RawOp& op) {
              op.inputs = {"x", "x", "x"};
            }),
            "E0307: operator 0 (tosa.mul): has 3 inputs and needs 2");
  EXPECT_EQ(message([](RawOp& op) { op.fields[0].second = 128; }),
            "E0307: operator 0 (tosa.mul): attribute shift: 128 is not in -128 to 127");
  EXPECT_EQ(message([](RawOp& op) {
              op = {kDim, {"x"}, {"y"}, 5, {}};
            }),
            "E0307: operator 0 (DIM): is not supported");
  EXPECT_EQ(message([](RawOp& op) { op.number = 11; }),
            "E0307: operator 0 (number 11): is not supported");
  EXPECT_EQ(message_after(file, [](RawFile& f) { f.tensors[1].type = 13; }),
            "E0307: tensor 1 'y' has type number 13, which is no supported tensor type of TOSA "
            "0.80");
}

TEST(TosaVersions, OperatorsOf11AreNamed) {
  RawFile file;
  file.version = {1, 1, 0};
  file.tensors = {{"x", {2}}, {"y", {2}}};
  file.ops = {{100, {"x"}, {"y"}, -1, {}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  EXPECT_EQ(message_of(made(file)), "E0307: operator 0 (MATMUL_T): is not supported");
  file.version = {1, 0, 0};
  EXPECT_EQ(message_of(made(file)), "E0307: operator 0 (number 100): is not supported");
}

}  // namespace
}  // namespace tosaic::tosa
