// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <gtest/gtest.h>

#include <array>
#include <random>

#include "support/check.h"

namespace tosaic {
namespace {

const TensorType kType = {DType::kF32, {2, 3}, nullptr};

/// Graphs of `call` nodes: the one operator that this layer has.
class GraphTest : public ::testing::Test {
 protected:
  Node& add(std::vector<Value*> operands, Node* before = nullptr, size_t num_results = 1) {
    const std::vector<TensorType> results(num_results, kType);
    NodeSpec spec;
    spec.op = &kCallOp;
    spec.operands = operands;
    spec.results = results;
    return graph.insert(spec, before);
  }
  std::vector<Node*> walk() {
    std::vector<Node*> nodes;
    for (Node& node : graph.nodes())
      nodes.push_back(&node);
    return nodes;
  }
  /// Links in both directions, orders and the count agree.
  void expect_sound() {
    size_t count = 0;
    const Node* prev = nullptr;
    for (Node* node = graph.first(); node != nullptr; node = graph.after(*node)) {
      EXPECT_EQ(node->prev(), prev);
      EXPECT_TRUE(prev == nullptr || prev->order() < node->order());
      prev = node;
      ++count;
    }
    EXPECT_EQ(graph.last(), prev);
    EXPECT_EQ(graph.num_nodes(), count);
    EXPECT_TRUE(prev == nullptr || prev->order() < graph.return_node().order());
  }
  static std::vector<std::pair<Node*, int>> users(const Value& value) {
    std::vector<std::pair<Node*, int>> found;
    for (Use* use = value.first_use(); use != nullptr; use = use->next()) {
      EXPECT_EQ(use->value(), &value);
      found.emplace_back(&use->user(), use->index());
    }
    return found;
  }

