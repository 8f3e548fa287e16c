// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/functionalise.h"

#include <gtest/gtest.h>

#include "aten/pt2/test_archive.h"
#include "ir/text.h"

namespace tosaic::aten {
namespace {

/// A node that reads `from` (and `x` as its second operand).
TestPt2& binary(TestPt2& p, const std::string& target, const std::string& from,
                const std::string& to) {
  return p.node(target, {{"self", test_tensor(from)}, {"other", test_tensor("x")}}, {to});
}
TestPt2& unary(TestPt2& p, const std::string& target, const std::string& from,
               const std::string& to) {
  return p.node(target, {{"self", test_tensor(from)}}, {to});
}
const std::string kAdd = "torch.ops.aten.add.Tensor";
const std::string kAddInPlace = "torch.ops.aten.add_.Tensor";

std::string text_of(const TestPt2& p) {
  const auto module = read_test_pt2(p);
  if (!module) return test_error(module);
  return print(**module);
}

TEST(Pt2Functionalise, LaterUsesSeeTheResultOfAnInPlaceOperator) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a");
  binary(p, kAdd, "a", "before");
  binary(p, kAddInPlace, "a", "a2");
  binary(p, kAdd, "a", "after");
  p.output("before").output("after").output("a");
  EXPECT_EQ(text_of(p), R"(aten graph @main(%x: f32[2,3]) {
  %a: f32[2,3] = aten.add.Tensor(%x, %x)
  %before: f32[2,3] = aten.add.Tensor(%a, %x)
  %a2: f32[2,3] = aten.add.Tensor(%a, %x)
  %after: f32[2,3] = aten.add.Tensor(%a2, %x)
  return %before, %after, %a2
}
)");
}

TEST(Pt2Functionalise, OtherNamesOfTheTensorSeeItToo) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a");
  unary(p, "torch.ops.aten.alias.default", "a", "b");
  binary(p, kAddInPlace, "b", "c");
  p.output("a").output("b").output("c");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  const Graph& graph = *(*module)->main();
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(graph.output(i)->name(), "c");
}

TEST(Pt2Functionalise, ACopyKeepsItsContent) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a");
  unary(p, "torch.ops.aten.clone.default", "a", "b");
  binary(p, kAddInPlace, "b", "c");
  p.output("a").output("c");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->output(0)->name(), "a");
  EXPECT_EQ((*module)->main()->output(1)->name(), "c");
}

TEST(Pt2Functionalise, WritingToAViewWhoseBaseIsUsedLaterIsRefused) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a");
  unary(p, "torch.ops.aten.reshape.default", "a", "v");  // which may be a copy
  p.nodes[1]["inputs"].push_back({{"name", "shape"}, {"arg", {{"as_ints", {2, 3}}}}, {"kind", 1}});
  binary(p, kAddInPlace, "v", "w");
  TestPt2 unused_base = p;
  unused_base.output("w");
  EXPECT_EQ(text_of(unused_base).substr(0, 4), "aten");
  p.output("a");
  EXPECT_EQ(text_of(p),
            "E0304: aten.add_.Tensor: in-place on a view: it writes to \"v\", whose memory \"a\" "
            "shares, and that is used later");
}

TEST(Pt2Functionalise, WhatIsWrittenToAViewIsInItsBaseAndInOtherViews) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a");
  for (const char* name : {"v", "u"}) {
    unary(p, "torch.ops.aten.view.default", "a", name);
    p.nodes.back()["inputs"].push_back(
        {{"name", "size"}, {"arg", {{"as_ints", {2, 3}}}}, {"kind", 1}});
  }
  binary(p, kAddInPlace, "v", "w");
  p.output("u").output("a");
  EXPECT_EQ(text_of(p), R"(aten graph @main(%x: f32[2,3]) {
  %a: f32[2,3] = aten.add.Tensor(%x, %x)
  %v: f32[2,3] = aten.view.default(%a) {size = [2, 3]}
  %u: f32[2,3] = aten.view.default(%a) {size = [2, 3]}
  %w: f32[2,3] = aten.add.Tensor(%v, %x)
  %0: f32[2,3] = aten.view_copy.default(%w) {size = [2, 3]}
  %1: f32[2,3] = aten.view.default(%0) {size = [2, 3]}
  return %1, %0
}
)");
}

