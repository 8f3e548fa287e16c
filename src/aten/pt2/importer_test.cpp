// SPDX-License-Identifier: Apache-2.0
// Arguments and operators of single nodes.
#include <gtest/gtest.h>

#include <cmath>

#include "aten/call.h"
#include "aten/pt2/test_archive.h"
#include "ir/text.h"
#include "ir/verify.h"

TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic::aten {
namespace {

/// A program of one node, y = target(inputs) with x: f32[2,3].
TestPt2 one_node(const std::string& target, const TestJson& inputs) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3}).node(target, inputs, {"y"}).output("y");
  return p;
}

/// The node of `one_node` as text, or the error.
std::string node_text(const TestPt2& p) {
  const auto module = read_test_pt2(p);
  if (!module) return test_error(module);
  const Status status = verify(**module);
  if (!status) return status.error().message;
  return print(*(*module)->main()->last());
}
std::string node_text(const std::string& target, const TestJson& inputs) {
  return node_text(one_node(target, inputs));
}

TestJson ints(const std::vector<int64_t>& values) {
  return {{"as_ints", values}};
}

TEST(Pt2Importer, OnlyPassedArgumentsBecomeAttributes) {
  TestPt2 p;
  p.input("x", kTestF32, {1, 3, 8, 8})
      .input("w", kTestF32, {4, 3, 3, 3})
      .node("torch.ops.aten.conv2d.default",
            {{"input", test_tensor("x")},
             {"weight", test_tensor("w")},
             {"bias", {{"as_none", true}}},
             {"stride", ints({2, 2})}},
            {"y"}, kTestF32, {1, 4, 3, 3})
      .output("y");
  EXPECT_EQ(node_text(p), "%y: f32[1,4,3,3] = aten.conv2d.default(%x, %w, none) {stride = [2, 2]}");
  p.nodes[0]["inputs"].erase(2);
  EXPECT_EQ(node_text(p), "%y: f32[1,4,3,3] = aten.conv2d.default(%x, %w, none) {stride = [2, 2]}");
}

TEST(Pt2Importer, ArgumentsWithoutNamesGoByTheirPlace) {
  TestPt2 p =
      one_node("executorch.exir.dialects.edge._ops.aten.add.Tensor", {{"", test_tensor("x")}});
  p.nodes[0]["inputs"].push_back(p.nodes[0]["inputs"][0]);
  EXPECT_EQ(node_text(p), "%y: f32[2,3] = aten.add.Tensor(%x, %x)");
}

TEST(Pt2Importer, NumbersKeepTheKindOfPython) {
  const auto add = [](const TestJson& alpha) {
    return node_text("torch.ops.aten.add.Tensor",
                     {{"self", test_tensor("x")}, {"other", test_tensor("x")}, {"alpha", alpha}});
  };
  const std::string head = "%y: f32[2,3] = aten.add.Tensor(%x, %x) {alpha = ";
  EXPECT_EQ(add({{"as_int", 2}}), head + "2}");
  EXPECT_EQ(add({{"as_float", 2.0}}), head + "2.0}");
  EXPECT_EQ(add({{"as_float", "Infinity"}}), head + "inf}");
  EXPECT_EQ(add({{"as_float", "-Infinity"}}), head + "-inf}");
  EXPECT_EQ(add({{"as_float", "NaN"}}), head + "nan}");
  EXPECT_EQ(add({{"as_bool", true}}), head + "true}");
  EXPECT_EQ(add({{"as_sym_int", {{"as_int", 7}}}}), head + "7}");
  EXPECT_EQ(add({{"as_sym_float", {{"as_float", 0.5}}}}), head + "0.5}");
  EXPECT_EQ(add({{"as_string", "two"}}),
            "E0302: aten.add.Tensor: argument \"alpha\" cannot be as_string");
  EXPECT_EQ(add({{"as_complex", {{"real", 1.0}, {"imag", 0.0}}}}),
            "E0304: aten.add.Tensor: argument \"alpha\" is a complex number");
  EXPECT_EQ(add({{"as_int", 18446744073709551615u}}),
            "E0302: aten.add.Tensor: 18446744073709551615 is not an integer");
}

TEST(Pt2Importer, ANumberInPlaceOfATensorTakesTheScalarOverload) {
  EXPECT_EQ(node_text("torch.ops.aten.add.Tensor",
                      {{"self", test_tensor("x")}, {"other", {{"as_int", 1}}}}),
            "%y: f32[2,3] = aten.add.Scalar(%x) {other = 1}");
}

