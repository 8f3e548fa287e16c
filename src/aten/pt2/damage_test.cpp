// SPDX-License-Identifier: Apache-2.0
// Damaged archives: an error, or a module that stands the verifier's look at every value of it.
#include <gtest/gtest.h>

#include <random>

#include "aten/pt2/test_archive.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tosaic::aten {
namespace {

TestPt2 example() {
  TestPt2 p;
  p.stored("parameter", "w", "net.w", test_meta(kTestF32, {4, 3, 2, 2}), "weight_0")
      .stored("buffer", "v", "net.v", test_meta(kTestF32, {2, 3}, {1, 4}, 1), "weight_0")
      .blob("weights/weight_0", test_floats(std::vector<float>(48, 0.5f)))
      .input("x", kTestF32, {1, 3, 5, 5})
      .node("torch.ops.aten.conv2d.default",
            {{"input", test_tensor("x")},
             {"weight", test_tensor("w")},
             {"stride", {{"as_ints", {2, 2}}}}},
            {"c"}, kTestF32, {1, 4, 2, 2})
      .node("torch.ops.aten.relu_.default", {{"self", test_tensor("c")}}, {"r"}, kTestF32,
            {1, 4, 2, 2})
      .node("torch.ops.aten.cat.default",
            {{"tensors", test_tensors({"r", "c"})}, {"dim", {{"as_int", 1}}}}, {"k"}, kTestF32,
            {1, 8, 2, 2})
      .node("torch.ops.aten.add.Tensor", {{"self", test_tensor("v")}, {"other", {{"as_int", 1}}}},
            {"s"})
      .output("k")
      .output("s");
  p.nodes[0]["metadata"] = {
      {"stack_trace", "File \"model.py\", line 41, in forward\n    x = self.conv(x)\n"},
      {"nn_module_stack", "L__self__,,nets.Net;L__self___stem,L['self'].stem,torch.nn.Conv2d"}};
  return p;
}

/// Reads, and looks at all of what came out. Returns whether it was a module.
bool survives(const std::string& bytes) {
  const TestMemoryFile file;
  const std::string path = file.put(bytes);
  const auto description = describe_pt2(path, false);
  const auto module = read_pt2(path);
  if (!module) {
    EXPECT_FALSE(render(module.error()).empty());
    return false;
  }
  const Status status = verify(**module);
  if (status) {
    EXPECT_FALSE(print(**module).empty());
  }
  return true;
}

TEST(Pt2Damage, TheExampleIsValid) {
  const auto module = read_test_pt2(example());
  ASSERT_TRUE(module) << render(module.error());
  const Status status = verify(**module);
  EXPECT_TRUE(status.ok()) << render(status.error());
}

TEST(Pt2Damage, TruncatedArchivesAreErrors) {
  const std::string bytes = example().bytes();
  for (size_t i = 0; i < 60; ++i) {
    EXPECT_FALSE(survives(bytes.substr(0, bytes.size() * i / 60))) << i;
  }
}

TEST(Pt2Damage, FlippedBitsDoNoHarm) {
  const std::string bytes = example().bytes();
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    std::string damaged = bytes;
    const size_t bit = random() % (8 * bytes.size());
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    survives(damaged);
  }
}

// The same in the JSON texts alone, with checksums that fit the damage: what comes behind them.
TEST(Pt2Damage, DamagedTextsDoNoHarm) {
  const TestMembers members = example().members();
  std::mt19937 random(2);
  int modules = 0;
  for (int i = 0; i < 3000; ++i) {
    TestMembers damaged = members;
    std::string& text = damaged[i % 3 == 0 ? 1 : 0].second;
    const size_t at = random() % text.size();
    switch (random() % 4) {
      case 0:
        text[at] = static_cast<char>(text[at] ^ (1 << (random() % 7)));
        break;
      case 1:
        text[at] = "0123456789-\"{}[],:aex"[random() % 21];
        break;
      case 2:
        text.erase(at, 1 + random() % 3);
        break;
      default: {  // a number becomes another
        const size_t digit = text.find_first_of("0123456789", at);
        if (digit != std::string::npos) {
          const char* numbers[] = {
              "-1",    "0",  "9223372036854775807", "-9223372036854775808", "1e9", "4294967296",
              "65536", "255"};
          text.replace(digit, 1, numbers[random() % 8]);
        }
      }
    }
    modules += survives(test_zip(damaged));
  }
  EXPECT_GT(modules, 100);  // the damage is not so great that nothing gets past the parser
}

}  // namespace
}  // namespace tosaic::aten