  Module module;
  Graph& graph = module.add_graph("main", Dialect::kMixed);
  Value& x = graph.add_input(kType, "x");
};

TEST_F(GraphTest, NewGraphHasOnlyItsReturn) {
  EXPECT_EQ(graph.first(), nullptr);
  EXPECT_EQ(graph.last(), nullptr);
  EXPECT_EQ(graph.num_outputs(), 0);
  EXPECT_TRUE(walk().empty());
  EXPECT_TRUE(graph.return_node().is(kReturnOp));
  EXPECT_EQ(graph.return_node().full_name(), "return");
  EXPECT_TRUE(x.is_input());
}

TEST_F(GraphTest, InsertCopiesEverythingItIsGiven) {
  Node* node = nullptr;
  {
    std::string name = "callee";
    std::string callee = "part0";
    const std::array<NamedAttr, 1> attrs = {{{name, Attr::graph(callee)}}};
    const std::array<Value*, 3> operands = {&x, nullptr, &x};
    const std::array<int16_t, 2> segments = {2, -1};
    const std::array<TensorType, 2> results = {kType, kType};
    node = &graph.insert({.op = &kCallOp,
                          .operands = operands,
                          .segments = segments,
                          .results = results,
                          .attrs = attrs});
    name = callee = "??????";
  }
  EXPECT_EQ(node->attr("callee")->as_string(), "part0");
  EXPECT_EQ(node->num_operands(), 3);
  EXPECT_EQ(node->operand(1), nullptr);
  EXPECT_EQ(node->segments()[0], 2);
  EXPECT_EQ(node->result(1).result_index(), 1);
  EXPECT_EQ(node->result(1).def(), node);
  EXPECT_EQ(users(x), (std::vector<std::pair<Node*, int>>{{node, 0}, {node, 2}}));
}

TEST_F(GraphTest, NodesStandWhereTheyAreInserted) {
  Node& b = add({&x});
  Node& a = add({&x}, &b);
  Node& c = add({&x});
  EXPECT_EQ(walk(), (std::vector<Node*>{&a, &b, &c}));
  graph.move_before(c, &a);
  EXPECT_EQ(walk(), (std::vector<Node*>{&c, &a, &b}));
  graph.move_before(c, &a);  // where it stands already
  graph.move_before(a, nullptr);
  EXPECT_EQ(walk(), (std::vector<Node*>{&c, &b, &a}));
  graph.move_before(a, &a);
  EXPECT_EQ(walk(), (std::vector<Node*>{&c, &b, &a}));
  expect_sound();
}

TEST_F(GraphTest, OrderIncreasesHoweverNodesAreInserted) {
  std::mt19937 random(1);
  std::vector<Node*> nodes = {&add({})};
  for (int i = 0; i < 3000; ++i)
    nodes.push_back(&add({}, nodes.back()));  // each before the last one
  for (int i = 0; i < 3000; ++i)
    add({}, nodes[1500]);  // all at one place
  for (int i = 0; i < 3000; ++i)
    nodes.push_back(&add({}, nodes[random() % nodes.size()]));
  for (int i = 0; i < 1000; ++i) {
    graph.move_before(*nodes[random() % nodes.size()], nodes[random() % nodes.size()]);
  }
  expect_sound();
  graph.renumber();
  expect_sound();
}

TEST_F(GraphTest, ReplaceAllUsesJoinsLists) {
  Node& a = add({&x});
  Node& b = add({&a.result(), &a.result()});
  Node& c = add({&x, &a.result()});
  graph.set_outputs(std::array<Value*, 2>{&a.result(), &c.result()});
  graph.replace_all_uses(a.result(), x);
  EXPECT_FALSE(a.result().has_uses());
  EXPECT_EQ(x.num_uses(), 6u);
  EXPECT_EQ(b.operand(1), &x);
  EXPECT_EQ(graph.output(0), &x);
  graph.replace_all_uses(x, x);
  EXPECT_EQ(x.num_uses(), 6u);
  // Every use can still be taken out: the links are right.
  graph.set_outputs({});
  for (Node* node : {&c, &b, &a})
    graph.erase(*node);
  EXPECT_FALSE(x.has_uses());
  expect_sound();
}

TEST_F(GraphTest, SetOperandMovesOneUse) {
  Value& y = graph.add_input(kType, "y");
  Node& a = add({&x, &x, &x});
  graph.set_operand(a, 1, &y);
  EXPECT_EQ(users(y), (std::vector<std::pair<Node*, int>>{{&a, 1}}));
  EXPECT_EQ(users(x), (std::vector<std::pair<Node*, int>>{{&a, 0}, {&a, 2}}));
  graph.set_operand(a, 0, nullptr);
  graph.set_operand(a, 0, nullptr);
  EXPECT_TRUE(x.has_one_use());
  EXPECT_EQ(a.operand(0), nullptr);
}

TEST_F(GraphTest, OutputsCanBeSetFromThemselves) {
  Node& a = add({&x}, nullptr, 2);
  graph.set_outputs(std::array<Value*, 2>{&a.result(0), &a.result(1)});
  std::vector<Value*> outputs = graph.outputs();
  outputs.push_back(&x);
  graph.set_outputs(outputs);
  EXPECT_EQ(graph.outputs(), (std::vector<Value*>{&a.result(0), &a.result(1), &x}));
  EXPECT_TRUE(a.result(0).has_one_use());
  graph.set_outputs(std::array<Value*, 1>{&a.result(1)});
  EXPECT_EQ(graph.num_outputs(), 1);
  EXPECT_FALSE(a.result(0).has_uses());
}

TEST_F(GraphTest, NodesWithUsesAndTheReturnCannotBeErased) {
  Node& a = add({&x});
  graph.set_outputs(std::array<Value*, 1>{&a.result()});
  EXPECT_THROW(graph.erase(a), BugError);
  EXPECT_THROW(graph.erase(graph.return_node()), BugError);
  EXPECT_THROW(graph.erase_input(0), BugError);
}

TEST_F(GraphTest, OperandsOfAnotherGraphAreABug) {
  Graph& other = module.add_graph("other", Dialect::kMixed);
  Value& y = other.add_input(kType, "y");
  EXPECT_THROW(add({&y}), BugError);
}

TEST_F(GraphTest, WalkSurvivesErasingTheCurrentAndTheNextNode) {
  std::vector<Node*> nodes;
  for (int i = 0; i < 6; ++i)
    nodes.push_back(&add({&x}));
  std::vector<Node*> seen;
  for (Node& node : graph.nodes()) {
    seen.push_back(&node);
    if (&node == nodes[1]) {
      graph.erase(*nodes[2]);
      graph.erase(*nodes[1]);
      graph.erase(*nodes[3]);
    }
  }
  EXPECT_EQ(seen, (std::vector<Node*>{nodes[0], nodes[1], nodes[4], nodes[5]}));
  for (Node& node : graph.nodes())
    graph.erase(node);
  EXPECT_EQ(graph.num_nodes(), 0u);
  EXPECT_EQ(graph.first(), nullptr);
  EXPECT_FALSE(x.has_uses());
}

TEST_F(GraphTest, DeadChainsGoInOneWalk) {
  Node* live = &add({&x});
  Value* dead = &x;
  for (int i = 0; i < 10000; ++i)
    dead = &add({dead, &live->result()}).result();
  Node& half_used = add({&x}, nullptr, 2);
  graph.set_outputs(std::array<Value*, 2>{&live->result(), &half_used.result(1)});
  EXPECT_EQ(graph.erase_dead_nodes(), 10000u);
  EXPECT_EQ(walk(), (std::vector<Node*>{live, &half_used}));
  EXPECT_EQ(graph.erase_dead_nodes(), 0u);
  expect_sound();
}

TEST_F(GraphTest, InputsKeepTheirIndex) {
  Value& y = graph.add_input(kType, "y");
  Value& z = graph.add_input(kType, "z");
  graph.erase_input(1);
  EXPECT_EQ(std::vector<Value*>(graph.inputs().begin(), graph.inputs().end()),
            (std::vector<Value*>{&x, &z}));
  EXPECT_EQ(z.result_index(), 1);
  EXPECT_EQ(y.name(), "y");
}

TEST_F(GraphTest, ConstantsAreListedWhileTheyHaveUses) {
  const Constant& one = module.constant_floats(DType::kF32, {}, std::array<double, 1>{1.0});
  Value& a = graph.add_constant(one);
  Value& b = graph.add_constant(one);
  EXPECT_NE(&a, &b);
  EXPECT_TRUE(graph.constants().empty());
  Node& node = add({&b, &a});
  EXPECT_EQ(graph.constants(), (std::vector<Value*>{&a, &b}));
  graph.set_operand(node, 1, &b);
  EXPECT_EQ(graph.constants(), (std::vector<Value*>{&b}));
  EXPECT_THROW(graph.add_constant(one, kType), BugError);
}

TEST(Module, InternsStringsAndQuantisation) {
  Module module;
  std::string text = "weight";
  const std::string_view first = module.intern(text);
  text[0] = 'h';
  EXPECT_EQ(first, "weight");
  EXPECT_EQ(module.intern("weight").data(), first.data());
  EXPECT_NE(module.intern(text).data(), first.data());

  const Quant* quant = module.quant(0.1, 3, -128, 127);
  EXPECT_EQ(module.quant(0.1, 3, -128, 127), quant);
  EXPECT_NE(module.quant(0.1, 4, -128, 127), quant);
  EXPECT_NE(module.quant(0.1, 3, -127, 127), quant);
  EXPECT_NE(module.quant(0.1, 3, -128, 126), quant);
  EXPECT_NE(module.quant(0.1000001, 3, -128, 127), quant);
  const std::array scales = {0.1, 0.2};
  const std::array zero_points = {3, 0};
  const Quant* per_axis = module.quant(scales, zero_points, 1, -128, 127);
  EXPECT_EQ(module.quant(scales, zero_points, 1, -128, 127), per_axis);
  EXPECT_EQ(module.with_axis(*per_axis, 1), per_axis);
  EXPECT_EQ(module.with_axis(*per_axis, 0)->axis, 0);
  EXPECT_EQ((TensorType{DType::kI8, {2}, quant}),
            (TensorType{DType::kI8, {2}, module.quant(0.1, 3, -128, 127)}));
}

TEST(Module, GraphsAreFoundErasedAndNamed) {
  Module module;
  Graph& main = module.add_graph("main", Dialect::kAten);
  EXPECT_EQ(module.main(), &main);
  EXPECT_EQ(module.unique_graph_name("part"), "part");
  module.add_graph("part", Dialect::kTosa);
  EXPECT_EQ(module.unique_graph_name("part"), "part0");
  module.add_graph("part1", Dialect::kTosa);
  module.add_graph("part0", Dialect::kTosa);
  EXPECT_EQ(module.unique_graph_name("part"), "part2");
  EXPECT_EQ(module.graphs().size(), 4u);
  module.erase_graph("part");
  EXPECT_EQ(module.find_graph("part"), nullptr);
  EXPECT_EQ(module.graphs().size(), 3u);
  EXPECT_EQ(module.main(), &main);
  EXPECT_THROW(module.add_graph("main", Dialect::kTosa), BugError);
}

}  // namespace
}  // namespace tosaic
