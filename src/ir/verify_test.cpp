// SPDX-License-Identifier: Apache-2.0
// One broken graph per rule.
#include "ir/verify.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

#include "ir/test_ops.h"
#include "ir/text.h"

namespace tosaic {
namespace {

std::unique_ptr<Module> parsed(std::string_view text) {
  auto module = parse_module(text, "test.tir");
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return std::make_unique<Module>();
  }
  return *std::move(module);
}

Diagnostic error_of(const Status& status) {
  if (status.ok()) {
    ADD_FAILURE() << "verified";
    return {};
  }
  return status.error();
}

/// Expects that the text is refused with the code and a message.
void expect_refused(std::string_view text, Code code, std::string_view message) {
  const Diagnostic d = error_of(verify(*parsed(text)));
  EXPECT_EQ(code_id(d.code), code_id(code));
  EXPECT_EQ(d.message, message);
}

const TensorType kPair{DType::kF32, Shape{2}, nullptr};

/// An operator of one dialect that no table knows.
constexpr DialectHooks kLooseHooks = {
    .variant_name = [](const OpDef& op, int) { return op.name; },
    .num_variants = [](const OpDef&) { return 1; },
    .verify = [](const Node&) { return ok(); },
};
constexpr OpDef kAtenOp = {"aten.loose", Dialect::kAten, &kLooseHooks, nullptr};

TEST(Verify, TakesWhatKeepsTheRules) {
  const auto module = parsed(R"tir(tosa graph @main(%x: i8<0.1,-128>[2]) {
    %w = const i8<axis 0: 0.5,0,-127..127; 0.25>[2] [1, -127]
    %y: i8<0.1,0>[2] = test.binary(%x, %w)
    %z: i8<0.1,0>[2] = call(%y) {callee = @part0}
    return %z, %z
  }
  aten graph @part0(%x: i8<0.1,0>[2]) { return %x })tir");
  const Status status = verify(*module);
  EXPECT_TRUE(status.ok()) << render(status.error());
}

TEST(Verify, DefinitionsComeBeforeUses) {
  const auto module = parsed(R"tir(graph @main(%x: f32[2]) {
    %y: f32[2] = test.unary(%x) loc("m.py":3)
    %z: f32[2] = test.unary(%y) loc("m.py":4)
    return %z })tir");
  Graph& graph = *module->main();
  graph.move_before(*graph.last(), graph.first());
  const Diagnostic d = error_of(verify(graph));
  EXPECT_EQ(code_id(d.code), "V0001");
  EXPECT_EQ(d.message, "test.unary: operand 0, %y, is not defined before this node");
  EXPECT_EQ(d.where.line, 4u);
  ASSERT_EQ(d.notes.size(), 1u);
  EXPECT_EQ(d.notes[0], "node: %z: f32[2] = test.unary(%y)");
}

TEST(Verify, DialectsAreNotMixedUnlessTheGraphSaysSo) {
  Module module;
  Graph& graph = module.add_graph("main", Dialect::kTosa);
  graph.insert({.op = &kAtenOp});
  const Diagnostic d = error_of(verify(graph));
  EXPECT_EQ(code_id(d.code), "V0002");
  EXPECT_EQ(d.message, "aten.loose: a node of dialect aten in graph @main of dialect tosa");
  graph.set_dialect(Dialect::kMixed);
  EXPECT_TRUE(verify(graph).ok());
  graph.set_dialect(Dialect::kAten);
  EXPECT_TRUE(verify(graph).ok());
}

TEST(Verify, OperandGroupsHoldAllOperands) {
  Module module;
  Graph& graph = module.add_graph("main", Dialect::kMixed);
  Value* x = &graph.add_input(kPair, "x");
  const std::array<int16_t, 1> segments{2};
  graph.insert({.op = &kTestListOp, .operands = {&x, 1}, .segments = segments});
  EXPECT_EQ(error_of(verify(graph)).message,
            "test.list: operand groups hold 2 values, operands are 1");
}

TEST(Verify, AttributesAreGivenOnce) {
  Module module;
  Graph& graph = module.add_graph("main", Dialect::kMixed);
  const std::array<NamedAttr, 2> attrs{{{"a", Attr::integer(1)}, {"a", Attr::integer(2)}}};
  graph.insert({.op = &kTestUnaryOp, .attrs = attrs});
  const Diagnostic d = error_of(verify(graph));
  EXPECT_EQ(code_id(d.code), "V0004");
  EXPECT_EQ(d.message, "test.unary: attribute a is given twice");
}

TEST(Verify, OutputsExist) {
  expect_refused("graph @main() { return none }", Code::kVerifyArity, "return: output 0 is absent");
}

TEST(Verify, HooksOfTheDialectAreAsked) {
  expect_refused(R"tir(graph @main(%x: f32[2], %y: f32[3]) {
    test.binary(%x, %y)
    return })tir",
                 Code::kVerifySignature, "test.binary: needs two operands of one shape");
}

