// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/reader.h"

#include <gtest/gtest.h>

#include <cmath>

#include "aten/pt2/test_archive.h"
#include "ir/text.h"
#include "ir/verify.h"

namespace tosaic::aten {
namespace {

/// A program of one node, y = target(inputs) with x: f32[2,3].
TestPt2 one_node(const std::string& target, const TestJson& inputs) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3}).node(target, inputs, {"y"}).output("y");
  return p;
}

const Node& only_node(const Module& module) {
  return *module.main()->first();
}

/// y = x + the stored tensor "w".
TestPt2 with_stored(const std::string& kind, const TestJson& meta, const std::string& bytes,
                    bool persistent = true) {
  TestPt2 p;
  const bool in_weights = kind == "parameter" || (kind == "buffer" && persistent);
  p.stored(kind, "w", "net.w", meta, "blob_0", persistent)
      .blob(in_weights ? "weights/blob_0" : "constants/blob_0", bytes)
      .input("x", kTestF32, {2, 3})
      .node("torch.ops.aten.add.Tensor", {{"self", test_tensor("x")}, {"other", test_tensor("w")}},
            {"y"})
      .output("y");
  return p;
}

const Constant& stored_constant(const Module& module) {
  return *only_node(module).operand(1)->constant();
}

TEST(Pt2Reader, MakesOneNodePerCallAndKeepsNamesAndTypes) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3}).input("other", kTestI8, {4});
  p.node("torch.ops.aten.add.Tensor", {{"self", test_tensor("x")}, {"other", test_tensor("x")}},
         {"sum"})
      .output("sum")
      .output("x")
      .output("sum");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ(print(**module), R"(aten graph @main(%x: f32[2,3], %other: i8[4]) {
  %sum: f32[2,3] = aten.add.Tensor(%x, %x)
  return %sum, %x, %sum
}
)");
  EXPECT_TRUE(verify(**module).ok());
}

TEST(Pt2Reader, ReadsStoredTensorsOfEveryKindWithoutCopyingThem) {
  const std::string bytes = test_floats({1, 2, 3, 4, 5, 6});
  for (const std::string kind : {"parameter", "buffer", "tensor_constant"}) {
    for (const bool persistent : {true, false}) {
      const auto module =
          read_test_pt2(with_stored(kind, test_meta(kTestF32, {2, 3}), bytes, persistent));
      ASSERT_TRUE(module) << render(module.error());
      EXPECT_EQ(float_values(stored_constant(**module)), (std::vector<double>{1, 2, 3, 4, 5, 6}));
      EXPECT_EQ(only_node(**module).operand(1)->name(), "w");
    }
  }
}