TEST(Pt2Functionalise, WritingToABaseWhoseViewIsUsedLaterIsRefused) {
  for (const bool later : {false, true}) {
    TestPt2 p;
    p.input("x", kTestF32, {2, 3});
    binary(p, kAdd, "x", "a");
    // No row serves it; it is a view all the same.
    unary(p, "torch.ops.aten.diagonal.default", "a", "v");
    if (!later) unary(p, "torch.ops.aten.relu.default", "v", "r");
    binary(p, kAddInPlace, "a", "b");
    if (later) unary(p, "torch.ops.aten.relu.default", "v", "r");
    p.output("r").output("a");
    EXPECT_EQ(test_error(read_test_pt2(p)).substr(0, 41),
              later ? "E0304: aten.add_.Tensor: in-place on a vi" : "");
  }
}

TEST(Pt2Functionalise, MutableStateIsRefusedByName) {
  TestPt2 p;
  p.stored("buffer", "b_count", "bn.count", test_meta(kTestF32, {2, 3}), "w0")
      .blob("weights/w0", test_floats({1, 2, 3, 4, 5, 6}))
      .input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a").output("a");
  TestPt2 in_place = p;
  binary(in_place, kAddInPlace, "b_count", "c");
  EXPECT_EQ(
      text_of(in_place),
      "E0304: aten.add_.Tensor: mutable buffer \"bn.count\": the program changes it in place");
  TestPt2 by_view = p;
  unary(by_view, "torch.ops.aten.diagonal.default", "b_count", "v");
  binary(by_view, kAddInPlace, "v", "c");
  EXPECT_EQ(
      text_of(by_view),
      "E0304: aten.add_.Tensor: mutable buffer \"bn.count\": the program changes it in place");
  p.output_specs.insert(
      p.output_specs.begin(),
      TestJson{{"buffer_mutation", {{"arg", {{"name", "a"}}}, {"buffer_name", "bn.count"}}}});
  EXPECT_EQ(text_of(p), "E0304: mutable buffer \"bn.count\": the program changes it");
}

TEST(Pt2Functionalise, AnUnknownInPlaceOperatorWritesToo) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAdd, "x", "a");
  unary(p, "torch.ops.mylib.scale_.default", "a", "b");
  p.output("a");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->output(0)->name(), "b");
  p.node("torch.ops.aten._foreach_add_.Scalar", {{"self", test_tensors({"a"})}}, {});
  EXPECT_EQ(text_of(p), "E0304: aten._foreach_add_.Scalar: it writes to tensors and has no result");
}

TEST(Pt2Functionalise, WritingToAnInputChangesTheProgramOnly) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  binary(p, kAddInPlace, "x", "a");
  p.output("x");
  p.output_specs.insert(
      p.output_specs.begin(),
      TestJson{{"user_input_mutation", {{"arg", {{"name", "a"}}}, {"user_input_name", "x"}}}});
  EXPECT_EQ(text_of(p), R"(aten graph @main(%x: f32[2,3]) {
  %a: f32[2,3] = aten.add.Tensor(%x, %x)
  return %a
}
)");
}

TEST(Pt2Functionalise, NamesOfInPlaceOperators) {
  using namespace pt2;
  EXPECT_TRUE(is_in_place("aten.add_.Tensor"));
  EXPECT_TRUE(is_in_place("aten.__iand__.Scalar"));
  EXPECT_FALSE(is_in_place("aten.__and__.Scalar"));
  EXPECT_FALSE(is_in_place("aten.add.Tensor"));
  EXPECT_FALSE(is_in_place("nonsense_"));
  EXPECT_EQ(functional_name("aten.add_.Tensor"), "aten.add.Tensor");
  EXPECT_EQ(functional_name("aten.__iand__.Scalar"), "aten.__and__.Scalar");
}

}  // namespace
}  // namespace tosaic::aten
