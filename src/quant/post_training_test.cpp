// SPDX-License-Identifier: Apache-2.0
// Whole quantisation of small text graphs. Networks are in test/quant/.
#include "quant/post_training.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ir/verify.h"
#include "support/npz.h"
#include "support/test_folder.h"
#include "target/targets.h"

namespace tosaic {
namespace {

class PostTraining : public ::testing::Test {
 protected:
  /// Quantises a text graph for `target` by samples of its inputs, `values` over and over.
  void quantise(const std::string& text, const std::vector<float>& values,
                std::string_view target = "tosa-int", int64_t samples = 2) {
    auto parsed = parse_module(text, "test.tir");
    ASSERT_TRUE(parsed.ok()) << render(parsed.error());
    module_ = *std::move(parsed);
    ASSERT_TRUE(verify(*module_).ok());
    std::vector<NpyArray> arrays;
    for (const Value* input : graph().inputs()) {
      NpyArray array{std::string(input->name()), "f4", {samples}, {}};
      array.shape.insert(array.shape.end(), input->shape().begin(), input->shape().end());
      for (int64_t i = 0; i < samples * input->shape().num_elements(); ++i) {
        const float v = values[static_cast<size_t>(i) % values.size()];
        const auto bytes = std::as_bytes(std::span(&v, 1));
        array.data.insert(array.data.end(), bytes.begin(), bytes.end());
      }
      arrays.push_back(std::move(array));
    }
    const std::string path = folder_.file("samples.npz");
    ASSERT_TRUE(write_npz(path, arrays).ok());
    const auto found = find_target(target);
    ASSERT_TRUE(found.ok());
    CalibrationOptions options;
    options.path = path;
    result_ = quantise_program(graph(), options, *found, sink_);
    if (result_->ok()) {
      const Status verified = verify(*module_);
      EXPECT_TRUE(verified.ok()) << render(verified.error());
    }
  }

  Graph& graph() { return *module_->main(); }
  const Node& node(std::string_view name, int skip = 0) {
    for (const Node& n : graph().nodes()) {
      if (n.full_name() == name && skip-- == 0) return n;
    }
    ADD_FAILURE() << name << " is not in\n" << print(*module_);
    return *graph().first();
  }
  int count(std::string_view name) {
    int found = 0;
    for (const Node& n : graph().nodes())
      found += n.full_name() == name ? 1 : 0;
    return found;
  }

  TestFolder folder_;
  std::unique_ptr<Module> module_;
  DiagnosticSink sink_;
  std::optional<Expected<QuantisationResult>> result_;
};

constexpr std::string_view kQuantize = "quantized_decomposed.quantize_per_tensor.default";
constexpr std::string_view kDequantize = "quantized_decomposed.dequantize_per_tensor.default";

TEST_F(PostTraining, ProducersTakeTheParametersOfTheirActivation) {
  quantise(R"(aten graph @main(%x: f32[1,4]) {
    %a: f32[1,4] = aten.add.Tensor(%x, %x)
    %r: f32[1,4] = aten.relu.default(%a)
    return %r
  })",
           {-4, -1, 1, 2});
  ASSERT_TRUE(result_->ok());
  const Quant* of_sum = node("aten.add.Tensor").result().quant();
  ASSERT_NE(of_sum, nullptr);
  EXPECT_EQ(of_sum, node("aten.relu.default").result().quant());
  EXPECT_FLOAT_EQ(static_cast<float>(of_sum->scale()), 4.0F / 255);
  EXPECT_EQ(of_sum->zero_point(), -128);
}

TEST_F(PostTraining, AnActivationBesideAnotherUserHasItsOwnParameters) {
  quantise(R"(aten graph @main(%x: f32[1,4]) {
    %a: f32[1,4] = aten.add.Tensor(%x, %x)
    %r: f32[1,4] = aten.relu.default(%a)
    return %r, %a
  })",
           {-4, -1, 1, 2});
  ASSERT_TRUE(result_->ok());
  EXPECT_FLOAT_EQ(static_cast<float>(node("aten.add.Tensor").result().quant()->scale()),
                  12.0F / 255);
  EXPECT_FLOAT_EQ(static_cast<float>(node("aten.relu.default").result().quant()->scale()),
                  4.0F / 255);
}

TEST_F(PostTraining, CatSharesTheUnionOfItsRanges) {
  quantise(R"(aten graph @main(%x: f32[1,2], %y: f32[1,2]) {
    %a: f32[1,2] = aten.mul.Scalar(%y) {other = 10.0}
    %c: f32[1,4] = aten.cat.default([%x, %a]) {dim = 1}
    return %c
  })",
           {-1, 2});
  ASSERT_TRUE(result_->ok());
  const Node& cat = node("aten.cat.default");
  EXPECT_EQ(cat.operand(0)->quant(), cat.result().quant());
  EXPECT_EQ(cat.operand(1)->quant(), cat.result().quant());
  EXPECT_FLOAT_EQ(static_cast<float>(cat.result().quant()->scale()), 30.0F / 255);
  EXPECT_EQ(count(kQuantize), 2);
  EXPECT_EQ(count(kDequantize), 1);
}

