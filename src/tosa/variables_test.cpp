// SPDX-License-Identifier: Apache-2.0
// VARIABLE, VARIABLE_READ, VARIABLE_WRITE and CUSTOM: rules, files, execution. That states are the
// reference model's is shown by test/conformance/test_variables.py.
#include <gtest/gtest.h>

#include "ir/effects.h"
#include "tosa/ops.h"
#include "tosa/ops/variables.h"
#include "tosa/reference.h"
#include "tosa/test_files.h"

namespace tosaic::tosa {
namespace {

using namespace test;

/// Adds x to a total, and counts the runs; a branch starts again.
constexpr std::string_view kProgram = R"(tosa graph @main(%again: bool[1], %x: f32[1]) {
  %one = const f32[1] [1]
  tosa.variable(%one) {name = "runs", var_shape = [1], type = f32}
  tosa.variable(%one) {name = "total", var_shape = [1], type = f32}
  %runs: f32[1] = tosa.variable_read() {name = "runs"}
  %more: f32[1] = tosa.add(%runs, %one)
  tosa.variable_write(%more) {name = "runs"}
  %total: f32[1] = tosa.cond_if(%again, %x) {then_graph = @restart, else_graph = @sum}
  %last: f32[1] = tosa.variable_read() {name = "total"}
  return %runs, %total, %last
}

tosa graph @restart(%x: f32[1]) {
  tosa.variable_write(%x) {name = "total"}
  return %x
}

tosa graph @sum(%x: f32[1]) {
  %old: f32[1] = tosa.variable_read() {name = "total"}
  %new: f32[1] = tosa.add(%old, %x)
  tosa.variable_write(%new) {name = "total"}
  return %new
}
)";

std::vector<float> run_once(Reference& reference, bool again, float x) {
  std::vector<HostTensor> in = {HostTensor::allocate(DType::kBool, {1}),
                                HostTensor::allocate(DType::kF32, {1})};
  *in[0].mutable_data<uint8_t>() = again ? 1 : 0;
  *in[1].mutable_data<float>() = x;
  std::vector<float> values;
  const auto out = reference.run(in);
  if (!out) {
    ADD_FAILURE() << render(out.error());
    return values;
  }
  for (const HostTensor& tensor : *out)
    values.push_back(*tensor.data<float>());
  return values;
}

using Floats = std::vector<float>;

void expect_state(const Graph& graph) {
  Reference reference(graph);
  EXPECT_EQ(run_once(reference, false, 4), (Floats{1, 5, 5}));  // initial values
  EXPECT_EQ(run_once(reference, false, 2), (Floats{2, 7, 7}));
  EXPECT_EQ(run_once(reference, true, 9), (Floats{3, 9, 9}));
  EXPECT_EQ(run_once(reference, false, 1), (Floats{4, 10, 10}));
  Reference other(graph);
  EXPECT_EQ(run_once(other, false, 0), (Floats{1, 1, 1})) << "each executor has a state of its own";
}

TEST(TosaVariables, StateLivesInTheExecutorAndInTheGraphsThatItRuns) {
  const auto module = parsed(kProgram);
  expect_state(*module->main());
  EXPECT_EQ(print(*module), kProgram);
}

TEST(TosaVariables, FilesOfAllVersionsKeepThem) {
  const auto module = parsed(kProgram);
  for (const TosaVersion& version :
       {TosaVersion{0, 80, 1}, TosaVersion{1, 0, 0}, TosaVersion{1, 1, 0}}) {
    const auto bytes = write_flatbuffer(*module->main(), version);
    ASSERT_TRUE(bytes) << render(bytes.error());
    const auto again = read(*bytes);
    ASSERT_TRUE(again) << render(again.error());
    expect_state(*(*again)->main());
    const auto twice = write_flatbuffer(*(*again)->main(), version);
    ASSERT_TRUE(twice);
    EXPECT_EQ(text_of(*bytes), text_of(*twice));
  }
}