TEST(Pt2Reader, ReadsViewsOfAStorage) {
  const std::string bytes = test_floats({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  // torch.arange(12.).as_strided((2, 3), (1, 4), 1)
  auto module = read_test_pt2(with_stored("buffer", test_meta(kTestF32, {2, 3}, {1, 4}, 1), bytes));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ(float_values(stored_constant(**module)), (std::vector<double>{1, 5, 9, 2, 6, 10}));
  // torch.ones(1).expand(2, 3): stride 0 repeats
  module = read_test_pt2(with_stored("buffer", test_meta(kTestF32, {2, 3}, {0, 0}, 11), bytes));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ(float_values(stored_constant(**module)), std::vector<double>(6, 11.0));
}

TEST(Pt2Reader, ReadsChannelsLastWeights) {
  // A [1,2,2,1] tensor in channels_last has strides [4,1,2,2]: as it lies, (h, c) = 0 … 3.
  const auto module = read_test_pt2(with_stored(
      "parameter", test_meta(kTestF32, {1, 2, 2, 1}, {4, 1, 2, 2}), test_floats({0, 1, 2, 3})));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ(float_values(stored_constant(**module)), (std::vector<double>{0, 2, 1, 3}));
}

TEST(Pt2Reader, ReadsBfloat16AndEmptyTensors) {
  // 0x3f80 is 1.0 in bfloat16, 0xc000 is -2.0.
  auto module = read_test_pt2(
      with_stored("buffer", test_meta(kTestBF16, {2}), std::string("\x80\x3f\x00\xc0", 4)));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ(float_values(stored_constant(**module)), (std::vector<double>{1, -2}));
  module = read_test_pt2(with_stored("buffer", test_meta(kTestF32, {0, 3}), ""));
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ(stored_constant(**module).shape, Shape({0, 3}));
  EXPECT_TRUE(verify(**module).ok());
}

TEST(Pt2Reader, TiedWeightsShareTheirBytes) {
  TestPt2 p;
  const TestJson meta = test_meta(kTestF32, {2, 3});
  p.stored("parameter", "a", "net.a", meta, "weight_0")
      .stored("parameter", "b", "net.b", meta, "weight_0")
      .blob("weights/weight_0", test_floats({1, 2, 3, 4, 5, 6}))
      .node("torch.ops.aten.add.Tensor", {{"self", test_tensor("a")}, {"other", test_tensor("b")}},
            {"y"})
      .output("y");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  const Node& n = only_node(**module);
  EXPECT_EQ(n.operand(0)->constant()->data, n.operand(1)->constant()->data);
}

TEST(Pt2Reader, LeavesOutStoredTensorsThatNothingUses) {
  TestPt2 p = one_node("torch.ops.aten.add.Tensor",
                       {{"self", test_tensor("x")}, {"other", test_tensor("x")}});
  // Not even its storage has to be there.
  p.stored("parameter", "dead", "net.dead", test_meta(kTestF32, {2}), "weight_9");
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_TRUE((*module)->main()->constants().empty());
}

TEST(Pt2Reader, DataOutsideTheirStorageAreRefused) {
  const std::string bytes = test_floats({1, 2, 3, 4, 5, 6});
  const int64_t huge = int64_t{1} << 47;
  const std::vector<TestJson> metas = {
      test_meta(kTestF32, {2, 4}),
      test_meta(kTestF32, {2, 3}, {3, 1}, 1),
      test_meta(kTestF32, {2, 3}, {4, 1}),
      test_meta(kTestF32, {2, 3}, {huge, huge}),
      test_meta(kTestF32, {huge, 3}, {huge, 1}),
      test_meta(kTestF32, {huge, 1}, {1, 1}),
      test_meta(kTestF32, {1, 1}, {1, 1}, huge),
      test_meta(kTestF32, {2, 3}, {-3, 1}, 3),
      test_meta(kTestF32, {2, 3}, {3, 1}, -1),
      test_meta(kTestF32, {2, 3}, {INT64_MAX, INT64_MAX}, INT64_MAX),
      test_meta(kTestF32, {INT64_MAX, INT64_MAX}, {1, 1}),
      test_meta(kTestF32, {-2, 3}),
      test_meta(kTestF32, {2, 3}, {1}),
  };
  for (const TestJson& meta : metas) {
    TestPt2 p = with_stored("buffer", meta, bytes);
    p.tensor_values["w"] = test_meta(kTestF32, {2, 3});
    const auto module = read_test_pt2(p);
    const std::string text = test_error(module);
    EXPECT_TRUE(text.starts_with("E0302: ")) << text;
    EXPECT_NE(text.find("tensor 'net.w': "), std::string::npos) << meta.dump() << text;
  }
}

TEST(Pt2Reader, PickledTensorsAreRefused) {
  TestPt2 p = with_stored("buffer", test_meta(kTestF32, {1}), test_floats({1}));
  p.weights["net.w"]["use_pickle"] = true;
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0304: aten.add.Tensor: tensor 'net.w': it is a tensor subclass, stored by pickle");
  TestMembers members = with_stored("buffer", test_meta(kTestF32, {1}), "1234").members();
  members[1] = {"net/data/weights/model.pt", "a pickle"};
  EXPECT_EQ(test_error(read_test_pt2(test_zip(members))),
            "E0304: the tensors are pickled (member 'data/weights/model.pt'); pickle is not read");
}

TEST(Pt2Reader, ChecksTheChecksumOfWeights) {
  TestPt2 p = with_stored("buffer", test_meta(kTestF32, {2}), test_floats({1, 2}));
  std::string bytes = p.bytes();
  const size_t at = bytes.find(test_floats({1, 2}));
  ASSERT_NE(at, std::string::npos);
  bytes[at + 1] ^= 4;
  EXPECT_EQ(test_error(read_test_pt2(bytes)).substr(0, 5), "E0201");
}

// ---- The archive ------------------------------------------------------------------------------

TEST(Pt2Reader, TakesAnyRootFolder) {
  TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  for (const std::string root : {"archive/", "my model/"}) {
    p.root = root;
    EXPECT_TRUE(read_test_pt2(p).ok());
  }
}

TEST(Pt2Reader, PicksOneOfSeveralPrograms) {
  TestPt2 first = one_node("torch.ops.aten.add.Tensor",
                           {{"self", test_tensor("x")}, {"other", test_tensor("x")}});
  TestPt2 second =
      with_stored("buffer", test_meta(kTestF32, {2, 3}), test_floats({1, 2, 3, 4, 5, 6}));
  first.model = "first";
  second.model = "second";
  first.marks.clear();
  TestMembers members = first.members();
  for (const auto& m : second.members())
    members.push_back(m);
  const std::string bytes = test_zip(members);
  EXPECT_EQ(test_error(read_test_pt2(bytes)), "E0104: the archive holds 2 programs: first, second");
  EXPECT_EQ(test_error(read_test_pt2(bytes, "third")),
            "E0104: the archive has no program 'third'; it holds: first, second");
  const auto module = read_test_pt2(bytes, "second");
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->constants().size(), 1u);
  EXPECT_TRUE(read_test_pt2(bytes, "first").ok());
}

TEST(Pt2Reader, RefusesOtherSchemaVersionsAndNamesTheOneThatWroteTheFile) {
  TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  p.major = 9;
  const auto module = read_test_pt2(p);
  EXPECT_EQ(test_error(module), "E0301: the program has schema version 9.20; 8.x can be read");
  ASSERT_EQ(module.error().notes.size(), 1u);
  EXPECT_EQ(module.error().notes[0], "it was written by PyTorch 2.13.0");
}

TEST(Pt2Reader, RefusesBigEndianArchivesAndOtherFormats) {
  TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  p.marks = {{"byteorder", "big"}};
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0304: the archive has byte order 'big'; only 'little' can be read");
  p.marks = {{"archive_format", "pt3"}};
  EXPECT_EQ(test_error(read_test_pt2(p)), "E0103: archive_format is 'pt3', not 'pt2'");
  p.marks = {{"archive_format", "\xff\x1b[2J"}};
  EXPECT_EQ(test_error(read_test_pt2(p)), "E0103: archive_format is '??[2J', not 'pt2'");
}

TEST(Pt2Reader, TellsOtherFilesOfPyTorchApart) {
  auto module = read_test_pt2(test_zip({{"net/data.pkl", "x"}, {"net/data/0", "x"}}));
  EXPECT_EQ(test_error(module),
            "E0103: not an exported program: the archive has no models/NAME.json");
  EXPECT_NE(module.error().hint.find("torch.save"), std::string::npos);
  module = read_test_pt2(test_zip({{"net/data.pkl", "x"}, {"net/constants.pkl", "x"}}));
  EXPECT_NE(module.error().hint.find("TorchScript"), std::string::npos);
  EXPECT_EQ(test_error(read_test_pt2(std::string("not a zip"))).substr(0, 5), "E0201");
}

TEST(Pt2Reader, DamagedJsonIsAnErrorAndNotACrash) {
  const TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  const auto with_json = [&](const std::string& text) {
    TestMembers members = p.members();
    members[0].second = text;
    return test_error(read_test_pt2(test_zip(members))).substr(0, 5);
  };
  EXPECT_EQ(with_json(""), "E0203");
  EXPECT_EQ(with_json("{"), "E0203");
  EXPECT_EQ(with_json("\xff\xfe"), "E0203");
  EXPECT_EQ(with_json("[]"), "E0203");
  EXPECT_EQ(with_json(std::string(100000, '[') + std::string(100000, ']')), "E0203");
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "{\"a\":";
  EXPECT_EQ(with_json(deep), "E0203");
  EXPECT_EQ(with_json(R"({"schema_version":{"major":8,"minor":0}})"), "E0203");
}

// ---- Symbolic sizes ---------------------------------------------------------------------------

TestJson symbol_size() {
  return {
      {"as_expr",
       {{"expr_str", "Symbol('s77', positive=True, integer=True)"}, {"hint", {{"as_int", 6}}}}}};
}

TEST(Pt2Reader, SymbolicSizesAreNegative) {
  TestPt2 p = one_node("torch.ops.aten.add.Tensor",
                       {{"self", test_tensor("x")}, {"other", test_tensor("x")}});
  p.tensor_values["x"]["sizes"][0] = symbol_size();
  p.tensor_values["y"]["sizes"][0] = symbol_size();
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->inputs()[0]->shape(), Shape({-1, 3}));
  EXPECT_EQ((*module)->main()->output(0)->shape(), Shape({-1, 3}));
}