TEST_F(PostTraining, MasksLieBelowEverySumAndStayFinite) {
  quantise(R"(aten graph @main(%x: f32[1,2]) {
    %m = const f32[1,2] [0, -inf]
    %a: f32[1,2] = aten.add.Tensor(%x, %m)
    return %a
  })",
           {-20, 5, 20, -5});
  ASSERT_TRUE(result_->ok());
  const Node& add = node("aten.add.Tensor");
  const Value& mask = *add.operand(1);
  ASSERT_TRUE(mask.is_constant() && mask.quant() != nullptr);
  const std::vector<int64_t> codes = int_values(*mask.constant());
  const Quant& q = *mask.quant();
  EXPECT_EQ(codes[0], q.zero_point());
  EXPECT_EQ(codes[1], q.qmin);
  // Added to the greatest score it is still far below the least one, and the sum can hold that.
  const double masked = q.scale() * static_cast<double>(codes[1] - q.zero_point());
  EXPECT_LT(20 + masked, -20 - 15);
  const Quant& sum = *add.result().quant();
  EXPECT_LT(sum.scale() * static_cast<double>(sum.qmin - sum.zero_point()), -20 - 15);
  EXPECT_LT(sum.scale(), 1);
}

TEST_F(PostTraining, WhatMovesDataBetweenFloatNodesStaysFloat) {
  quantise(R"(aten graph @main(%x: f32[1,4,8,8]) {
    %w = const f32[4,4,4,4] splat(0.01)
    %v: f32[1,4,8,8] = aten.view.default(%x) {size = [1, 4, 8, 8]}
    %c: f32[1,4,2,2] = aten.conv2d.default(%v, %w, none) {stride = [4, 4], padding = [1, 1]}
    %p: f32[1,4,2,2] = aten.transpose.int(%c) {dim0 = 2, dim1 = 3}
    return %p
  })",
           {-1, 2}, "ethos-u55-128");
  ASSERT_TRUE(result_->ok()) << render(result_->error());
  EXPECT_EQ(count(kQuantize) + count(kDequantize), 0);
  const FloatNodes& left = (*result_)->float_nodes;
  EXPECT_EQ(left.at(&node("aten.conv2d.default")).code, Code::kRejectTargetLimit);
  EXPECT_EQ(left.at(&node("aten.transpose.int")).code, Code::kRejectNothingToDo);
}

TEST_F(PostTraining, AConstantMayBeWeightHereAndSummandThere) {
  quantise(R"(aten graph @main(%x: f32[4,4]) {
    %w = const f32[4,4] [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]
    %l: f32[4,4] = aten.linear.default(%x, %w, none)
    %a: f32[4,4] = aten.add.Tensor(%l, %w)
    return %a
  })",
           {-1, 2, 0.5F});
  ASSERT_TRUE(result_->ok());
  EXPECT_EQ(node("aten.linear.default").operand(1)->quant()->axis, 0);
  EXPECT_TRUE(node("aten.add.Tensor").operand(1)->quant()->per_tensor());
}

TEST_F(PostTraining, AWeightThatIsComputedFromConstantsIsAWeight) {
  quantise(R"(aten graph @main(%x: f32[1,2]) {
    %w = const f32[2,3] [1,2,3,4,5,6]
    %t: f32[3,2] = aten.transpose.int(%w) {dim0 = 0, dim1 = 1}
    %l: f32[1,3] = aten.linear.default(%x, %t, none)
    return %l
  })",
           {-1, 2, 0.5F});
  ASSERT_TRUE(result_->ok());
  const Value& weight = *node("aten.linear.default").operand(1);
  ASSERT_TRUE(weight.is_constant());
  EXPECT_EQ(int_values(*weight.constant()), (std::vector<int64_t>{32, 127, 51, 127, 64, 127}));
}

TEST_F(PostTraining, ABiasThatWouldOverflowMakesTheWeightScaleGreater) {
  quantise(R"(aten graph @main(%x: f32[1,2]) {
    %w = const f32[2,2] [1e-6, 0, 1, 1]
    %b = const f32[2] [1000, 1]
    %l: f32[1,2] = aten.linear.default(%x, %w, %b)
    return %l
  })",
           {-1, 2});
  ASSERT_TRUE(result_->ok());
  const Node& linear = node("aten.linear.default");
  const double step = linear.operand(0)->quant()->scale() * linear.operand(1)->quant()->scales[0];
  EXPECT_LE(1000 / step, 0x1p31);
  EXPECT_NEAR(linear.operand(1)->quant()->scales[1], 1.0 / 127, 1e-9);
}

TEST_F(PostTraining, WeightsThatAreNotFiniteAreAnError) {
  quantise(R"(aten graph @main(%x: f32[1,2]) {
    %w = const f32[1,2] [1, inf]
    %l: f32[1,1] = aten.linear.default(%x, %w, none) loc("net.py":41)
    return %l
  })",
           {-1, 2});
  ASSERT_FALSE(result_->ok());
  EXPECT_EQ(result_->error().code, Code::kQuantParams);
  EXPECT_EQ(result_->error().where.line, 41u);
}

TEST_F(PostTraining, ConstantRangesAreNamed) {
  quantise(R"(aten graph @main(%x: f32[1,2]) {
    %sum: f32[1,2] = aten.add.Tensor(%x, %x)
    return %sum
  })",
           {0});
  ASSERT_TRUE(result_->ok());
  ASSERT_EQ(sink_.all().size(), 2u);
  EXPECT_EQ(sink_.all()[0].code, Code::kWarnSamples);
  EXPECT_EQ(sink_.all()[1].code, Code::kWarnConstantValues);
  EXPECT_NE(sink_.all()[1].message.find("input \"x\", sum (aten.add.Tensor)"), std::string::npos)
      << sink_.all()[1].message;
  EXPECT_FLOAT_EQ(static_cast<float>(node("aten.add.Tensor").result().quant()->scale()),
                  2.0F / 255);
}

}  // namespace
}  // namespace tosaic