TEST(TosaVariables, LoopsMayEndByWhatTheirRoundsWrite) {
  const auto module = parsed(R"(tosa graph @main(%again: bool[1], %n: f32[1]) {
  %0 = const f32[1] [0]
  tosa.variable(none) {name = "count", var_shape = [1], type = f32}
  tosa.variable_write(%0) {name = "count"}
  %last: f32[1] = tosa.while_loop(%n) {cond_graph = @below, body_graph = @step}
  %count: f32[1] = tosa.variable_read() {name = "count"}
  return %count
}

tosa graph @below(%n: f32[1]) {
  %count: f32[1] = tosa.variable_read() {name = "count"}
  %y: bool[1] = tosa.greater(%n, %count)
  return %y
}

tosa graph @step(%n: f32[1]) {
  %one = const f32[1] [1]
  %count: f32[1] = tosa.variable_read() {name = "count"}
  %next: f32[1] = tosa.add(%count, %one)
  tosa.variable_write(%next) {name = "count"}
  return %n
}
)");
  Reference reference(*module->main());
  EXPECT_EQ(run_once(reference, false, 3), Floats{3});
  EXPECT_EQ(run_once(reference, false, 5), Floats{5});
  EXPECT_EQ(run_once(reference, false, -1), Floats{0});
}

TEST(TosaVariables, ReadingBeforeThereIsAValueIsUnpredictable) {
  const auto module = parsed(R"(tosa graph @main() {
  tosa.variable(none) {name = "v", var_shape = [2], type = i8}
  %y: i8[2] = tosa.variable_read() {name = "v"}
  %0 = const i8[2] [3, 4]
  tosa.variable_write(%0) {name = "v"}
  return %y
}
)");
  Reference reference(*module->main());
  ASSERT_TRUE(reference.run({}));
  EXPECT_EQ(reference.unpredictable(), "tosa.variable_read: \"v\" is read before it has a value");
  const auto out = reference.run({});
  ASSERT_TRUE(out);
  EXPECT_EQ(reference.unpredictable(), "");
  EXPECT_EQ((*out)[0].data<int8_t>()[1], 4);
}

// Rules.

std::string rule_broken_by(std::string_view body) {
  auto module = parse_module(
      fmt::format("tosa graph @main(%x: i8[2], %c: bool[1]) {{\n{}\n  return %x\n}}\n", body),
      "test.tir");
  if (!module) return render(module.error());
  const Status status = verify(**module);
  return status ? "" : fmt::format("{}: {}", code_id(status.error().code), status.error().message);
}

constexpr std::string_view kV = "tosa.variable(none) {name = \"v\", var_shape = [2], type = i8}\n";

TEST(TosaVariables, EveryRuleIsChecked) {
  const auto with = [](std::string_view rest) {
    return rule_broken_by(std::string(kV) + std::string(rest));
  };
  EXPECT_EQ(with("%y: i8[2] = tosa.variable_read() {name = \"v\"}"), "");
  EXPECT_EQ(with("tosa.variable_write(%x) {name = \"v\"}"), "");
  EXPECT_EQ(with("tosa.variable_write(%x) {name = \"w\"}"),
            "V0015: tosa.variable_write: there is no variable \"w\"");
  EXPECT_EQ(with("%y: i8[2] = tosa.variable_read() {name = \"w\"}"),
            "V0015: tosa.variable_read: there is no variable \"w\"");
  EXPECT_EQ(with("%y: f32[2] = tosa.variable_read() {name = \"v\"}"),
            "V0015: tosa.variable_read: variable \"v\" is i8[2], and f32[2] is read");
  EXPECT_EQ(with("tosa.variable_write(%c) {name = \"v\"}"),
            "V0015: tosa.variable_write: variable \"v\" is i8[2], and bool[1] is written");
  EXPECT_EQ(with(kV), "V0015: tosa.variable: variable \"v\" is declared twice");
  EXPECT_EQ(rule_broken_by("%y: i8[2] = tosa.variable_read() {name = \"v\"}\n" + std::string(kV)),
            "V0015: tosa.variable: variable \"v\" must be declared before nodes that have effects");
  EXPECT_EQ(with("%y: i8[2] = tosa.variable_read(%x) {name = \"v\"}"),
            "V0003: tosa.variable_read: has 1 operands and 1 results, and needs 0 and 1");
  EXPECT_EQ(with("tosa.variable_read() {name = \"v\"}"),
            "V0003: tosa.variable_read: has 0 operands and 0 results, and needs 0 and 1");
  EXPECT_EQ(with("tosa.variable_write() {name = \"v\"}"),
            "V0003: tosa.variable_write: has 0 operands and 0 results, and needs 1 and 0");
  EXPECT_EQ(with("tosa.variable_write(none) {name = \"v\"}"),
            "V0003: tosa.variable_write: operand input1 is missing");
  EXPECT_EQ(with("tosa.variable_write(%x) {name = 1}"),
            "V0004: tosa.variable_write: attribute name is 1 and must be a string");
  EXPECT_EQ(with("tosa.variable_write(%x) {name = \"\"}"),
            "V0004: tosa.variable_write: name is empty");
}