TEST(Pt2Reader, ASymbolicArgumentNamesTheInputAndAxis) {
  TestPt2 p;
  p.input("x", kTestF32, {2, 3});
  p.tensor_values["x"]["sizes"][0] = symbol_size();
  p.nodes.push_back({{"target", "torch.ops.aten.sym_size.int"},
                     {"inputs", TestJson::array()},
                     {"outputs", {{{"as_sym_int", {{"as_name", "sym_size"}}}}}},
                     {"metadata", TestJson::object()}});
  p.sym_int_values["sym_size"] = symbol_size();
  p.sym_int_values["three"] = {{"as_int", 3}};
  TestJson sizes = TestJson::array({{{"as_name", "three"}}, {{"as_int", -1}}});
  p.node("torch.ops.aten.reshape.default",
         {{"self", test_tensor("x")}, {"shape", {{"as_sym_ints", sizes}}}}, {"y"}, kTestF32, {3, 2})
      .output("y");
  auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  ASSERT_EQ((*module)->main()->num_nodes(), 1u);
  p.nodes[1]["inputs"][1]["arg"]["as_sym_ints"][0]["as_name"] = "sym_size";
  module = read_test_pt2(p);
  EXPECT_EQ(
      test_error(module),
      "E0306: aten.reshape.default: the size of axis 0 of input \"x\" is symbolic (s77) where "
      "a number is needed");
}

