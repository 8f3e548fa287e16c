// SPDX-License-Identifier: Apache-2.0
// No pass changes what programs with state compute: random graphs that read and write variables,
// also in graphs that conditions run, are executed several times in a row before and after.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

using tosa::HostTensor;

constexpr int kNumVariables = 2;
constexpr std::string_view kNames[kNumVariables] = {"u", "v"};

/// Graphs that conditions name: one reads, one writes, one does neither.
constexpr std::string_view kNamedGraphs = R"(
tosa graph @same(%x: f32[2,3]) {
  %y: f32[2,3] = tosa.identity(%x)
  return %y
}

tosa graph @peek(%x: f32[2,3]) {
  %s: f32[2,3] = tosa.variable_read() {name = "u"}
  %y: f32[2,3] = tosa.sub(%s, %x)
  return %y
}

tosa graph @bump(%x: f32[2,3]) {
  %s: f32[2,3] = tosa.variable_read() {name = "v"}
  %unused: f32[2,3] = tosa.variable_read() {name = "u"}
  %y: f32[2,3] = tosa.add(%s, %x)
  tosa.variable_write(%y) {name = "v"}
  %again: f32[2,3] = tosa.variable_read() {name = "v"}
  return %again
}
)";

/// Text of a program whose values are all f32[2,3]; many are equal or unused.
class RandomProgram {
 public:
  explicit RandomProgram(uint32_t seed) : random_(seed) {}

  std::string text() {
    std::string body;
    for (int i = 0; i < 24; ++i)
      body += "  " + node() + "\n";
    std::string text = "tosa graph @main(%c: bool[1], %n0: f32[2,3]) {\n";
    text += "  %shape = const shape[2] [3, 2]\n  %back = const shape[2] [2, 3]\n";
    text += "  %k = const f32[2,3] [1, 2, 3, 4, 5, 6]\n";
    for (const std::string_view name : kNames) {
      text += fmt::format("  tosa.variable({}) {{name = \"{}\", var_shape = [2, 3], type = f32}}\n",
                          name == "u" ? "%k" : "none", name);
    }
    text += fmt::format("  tosa.variable_write(%k) {{name = \"v\"}}\n{}", body);
    return text + fmt::format("  return {}, {}\n}}\n{}", any(), any(), kNamedGraphs);
  }

 private:
  uint32_t pick(uint32_t n) { return static_cast<uint32_t>(random_() % n); }
  std::string any() { return pick(6) == 0 ? "%k" : fmt::format("%n{}", pick(num_values_)); }
  std::string_view variable() { return kNames[pick(kNumVariables)]; }
  std::string result() { return fmt::format("%n{}: f32[2,3] = tosa.", num_values_++); }

  std::string node() {
    switch (pick(9)) {
      case 0:
      case 1: {
        const std::string a = any();
        const std::string b = any();
        return fmt::format("{}{}({}, {})", result(), pick(2) == 0 ? "add" : "sub", a, b);
      }
      case 2: {
        const std::string a = any();
        return fmt::format("{}{}({})", result(), pick(2) == 0 ? "abs" : "identity", a);
      }
      case 3: {
        const std::string a = any();
        const int t = num_turns_++;
        const bool turns = pick(2) == 0;
        const std::string_view there = turns ? "{perms = [1, 0]}" : "";
        return fmt::format("%t{0}: f32[3,2] = tosa.{1}({2}{3}) {4}\n  {5}{1}(%t{0}{6}) {4}", t,
                           turns ? "transpose" : "reshape", a, turns ? "" : ", %shape", there,
                           result(), turns ? "" : ", %back");
      }
      case 4:
      case 5:
        return fmt::format("{}variable_read() {{name = \"{}\"}}", result(), variable());
      case 6:
      case 7:
        return fmt::format("tosa.variable_write({}) {{name = \"{}\"}}", any(), variable());
      default: {
        constexpr std::string_view kGraphs[] = {"same", "peek", "bump"};
        const std::string a = any();
        return fmt::format("{}cond_if(%c, {}) {{then_graph = @{}, else_graph = @{}}}", result(), a,
                           kGraphs[pick(3)], kGraphs[pick(3)]);
      }
    }
  }

  std::mt19937 random_;
  uint32_t num_values_ = 1;
  int num_turns_ = 0;
};

/// The bytes of all outputs of some runs, one after another in the same executor.
std::vector<std::byte> outputs_of(const Module& module, uint32_t seed) {
  std::mt19937 random(seed);
  tosa::Reference reference(*module.main());
  std::vector<std::byte> bytes;
  for (int i = 0; i < 4; ++i) {
    std::vector<HostTensor> in = {HostTensor::allocate(DType::kBool, {1}),
                                  HostTensor::allocate(DType::kF32, {2, 3})};
    *in[0].mutable_data<uint8_t>() = static_cast<uint8_t>(random() % 2);
    for (int k = 0; k < 6; ++k)
      in[1].mutable_data<float>()[k] = static_cast<float>(random() % 16);
    const auto out = reference.run(in);
    if (!out) {
      ADD_FAILURE() << render(out.error());
      return {};
    }
    for (const HostTensor& tensor : *out)
      bytes.insert(bytes.end(), tensor.bytes.begin(), tensor.bytes.end());
  }
  return bytes;
}

size_t num_nodes(const Module& module) {
  size_t count = 0;
  for (const auto& graph : module.graphs())
    count += graph->num_nodes();
  return count;
}

class PassesOnState : public testing::TestWithParam<const Pass*> {};

TEST_P(PassesOnState, KeepWhatRunsCompute) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const std::string text = RandomProgram(seed).text();
    const auto before = parse_module(text, "random.tir");
    ASSERT_TRUE(before) << render(before.error()) << text;
    const Status right = verify(**before);
    ASSERT_TRUE(right) << render(right.error()) << text;
    const auto after = parse_module(text, "random.tir");
    PassContext context;
    for (const auto& graph : (*after)->graphs()) {
      const Status status = GetParam()->run(*graph, context);
      ASSERT_TRUE(status) << render(status.error());
    }
    const Status kept = verify(**after);
    ASSERT_TRUE(kept) << render(kept.error()) << text << print(**after);
    ASSERT_EQ(outputs_of(**before, seed), outputs_of(**after, seed)) << text << print(**after);
  }
}

INSTANTIATE_TEST_SUITE_P(All, PassesOnState, testing::ValuesIn(kAllPasses),
                         [](const auto& one) { return std::string(one.param->name); });

/// The programs of the test above are such that passes have something to do.
TEST(Effects, PureNodesBetweenReadsAndWritesAreStillSimplified) {
  size_t before = 0;
  size_t after = 0;
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const auto module = parse_module(RandomProgram(seed).text(), "random.tir");
    ASSERT_TRUE(module);
    before += num_nodes(**module);
    PassContext context;
    ASSERT_TRUE(run_canonicalise(*(*module)->main(), context));
    after += num_nodes(**module);
  }
  EXPECT_LT(after, before * 9 / 10);
}

}  // namespace
}  // namespace tosaic