TEST(TosaVariables, EveryRuleOfDeclarationsIsChecked) {
  const auto declared = [](std::string_view operand, std::string_view shape,
                           std::string_view type) {
    return rule_broken_by(fmt::format(
        "%0 = const i8[2] [1, 2]\ntosa.variable({}) {{name = \"v\", var_shape = [{}], type = {}}}",
        operand, shape, type));
  };
  EXPECT_EQ(declared("%0", "2", "i8"), "");
  EXPECT_EQ(declared("%0", "3", "i8"),
            "V0015: tosa.variable: variable \"v\" is i8[3], and its initial value i8[2]");
  EXPECT_EQ(declared("%0", "2", "f32"),
            "V0015: tosa.variable: variable \"v\" is f32[2], and its initial value i8[2]");
  EXPECT_EQ(declared("%x", "2", "i8"),
            "V0008: tosa.variable: operand initial_value must be a constant");
  EXPECT_EQ(declared("none", "2", "i32"), "V0006: tosa.variable: there is no variable of type i32");
  EXPECT_EQ(declared("none", "2, 0", "i8"),
            "V0007: tosa.variable: var_shape has size 0, and TOSA needs 1 or more");
  EXPECT_EQ(declared("none", "-3", "i8"),
            "V0007: tosa.variable: var_shape has size -3, and TOSA needs 1 or more");
  EXPECT_EQ(declared("none", "1, 1, 1, 1, 1, 1, 1", "i8"),
            "V0009: tosa.variable: var_shape has rank 7, and the level allows 6");
  EXPECT_EQ(declared("none", "2147483647, 3", "i8"),
            "V0009: tosa.variable: var_shape i8[2147483647,3] is larger than the level allows");
  EXPECT_EQ(declared("%0, %0", "2", "i8"),
            "V0003: tosa.variable: has 2 operands and 0 results, and needs 1 and 0");
}

TEST(TosaVariables, GraphsThatOthersRunDeclareNone) {
  std::string text(kProgram);
  const std::string_view declaration =
      "  tosa.variable(%one) {name = \"total\", var_shape = [1], type = f32}\n";
  text.erase(text.find(declaration), declaration.size());
  const std::string_view head = "@restart(%x: f32[1]) {\n";
  text.insert(text.find(head) + head.size(),
              "  tosa.variable(none) {name = \"total\", var_shape = [1], type = f32}\n");
  const auto module = parse_module(text, "test.tir");
  ASSERT_TRUE(module);
  const Status status = verify(**module);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().message,
            "tosa.variable: variable \"total\" is declared in graph @restart, which another graph "
            "runs");
}

// Files made by hand.

constexpr uint32_t kInt8 = 3;
constexpr uint32_t kInt32Type = 5;
constexpr uint32_t kIdentity = 68;
constexpr uint32_t kConst = 67;
constexpr uint32_t kVariable = 72;
constexpr uint32_t kWrite = 73;
constexpr uint32_t kRead = 74;

/// Reads a variable and writes x to it, by operators of these numbers.
RawFile accesses(uint32_t read, uint32_t write) {
  RawFile file;
  file.tensors = {{"x", {2}, kInt8}, {"v", {2}, kInt8, {7, 8}, true}, {"y", {2}, kInt8}};
  file.ops = {{read, {"v"}, {"y"}}, {write, {"x"}, {"v"}}};
  file.inputs = {"x"};
  file.outputs = {"y"};
  return file;
}

constexpr std::string_view kAccesses = R"(tosa graph @main(%x: i8[2]) {
  %0 = const i8[2] [7, 8]
  tosa.variable(%0) {name = "v", var_shape = [2], type = i8}
  %y: i8[2] = tosa.variable_read() {name = "v"}
  tosa.variable_write(%x) {name = "v"}
  return %y
}
)";

TEST(TosaVariables, CopiesAndOperatorsOfTheirOwnAreRead) {
  EXPECT_EQ(text_of(made(accesses(kIdentity, kIdentity))), kAccesses);
  RawFile file = accesses(kRead, kWrite);
  file.ops.insert(file.ops.begin(), {kVariable, {}, {"v"}});
  EXPECT_EQ(text_of(made(file)), kAccesses);
}