// ---- Inputs and outputs that are no tensors ---------------------------------------------------

TEST(Pt2Reader, ConstantInputsAndOutputsAreNoTensorsOfTheGraph) {
  TestPt2 p = one_node("torch.ops.aten.add.Tensor",
                       {{"self", test_tensor("x")}, {"other", test_tensor("x")}});
  p.input_specs.push_back({{"constant_input", {{"name", "flag"}, {"value", {{"as_bool", true}}}}}});
  p.output_specs.push_back({{"user_output", {{"arg", {{"as_int", 3}}}}}});
  p.output_specs.push_back({{"user_output", {{"arg", {{"as_none", true}}}}}});
  const auto module = read_test_pt2(p);
  ASSERT_TRUE(module) << render(module.error());
  EXPECT_EQ((*module)->main()->inputs().size(), 1u);
  EXPECT_EQ((*module)->main()->num_outputs(), 1);
}

TEST(Pt2Reader, ASymbolicNumberAsInputIsRefused) {
  TestPt2 p = one_node("torch.ops.aten.relu.default", {{"self", test_tensor("x")}});
  p.input_specs.push_back({{"user_input", {{"arg", {{"as_sym_int", {{"as_name", "n"}}}}}}}});
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0304: an input of the program is sym_int, not a tensor");
}

TEST(Pt2Reader, ContradictionsAreNamed) {
  TestPt2 p = one_node("torch.ops.aten.add.Tensor",
                       {{"self", test_tensor("x")}, {"other", test_tensor("ghost")}});
  p.tensor_values["ghost"] = test_meta(kTestF32, {2, 3});
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0302: aten.add.Tensor: \"ghost\" is used before it is defined");
  p = one_node("torch.ops.aten.add.Tensor",
               {{"self", test_tensor("x")}, {"other", test_tensor("x")}});
  p.tensor_values.erase("y");
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0302: aten.add.Tensor: tensor \"y\" has no entry in graph.tensor_values");
  p = one_node("torch.ops.aten.add.Tensor",
               {{"self", test_tensor("x")}, {"other", test_tensor("x")}});
  p.nodes.push_back(p.nodes[0]);
  EXPECT_EQ(test_error(read_test_pt2(p)), "E0302: aten.add.Tensor: two values are called \"y\"");
  p.nodes.erase(1);
  p.tensor_values["y"]["dtype"] = kTestComplex64;
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0304: aten.add.Tensor: tensor \"y\": dtype complex64 is not supported");
  p.tensor_values["y"] = test_meta(kTestF32, std::vector<int64_t>(9, 1));
  EXPECT_EQ(test_error(read_test_pt2(p)),
            "E0304: aten.add.Tensor: tensor \"y\": a tensor of rank above 8 is not supported");
}

}  // namespace
}  // namespace tosaic::aten
