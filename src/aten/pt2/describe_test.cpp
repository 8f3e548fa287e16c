// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "aten/pt2/test_archive.h"

namespace tosaic::aten {
namespace {

TestPt2 example() {
  TestPt2 p;
  const TestJson meta = test_meta(kTestF32, {2, 3});
  p.stored("parameter", "a", "net.a", meta, "w0")
      .stored("parameter", "b", "net.b", meta, "w0")
      .stored("tensor_constant", "c", "net.c", test_meta(kTestF32, {1}), "t0")
      .blob("weights/w0", test_floats({1, 2, 3, 4, 5, 6}))
      .blob("constants/t0", test_floats({1}))
      .input("x", kTestF32, {2, 3})
      .node("torch.ops.aten.add.Tensor", {{"self", test_tensor("x")}, {"other", test_tensor("a")}},
            {"s"})
      .node("torch.ops.quantized_decomposed.quantize_per_tensor.default", TestJson::object(), {"q"},
            kTestI8)
      .output("q");
  p.tensor_values["x"]["sizes"][0] = {
      {"as_expr", {{"expr_str", "Symbol('s77', positive=True, integer=True)"}}}};
  return p;
}

TEST(Pt2Describe, JsonTellsInterfaceOperatorsAndSizes) {
  const TestMemoryFile file;
  const auto text = describe_pt2(file.put(example().bytes()), true);
  ASSERT_TRUE(text) << render(text.error());
  const TestJson all = TestJson::parse(*text);
  EXPECT_EQ(all["kind"], "pt2");
  const TestJson& m = all["programs"][0];
  EXPECT_EQ(m["name"], "model");
  EXPECT_EQ(m["schema_version"], "8.20");
  EXPECT_EQ(m["torch_version"], "2.13.0");
  EXPECT_EQ(m["inputs"].dump(), R"([{"name":"x","dtype":"f32","shape":["s77",3]}])");
  EXPECT_EQ(m["outputs"].dump(), R"([{"name":"q","dtype":"i8","shape":[2,3]}])");
  EXPECT_EQ(m["symbols"].dump(), R"({"s77":[2,64]})");
  EXPECT_EQ(m["operators"]["aten.add.Tensor"], 1);
  EXPECT_EQ(m["quantised"], true);
  EXPECT_EQ(m["weights"], 2);
  EXPECT_EQ(m["weight_bytes"], 24);  // one storage, tied
  EXPECT_EQ(m["constant_bytes"], 4);
}

TEST(Pt2Describe, TextShowsExpressionsOfSizesAsPeopleWriteThem) {
  const std::string symbol = "Symbol('s60', positive=True, integer=True)";
  const std::pair<std::string, std::string> cases[] = {
      {"Mul(Integer(2), " + symbol + ")", "x: f32[2*s60,3]"},
      {"Add(" + symbol + ", Integer(-1))", "x: f32[s60 + -1,3]"},
      {"Mul(Integer(2), Add(" + symbol + ", Integer(1)))", "x: f32[2*(s60 + 1),3]"},
      {"FloorDiv(" + symbol + ", Integer(2))", "x: f32[FloorDiv(s60, 2),3]"},
      {"Mul(Integer(2), ", "x: f32[Mul(Integer(2), ,3]"}};
  for (const auto& [expression, shown] : cases) {
    TestPt2 p = example();
    p.tensor_values["x"]["sizes"][0] = {{"as_expr", {{"expr_str", expression}}}};
    const TestMemoryFile file;
    const auto text = describe_pt2(file.put(p.bytes()), false);
    ASSERT_TRUE(text) << render(text.error());
    EXPECT_NE(text->find(shown), std::string::npos) << *text;
  }
}

TEST(Pt2Describe, TextTellsTheSame) {
  const TestMemoryFile file;
  const auto text = describe_pt2(file.put(example().bytes()), false);
  ASSERT_TRUE(text) << render(text.error());
  EXPECT_EQ(text->substr(text->find('\n') + 1),
            R"(program model: schema 8.20, PyTorch 2.13.0, quantised, 2 nodes
  input x: f32[s77,3]
  output q: i8[2,3]
  symbol s77: 2 to 64
  2 weights, 24 bytes; 1 constants, 4 bytes
      1 aten.add.Tensor
      1 quantized_decomposed.quantize_per_tensor.default
)");
}

}  // namespace
}  // namespace tosaic::aten
