// SPDX-License-Identifier: Apache-2.0
#include "quant/constraints.h"

#include <gtest/gtest.h>

#include "ir/text.h"

namespace tosaic {
namespace {

std::unique_ptr<Module> parse(const std::string& text) {
  auto module = parse_module(text, "test.tir");
  EXPECT_TRUE(module.ok()) << render(module.error());
  return module ? *std::move(module) : std::make_unique<Module>();
}

std::string first_violation(const std::string& text) {
  const auto module = parse(text);
  const auto violations = ConstraintSolver(*module->main()).check();
  return violations.empty() ? "" : violations[0].message;
}

TEST(Constraints, CatAndViewsShareParametersAndSumsDoNot) {
  const auto module = parse(
      "aten graph @main(%x: f32[4], %y: f32[4]) {\n"
      "  %s: f32[4] = aten.add.Tensor(%x, %y)\n"
      "  %c: f32[8] = aten.cat.default([%x, %s])\n"
      "  %f: f32[8] = aten.flatten.using_ints(%c)\n"
      "  return %f\n}\n");
  const Graph& graph = *module->main();
  const ConstraintSolver solver(graph);
  const Value& x = *graph.inputs()[0];
  const Value& y = *graph.inputs()[1];
  const Value& sum = graph.first()->result();
  EXPECT_EQ(solver.group(x), solver.group(sum));
  EXPECT_EQ(solver.group(x), solver.group(*graph.output(0)));
  EXPECT_NE(solver.group(x), solver.group(y));
  EXPECT_EQ(solver.num_groups(), 2u);
  EXPECT_EQ(solver.fixed(solver.group(x)), nullptr);
}

TEST(Constraints, SharedParametersMayNotDiffer) {
  EXPECT_EQ(first_violation("aten graph @main(%x: i8<0.5,0>[4], %y: i8<0.25,3>[4]) {\n"
                            "  %c: i8<0.5,0>[8] = aten.cat.default([%x, %y])\n"
                            "  return %c\n}\n"),
            "aten.cat.default: operand 1 has scale 0.25 and zero point 3, operand 0 has scale 0.5 "
            "and zero point 0");
  EXPECT_EQ(first_violation("aten graph @main(%x: i8<0.5,0>[4], %y: i8<0.5,0>[4]) {\n"
                            "  %c: i8<0.5,0>[8] = aten.cat.default([%x, %y])\n"
                            "  return %c\n}\n"),
            "");
}

std::string linear(const std::string& weight, const std::string& bias) {
  return "aten graph @main(%x: i8<0.5,0>[1,1]) {\n  %w = const " + weight +
         "[2,1] [1, 2]\n  %b = const " + bias +
         "[2] [3, 4]\n  %y: i8<1,0>[1,2] = aten.linear.default(%x, %w, %b)\n  return %y\n}\n";
}

TEST(Constraints, WeightsAreSymmetricAndBiasCountsInProducts) {
  EXPECT_EQ(first_violation(linear("i8<axis 0: 0.5,0; 0.25>", "i32<axis 0: 0.25,0; 0.125>")), "");
  EXPECT_EQ(first_violation(linear("i8<0.5,0>", "f32")), "");
  EXPECT_EQ(first_violation(linear("i8<0.5,3>", "f32")),
            "aten.linear.default: the weight has zero point 3");
  EXPECT_EQ(first_violation(linear("i8<axis 1: 0.5,0>", "f32")),
            "aten.linear.default: the weight has scales along axis 1, not 0");
  EXPECT_EQ(first_violation(linear("i8<0.5,0>", "i32<0.5,0>")),
            "aten.linear.default: the bias has scale 0.5 and zero point 0, input and weight give "
            "0.25 and 0");
}

}  // namespace
}  // namespace tosaic