TEST(Pt2Importer, ANumberBeforeATensorBecomesAConstant) {
  const auto module = read_test_pt2(one_node(
      "torch.ops.aten.sub.Tensor", {{"self", {{"as_int", 1}}}, {"other", test_tensor("x")}}));
  ASSERT_TRUE(module) << render(module.error());
  const Node& difference = *(*module)->main()->first();
  EXPECT_EQ(difference.full_name(), "aten.sub.Tensor");
  EXPECT_EQ(float_values(*difference.operand(0)->constant()), std::vector<double>{1});
  EXPECT_EQ(difference.operand(1), (*module)->main()->inputs()[0]);
}

/// A program whose only node holds a graph: relu of "inner", which is called `result`.
TestPt2 with_graph(const std::string& result) {
  TestPt2 inside;
  inside.node("torch.ops.aten.relu.default", {{"self", test_tensor("inner")}}, {"positive"});
  inside.tensor_values["inner"] = test_meta(kTestF32, {2, 3});
  const TestJson graph{{"inputs", TestJson::array({test_tensor("inner")})},
                       {"outputs", TestJson::array({test_tensor(result)})},
                       {"nodes", inside.nodes},
                       {"tensor_values", inside.tensor_values}};
  TestPt2 program = TestPt2().input("x", kTestF32, {2, 3});
  program.node("torch.ops.higher_order.wrap_with_set_grad_enabled",
               {{"0", {{"as_bool", false}}},
                {"1", {{"as_graph", {{"name", "submod"}, {"graph", graph}}}}},
                {"2", test_tensor("x")}},
               {"y"});
  return program.output("y");
}

TEST(Pt2Importer, AGraphWithoutGradientsIsReadInItsPlace) {
  const auto module = read_test_pt2(with_graph("positive"));
  ASSERT_TRUE(module) << render(module.error());
  const Graph& graph = *(*module)->main();
  ASSERT_EQ(graph.outputs().size(), 1U);
  const Value& y = *graph.outputs()[0];
  EXPECT_EQ(y.def()->full_name(), "aten.relu.default");
  EXPECT_EQ(y.def()->operand(0), graph.inputs()[0]);
}

TEST(Pt2Importer, AResultThatNoNodeOfTheGraphMakesIsAnError) {
  EXPECT_NE(test_error(read_test_pt2(with_graph("x"))).find("which nothing defines"),
            std::string::npos);
}

TEST(Pt2Importer, ANumbersPowerIsNoFunctionalFormOfPowInPlace) {
  const auto module = read_test_pt2(one_node(
      "torch.ops.aten.pow_.Scalar", {{"self", test_tensor("x")}, {"exponent", {{"as_int", 2}}}}));
  // x is an input, which may be written.
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->first()->full_name(), "aten.pow_.Scalar");
}

TEST(Pt2Importer, ANumberWithoutScalarOverloadBecomesAConstant) {
  const auto module =
      read_test_pt2(one_node("torch.ops.aten.conv2d.default",
                             {{"input", test_tensor("x")}, {"weight", {{"as_float", 0.5}}}}));
  ASSERT_TRUE(module) << render(module.error());
  const Value* number = (*module)->main()->first()->operand(1);
  EXPECT_EQ(number->type(), (TensorType{DType::kF32, Shape{}, nullptr}));
  EXPECT_EQ(float_values(*number->constant()), std::vector<double>{0.5});
}

TEST(Pt2Importer, DTypesAreTranslated) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3})
      .node("torch.ops.quantized_decomposed.quantize_per_tensor.default",
            {{"input", test_tensor("x")},
             {"scale", {{"as_float", 0.5}}},
             {"zero_point", {{"as_int", 3}}},
             {"quant_min", {{"as_int", -128}}},
             {"quant_max", {{"as_int", 127}}},
             {"dtype", {{"as_scalar_type", kTestI8}}}},
            {"y"}, kTestI8)
      .output("y");
  EXPECT_EQ(node_text(p),
            "%y: i8[2,3] = quantized_decomposed.quantize_per_tensor.default(%x) {scale = 0.5, "
            "zero_point = 3, quant_min = -128, quant_max = 127, dtype = i8}");
  p.nodes[0]["inputs"][5]["arg"]["as_scalar_type"] = kTestComplex64;
  EXPECT_EQ(node_text(p),
            "E0304: quantized_decomposed.quantize_per_tensor.default: dtype complex64 is not "
            "supported");
  p.nodes[0]["inputs"].erase(1);
  EXPECT_EQ(node_text(p),
            "E0302: quantized_decomposed.quantize_per_tensor.default: argument \"scale\" is "
            "missing");
}

TEST(Pt2Importer, ListsOfTensorsAreGroups) {
  TestPt2 p = one_node("torch.ops.aten.cat.default",
                       {{"tensors", test_tensors({"x", "x"})}, {"dim", {{"as_int", 1}}}});
  p.tensor_values["y"] = test_meta(kTestF32, {2, 6});
  EXPECT_EQ(node_text(p), "%y: f32[2,6] = aten.cat.default([%x, %x]) {dim = 1}");
}