TEST(TosaVariables, AnyOperatorMayReadAndWriteATensorThatIsAVariable) {
  RawFile file;
  file.tensors = {{"x", {2}, kInt8}, {"v", {2}, kInt8, {}, true}};
  const uint32_t kBitwiseNot = spec(bitwise_not).number;
  file.ops = {{kBitwiseNot, {"x"}, {"v"}}, {kBitwiseNot, {"v"}, {"v"}}};
  file.inputs = {"x"};
  file.outputs = {"v"};
  EXPECT_EQ(text_of(made(file)), R"(tosa graph @main(%x: i8[2]) {
  tosa.variable(none) {name = "v", var_shape = [2], type = i8}
  %0: i8[2] = tosa.bitwise_not(%x)
  tosa.variable_write(%0) {name = "v"}
  %1: i8[2] = tosa.variable_read() {name = "v"}
  %2: i8[2] = tosa.bitwise_not(%1)
  tosa.variable_write(%2) {name = "v"}
  %v: i8[2] = tosa.variable_read() {name = "v"}
  return %v
}
)");
}

TEST(TosaVariables, DamagedFilesAreRefused) {
  const RawFile good = accesses(kIdentity, kIdentity);
  const auto after = [&](const std::function<void(RawFile&)>& change) {
    return message_after(good, change);
  };
  EXPECT_EQ(after([](RawFile& f) { f.inputs = {"x", "v"}; }), "E0307: input 'v' is a variable");
  EXPECT_EQ(after([](RawFile& f) {
              f.ops[0].number = kWrite;
              f.ops[0].inputs = {"x"};
            }),
            "E0307: operator 0 (VARIABLE_WRITE): neither its input nor its output is a variable");
  EXPECT_EQ(after([](RawFile& f) {
              f.ops[0] = {kVariable, {}, {"y"}};
            }),
            "E0307: operator 0 (VARIABLE): 'y' is no variable");
  EXPECT_EQ(after([](RawFile& f) {
              f.ops[0].outputs = {"y", "v"};
            }),
            "E0307: operator 0 (tosa.identity): has 1 inputs and 2 outputs, and needs one and one");
  EXPECT_EQ(after([](RawFile& f) {
              f.ops[0].number = kRead;
              f.ops[0].inputs = {};
            }),
            "E0307: operator 0 (VARIABLE_READ): has 0 inputs and 1 outputs, and needs one and one");
  EXPECT_EQ(after([](RawFile& f) { f.tensors[2].shape = {3}; }),
            "E0307: operator 0 (tosa.identity): copies i8[2] to 'y', which is i8[3]");
  EXPECT_EQ(after([](RawFile& f) { f.tensors[1].data = {1}; }),
            "E0307: 'v' has 1 bytes of data, and i8[2] needs 2");
  EXPECT_EQ(after([](RawFile& f) {
              f.ops[1] = {kConst, {}, {"v"}};
            }),
            "E0307: operator 1 (CONST): gives a variable");
  EXPECT_EQ(after([](RawFile& f) {
              for (RawTensor& t : f.tensors)
                t.type = kInt32Type;
              f.tensors[1].data.clear();
            }),
            "V0006: tosa.variable: there is no variable of type i32");
  const auto in_order = [&](const std::vector<RawOp>& ops) {
    return after([&](RawFile& f) {
      f.tensors.push_back({"z", {2}, kInt8});
      f.ops = ops;
    });
  };
  const RawOp copies{kIdentity, {"z"}, {"y"}};
  const RawOp writes{kIdentity, {"x"}, {"v"}};
  const RawOp reads{kIdentity, {"v"}, {"z"}};
  EXPECT_EQ(in_order({copies, reads, writes}), "no error");
  EXPECT_EQ(in_order({copies, writes, reads}),
            "E0307: operator 2 (tosa.identity): is needed before operator 1, and the order of the "
            "two matters");
}

TEST(TosaVariables, BytesChangedAnywhereAreRefusedOrRead) {
  const auto module = parsed(kProgram);
  Bytes bytes = *write_flatbuffer(*module->main(), TosaVersion());
  for (size_t at = 0; at < bytes.size(); ++at) {
    const std::byte before = bytes[at];
    bytes[at] ^= static_cast<std::byte>(at % 2 == 0 ? 0x01 : 0xff);
    auto again = read(bytes);
    EXPECT_TRUE(!again || verify(**again));
    bytes[at] = before;
  }
}

// CUSTOM.

