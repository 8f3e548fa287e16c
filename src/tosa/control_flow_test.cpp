// SPDX-License-Identifier: Apache-2.0
// COND_IF and WHILE_LOOP: rules, files, execution. That results are the reference model's is shown
// by TOSA's conformance tests (docs/conformance.md).
#include <gtest/gtest.h>

#include "ir/text.h"
#include "ir/verify.h"
#include "tosa/reference.h"
#include "tosa/test_files.h"

namespace tosaic::tosa {
namespace {

using namespace test;

/// Doubles x until it is 100 or more, then adds or subtracts 1.
constexpr std::string_view kProgram = R"(tosa graph @main(%up: bool[1], %x: i32[1]) {
  %loop: i32[1] = tosa.while_loop(%x) {cond_graph = @below, body_graph = @twice}
  %y: i32[1] = tosa.cond_if(%up, %loop) {then_graph = @more, else_graph = @less}
  return %y
}

tosa graph @below(%x: i32[1]) {
  %0 = const i32[1] [100]
  %y: bool[1] = tosa.greater(%0, %x)
  return %y
}

tosa graph @twice(%x: i32[1]) {
  %y: i32[1] = tosa.add(%x, %x)
  return %y
}

tosa graph @more(%x: i32[1]) {
  %0 = const i32[1] [1]
  %y: i32[1] = tosa.add(%x, %0)
  return %y
}

tosa graph @less(%x: i32[1]) {
  %0 = const i32[1] [1]
  %y: i32[1] = tosa.sub(%x, %0)
  return %y
}
)";

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kProgram);
  const size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string rule_broken_by(const std::string& text) {
  auto module = parse_module(text, "test.tir");
  if (!module) return render(module.error());
  const Status status = verify(**module);
  return status ? "" : fmt::format("{}: {}", code_id(status.error().code), status.error().message);
}

int32_t run(const Graph& graph, bool up, int32_t x) {
  std::vector<HostTensor> in = {HostTensor::allocate(DType::kBool, {1}),
                                HostTensor::allocate(DType::kI32, {1})};
  *in[0].mutable_data<uint8_t>() = up ? 1 : 0;
  *in[1].mutable_data<int32_t>() = x;
  Reference reference(graph);
  auto out = reference.run(in);
  EXPECT_TRUE(out);
  return out ? *(*out)[0].data<int32_t>() : 0;
}

TEST(TosaControlFlow, LoopsAndBranchesAreRun) {
  const auto module = parsed(kProgram);
  EXPECT_EQ(run(*module->main(), true, 7), 113);
  EXPECT_EQ(run(*module->main(), false, 7), 111);
  EXPECT_EQ(run(*module->main(), false, 500), 499);  // no round of the loop
}

TEST(TosaControlFlow, ReasonsInsideOfGraphsMakeTheWholeUnpredictable) {
  const auto module = parsed(kProgram);
  std::vector<HostTensor> in = {HostTensor::allocate(DType::kBool, {1}),
                                HostTensor::allocate(DType::kI32, {1})};
  *in[0].mutable_data<uint8_t>() = 1;
  *in[1].mutable_data<int32_t>() = 2147483647;
  Reference reference(*module->main());
  ASSERT_TRUE(reference.run(in));
  EXPECT_NE(reference.unpredictable().find("tosa.add"), std::string::npos);
}

TEST(TosaControlFlow, FilesKeepAllGraphs) {
  const auto module = parsed(kProgram);
  for (const TosaVersion& version : {TosaVersion{0, 80, 1}, TosaVersion{1, 0, 0}}) {
    auto bytes = write_flatbuffer(*module->main(), version);
    ASSERT_TRUE(bytes) << render(bytes.error());
    auto again = read(*bytes);
    ASSERT_TRUE(again) << render(again.error());
    EXPECT_EQ((*again)->graphs().size(), 5U);
    EXPECT_EQ(run(*(*again)->main(), true, 7), 113);
  }
}

TEST(TosaControlFlow, DamagedFilesAreRefusedOrRead) {
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

TEST(TosaControlFlow, EveryRuleIsChecked) {
  EXPECT_EQ(rule_broken_by(std::string(kProgram)), "");
  EXPECT_EQ(rule_broken_by(replaced("%up: bool[1]", "%up: bool[2]")),
            "V0010: tosa.cond_if: the condition is bool[2] and must be one bool");
  EXPECT_EQ(rule_broken_by(replaced("(%up, %loop)", "(%up)")),
            "V0010: tosa.cond_if: then_graph @more takes 1 inputs, and 0 are given");
  EXPECT_EQ(rule_broken_by(replaced("(%up, %loop)", "()")),
            "V0003: tosa.cond_if: has no condition");
  EXPECT_EQ(rule_broken_by(replaced("(%up, %loop)", "(%up, %up)")),
            "V0010: tosa.cond_if: input 0 of then_graph @more is i32[1], and bool[1] is given");
  EXPECT_EQ(rule_broken_by(replaced("else_graph = @less", "else_graph = @below")),
            "V0010: tosa.cond_if: output 0 of else_graph @below is bool[1], and must be i32[1]");
  EXPECT_EQ(rule_broken_by(replaced("cond_graph = @below", "cond_graph = @twice")),
            "V0010: tosa.while_loop: cond_graph @twice must give one bool");
  EXPECT_EQ(rule_broken_by(replaced("body_graph = @twice", "body_graph = @none")),
            "V0011: tosa.while_loop: attribute body_graph names graph @none, which does not exist");
  EXPECT_EQ(rule_broken_by(replaced("body_graph = @twice", "body_graph = @main")),
            "V0010: tosa.while_loop: body_graph @main takes 2 inputs, and 1 are given");
  EXPECT_EQ(rule_broken_by(replaced("{cond_graph = @below, body_graph = @twice}", "")),
            "V0004: tosa.while_loop: has 0 attributes and needs 2");
  EXPECT_EQ(rule_broken_by(replaced("tosa.add(%x, %x)",
                                    "tosa.while_loop(%x) {cond_graph = @below, body_graph = "
                                    "@twice}"))
                .substr(0, 5),
            "V0011");  // a cycle
}

std::string nested(int depth) {
  std::string text =
      "tosa graph @main(%c: bool[1]) {\n  %y: bool[1] = tosa.cond_if(%c, %c) "
      "{then_graph = @g1, else_graph = @g1}\n  return %y\n}\n";
  for (int i = 1; i < depth; ++i) {
    text += fmt::format(
        "tosa graph @g{}(%c: bool[1]) {{\n  %y: bool[1] = tosa.cond_if(%c, %c) "
        "{{then_graph = @g{}, else_graph = @g{}}}\n  return %y\n}}\n",
        i, i + 1, i + 1);
  }
  return text + fmt::format("tosa graph @g{}(%c: bool[1]) {{\n  return %c\n}}\n", depth);
}

TEST(TosaControlFlow, NestingIsLimited) {
  const auto module = parsed(nested(6));
  std::vector<HostTensor> in = {HostTensor::allocate(DType::kBool, {1})};
  *in[0].mutable_data<uint8_t>() = 1;
  Reference reference(*module->main());
  EXPECT_TRUE(reference.run(in));
  EXPECT_EQ(rule_broken_by(nested(7)),
            "V0009: graph @g7: is nested in 7 graphs, and 6 are allowed");
  EXPECT_EQ(rule_broken_by(nested(20000)).substr(0, 5), "V0009");
}

}  // namespace
}  // namespace tosaic::tosa