TEST(Verify, CallsFitTheGraphTheyName) {
  const auto body = [](std::string_view node) {
    return fmt::format(
        "graph @main(%x: f32[2]) {{\n{}\nreturn }}\n"
        "graph @f(%a: f32[2]) {{ %b: f32[3] = test.unary(%a) return %b }}",
        node);
  };
  expect_refused(body("%y: f32[3] = call(%x) {callee = @g}"), Code::kVerifyCall,
                 "call: attribute callee names graph @g, which does not exist");
  expect_refused(body("test.unary() {body = @g}"), Code::kVerifyCall,
                 "test.unary: attribute body names graph @g, which does not exist");
  expect_refused(body("%y: f32[3] = call(%x) {callee = 1}"), Code::kVerifyAttributes,
                 "call: needs one attribute, callee, that names a graph");
  expect_refused(body("%y: f32[3] = call(%x, %x) {callee = @f}"), Code::kVerifyCall,
                 "call: 2 operands and 1 results, graph @f has 1 inputs and 1 outputs");
  expect_refused(body("%y: f32[3] = call(none) {callee = @f}"), Code::kVerifyCall,
                 "call: operand 0 is absent, graph @f takes f32[2]");
  expect_refused(body("%y: i8[3] = call(%x) {callee = @f}"), Code::kVerifyCall,
                 "call: result 0 is i8[3], graph @f returns f32[3]");
  expect_refused(R"tir(
    graph @main() { call() {callee = @a} return }
    graph @a() { call() {callee = @b} return }
    graph @b() { call() {callee = @a} return })tir",
                 Code::kVerifyCall, "graph @a: is part of a cycle of calls");
}

TEST(Verify, QuantisationParametersAreInRange) {
  const auto refused = [](std::string_view type, std::string_view message) {
    expect_refused(fmt::format("graph @main(%x: {}) {{ return }}", type), Code::kVerifyQuant,
                   fmt::format("graph @main: input %x: {}", message));
  };
  refused("i8<0,0>[1]", "scale 0 is not finite and positive");
  refused("i8<-1,0>[1]", "scale -1 is not finite and positive");
  refused("i8<inf,0>[1]", "scale inf is not finite and positive");
  refused("i8<axis 0: 1,0; nan>[2]", "scale nan is not finite and positive");
  refused("i8<1,128>[1]", "zero point 128 is outside -128 to 127");
  refused("u8<1,-1>[1]", "zero point -1 is outside 0 to 255");
  refused("i8<1,0,-129..127>[1]",
          "range -129 to 127, allowed are increasing limits within -128 to 127");
  refused("i8<1,0,5..4>[1]", "range 5 to 4, allowed are increasing limits within -128 to 127");
  refused("i8<axis 1: 1,0>[1]", "axis 1 of a tensor of rank 1");
  refused("i8<axis 0: 1,0>[2]", "1 scales for an axis of size 2");
  refused("f32<1,0,0..1>[2]", "f32 is no type of quantised values");
  expect_refused("graph @main(%x: f32[1]) { %y: i8<0,0>[1] = test.unary(%x) return }",
                 Code::kVerifyQuant, "test.unary: result 0: scale 0 is not finite and positive");
  expect_refused("graph @main() { %x = const i8<0,0>[1] [1] return %x }", Code::kVerifyQuant,
                 "graph @main: constant %x: scale 0 is not finite and positive");
}

/// A graph that returns one constant, for changing what the value's type or data say.
struct ConstantGraph {
  explicit ConstantGraph(const Constant& constant) : data(constant) {
    value = &graph.add_constant(data, {data.dtype, data.shape, nullptr}, "c");
    graph.set_outputs({&value, 1});
  }
  Diagnostic refusal() const { return error_of(verify(graph)); }

  Module module;
  Graph& graph = module.add_graph("main", Dialect::kMixed);
  Constant data;
  Value* value;
};

TEST(Verify, ConstantsHaveTheDataOfTheirType) {
  Module module;
  const std::array<double, 2> values{1, 2};
  const Constant& good = module.constant_floats(DType::kF32, {2}, values);
  {
    ConstantGraph g(good);
    EXPECT_TRUE(verify(g.graph).ok());
    g.value->set_type({DType::kI8, Shape{2}, nullptr});
    EXPECT_EQ(code_id(g.refusal().code), "V0012");
    EXPECT_EQ(g.refusal().message,
              "graph @main: constant %c: its data are f32[2], its type is i8[2]");
  }
  Constant bad = good;
  bad.data = nullptr;
  EXPECT_EQ(ConstantGraph(bad).refusal().message, "graph @main: constant %c: it has no data");
  bad = good;
  bad.dtype = DType::kI32;
  EXPECT_EQ(ConstantGraph(bad).refusal().message,
            "graph @main: constant %c: its bytes are f32 and nothing converts them to i32");
  bad = good;
  const std::array<double, 3> scales{1, 2, 3};
  ConstantStage stage{.axis = 0, .scales = scales};
  bad.stage = &stage;
  EXPECT_EQ(ConstantGraph(bad).refusal().message,
            "graph @main: constant %c: its stage has 3 scales for an axis of size 2");
  stage = {.quant = module.quant(0.0, 0, -128, 127)};
  bad.dtype = DType::kI8;
  EXPECT_EQ(ConstantGraph(bad).refusal().message,
            "graph @main: constant %c: scale 0 is not finite and positive");
}

}  // namespace
}  // namespace tosaic