TEST(TosaCustom, IsKeptAndRefusedByTheReference) {
  constexpr std::string_view kText = R"(tosa graph @main(%x: i8[2]) {
  %y: i32[3], %z: bool[] = tosa.custom(%x, %x) {operator_name = "sort", domain_name = "of.nobody", implementation_attrs = "\x00\xff"}
  tosa.custom() {operator_name = "wait", domain_name = "", implementation_attrs = ""}
  return %y
}
)";
  const auto module = parsed(kText);
  EXPECT_EQ(print(*module), kText);
  for (const TosaVersion& version :
       {TosaVersion{0, 80, 1}, TosaVersion{1, 0, 0}, TosaVersion{1, 1, 0}}) {
    const auto bytes = write_flatbuffer(*module->main(), version);
    ASSERT_TRUE(bytes) << render(bytes.error());
    const std::string again = text_of(*bytes);
    EXPECT_NE(again.find("= tosa.custom(%x, %x) {operator_name = \"sort\", domain_name = "
                         "\"of.nobody\", implementation_attrs = \"\\x00\\xff\"}"),
              std::string::npos)
        << again;
    EXPECT_NE(again.find("  tosa.custom() {operator_name = \"wait\""), std::string::npos) << again;
  }
  EXPECT_EQ(module->main()->erase_dead_nodes(), 0U);
  Reference reference(*module->main());
  const std::vector<HostTensor> in = {HostTensor::allocate(DType::kI8, {2})};
  const auto out = reference.run(in);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::kUnsupportedFeature);
  EXPECT_EQ(out.error().message,
            "tosa.custom: operation \"sort\" of domain \"of.nobody\" is not known and cannot be "
            "executed");
}

TEST(TosaCustom, EveryRuleIsChecked) {
  const auto custom = [](std::string_view results, std::string_view operands,
                         std::string_view name) {
    return rule_broken_by(
        fmt::format("{}tosa.custom({}) {{operator_name = {}, domain_name = \"d\", "
                    "implementation_attrs = \"\"}}",
                    results, operands, name));
  };
  EXPECT_EQ(custom("%y: f32[3] = ", "%x, %c", "\"n\""), "");
  EXPECT_EQ(custom("", "none", "\"n\""), "V0003: tosa.custom: operand 0 is missing");
  EXPECT_EQ(custom("", "", "\"\""), "V0004: tosa.custom: operator_name is empty");
  EXPECT_EQ(custom("", "", "3"),
            "V0004: tosa.custom: attribute operator_name is 3 and must be a string");
  EXPECT_EQ(custom("%y: unknown[3] = ", "", "\"n\""),
            "V0005: tosa.custom: result 0 is unknown[3] and must be a tensor");
  EXPECT_EQ(custom("%y: i8[0] = ", "", "\"n\""),
            "V0007: tosa.custom: result 0 has size 0 along an axis, and TOSA needs 1 or more");
  EXPECT_EQ(custom("%y: i8[1,1,1,1,1,1,1] = ", "", "\"n\""),
            "V0009: tosa.custom: result 0 has rank 7, and the level allows 6");
}

// Effects.

TEST(TosaEffects, NodesHaveThoseOfTheGraphsThatTheyRun) {
  const auto module = parsed(R"(tosa graph @main(%c: bool[1], %x: i8[2]) {
  tosa.variable(none) {name = "v", var_shape = [2], type = i8}
  %a: i8[2] = tosa.cond_if(%c, %x) {then_graph = @reads, else_graph = @pure}
  %b: i8[2] = tosa.cond_if(%c, %x) {then_graph = @pure, else_graph = @pure}
  %d: i8[2] = tosa.cond_if(%c, %x) {then_graph = @pure, else_graph = @deep}
  return %x
}
tosa graph @pure(%x: i8[2]) {
  return %x
}
tosa graph @reads(%x: i8[2]) {
  %y: i8[2] = tosa.variable_read() {name = "v"}
  return %y
}
tosa graph @writes(%x: i8[2]) {
  tosa.variable_write(%x) {name = "v"}
  return %x
}
tosa graph @deep(%x: i8[2]) {
  %c = const bool[1] [true]
  %y: i8[2] = tosa.cond_if(%c, %x) {then_graph = @writes, else_graph = @reads}
  return %y
}
)");
  Effects effects(*module);
  std::vector<Effect> found;
  for (const Node& node : module->main()->nodes())
    found.push_back(effects.of(node));
  EXPECT_EQ(found, (std::vector{Effect::kWrites, Effect::kReads, Effect::kNone, Effect::kWrites}));
  EXPECT_EQ(module->main()->erase_dead_nodes(), 2U);  // those that write stay
  EXPECT_EQ(module->main()->num_nodes(), 2U);
}

}  // namespace
}  // namespace tosaic::tosa