TEST(Pt2Importer, AListResultIsSeveralResults) {
  TestPt2 p = one_node(
      "torch.ops.aten.split_with_sizes.default",
      {{"self", test_tensor("x")}, {"split_sizes", ints({1, 2})}, {"dim", {{"as_int", 1}}}});
  p.nodes[0]["outputs"] = TestJson::array({test_tensors({"y", "z"})});
  p.tensor_values["y"] = test_meta(kTestF32, {2, 1});
  p.tensor_values["z"] = test_meta(kTestF32, {2, 2});
  p.output("z");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  const Graph& graph = *(*module)->main();
  EXPECT_EQ(graph.first()->num_results(), 2);
  EXPECT_EQ(graph.output(1)->name(), "z");
  EXPECT_EQ(graph.output(1)->shape(), Shape({2, 2}));
}

TEST(Pt2Importer, EmptyListsHaveNoElementType) {
  EXPECT_EQ(node_text("torch.ops.aten.reshape.default",
                      {{"self", test_tensor("x")}, {"shape", {{"as_tensors", TestJson::array()}}}}),
            "%y: f32[2,3] = aten.reshape.default(%x) {shape = []}");
}

TEST(Pt2Importer, WhatSaysOnlyWhereTensorsLieIsDropped) {
  EXPECT_EQ(node_text("torch.ops.aten.clone.default",
                      {{"self", test_tensor("x")}, {"memory_format", {{"as_memory_format", 1}}}}),
            "%y: f32[2,3] = aten.clone.default(%x)");
}

TEST(Pt2Importer, AnOperatorWithoutARowKeepsItsNameAndTheRestAsText) {
  const std::string text =
      node_text("torch.ops.mylib.mystery.default",
                {{"a", {{"as_optional_tensors", {{{"as_none", true}}, test_tensor("x")}}}},
                 {"n", ints({1, 2})},
                 {"b", {{"as_optional_tensor", test_tensor("x")}}},
                 {"c", {{"as_nested_tensors", {{{{"name", "x"}}}}}}},
                 {"s", {{"as_string", "mean"}}}});
  EXPECT_EQ(text,
            "%y: f32[2,3] = aten.unknown.default([%x, %x, %x]) {target = "
            "\"mylib.mystery.default\", arguments = \"n=[1,2], s=\\\"mean\\\"\"}");
}

TEST(Pt2Importer, TheStandInOfUnknownOperatorsIsNoOperatorOfPrograms) {
  EXPECT_EQ(node_text("torch.ops.aten.unknown.default", {{"inputs", test_tensors({"x"})}}),
            "%y: f32[2,3] = aten.unknown.default([%x]) {target = \"aten.unknown.default\"}");
  EXPECT_EQ(node_text("torch.ops.tosa.add", {{"a", test_tensor("x")}}),
            "%y: f32[2,3] = aten.unknown.default([%x]) {target = \"tosa.add\"}");
}

TEST(Pt2Importer, NodesWithoutTensorsAsResultsAreDropped) {
  TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  p.node("torch.ops.aten._assert_tensor_metadata.default", {{"a", test_tensor("x")}}, {});
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->num_nodes(), 1u);
}

TEST(Pt2Importer, ArgumentsThatTheSchemaLacksAreRefused) {
  EXPECT_EQ(node_text("torch.ops.aten.relu.default",
                      {{"self", test_tensor("x")}, {"slope", {{"as_int", 1}}}}),
            "E0302: aten.relu.default: argument 1 \"slope\" does not fit the schema");
  EXPECT_EQ(node_text("torch.ops.aten.relu.default", TestJson::object()),
            "E0302: aten.relu.default: tensor \"self\" is missing");
  TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  p.nodes[0]["outputs"].push_back(test_tensor("x"));
  EXPECT_EQ(node_text(p), "E0302: aten.relu.default: it has 2 results, its schema has 1");
}

TEST(Pt2Importer, ErrorsNameThePlaceInTheUsersProgram) {
  TestPt2 p = one_node("torch.ops.aten.relu.default", TestJson::object());
  p.nodes[0]["metadata"] = {
      {"stack_trace", "File \"model.py\", line 41, in forward\n    x = F.relu(x)\n"},
      {"nn_module_stack", "L__self__,,nets.Net;L__self___stem,L['self'].stem,torch.nn.Sequential"}};
  const auto module = read_test_pt2(p);
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().where.file, "model.py");
  EXPECT_EQ(module.error().where.line, 41u);
  EXPECT_EQ(module.error().where.source, "x = F.relu(x)");
  EXPECT_EQ(module.error().where.scope, "Net.stem");
}

}  // namespace
}  // namespace tosaic::aten
