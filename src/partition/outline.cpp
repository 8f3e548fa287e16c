// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <unordered_map>

#include "aten/row.h"
#include "ir/effects.h"
#include "partition/partition.h"

// Moves partitions into graphs of their own.

namespace tosaic {
namespace {

/// A partition's nodes and the values that cross its border.
struct Part {
  std::vector<Node*> nodes;
  std::vector<Value*> inputs;
  std::vector<Value*> outputs;
};

bool is_quantize(const Node& n) {
  return aten::is_aten(n) && aten::row(n.op()).has(aten::Trait::kQuantize);
}
bool is_dequantize(const Node& n) {
  return aten::is_aten(n) && aten::row(n.op()).has(aten::Trait::kDequantize);
}

/// Sorts a partition's inputs like the program's inputs they come from (through a quantize), then
/// in order of definition.
class InputOrder {
 public:
  explicit InputOrder(const Graph& graph) {
    for (size_t i = 0; i < graph.inputs().size(); ++i)
      index_[graph.inputs()[i]] = i;
  }
  std::pair<size_t, uint32_t> key(const Value& v) const {
    const Value* source = &v;
    if (v.def() != nullptr && is_quantize(*v.def())) source = v.def()->operand(0);
    if (const auto it = index_.find(source); it != index_.end()) return {it->second, 0};
    return {index_.size(), v.def() == nullptr ? 0 : v.def()->order()};
  }

 private:
  std::unordered_map<const Value*, size_t> index_;
};

/// Position of the first program output that a value gives, directly or through a dequantize.
size_t output_position(const Value& v, const Node& return_node) {
  size_t position = SIZE_MAX;
  for (const Use* use = v.first_use(); use != nullptr; use = use->next()) {
    if (&use->user() == &return_node) {
      position = std::min(position, static_cast<size_t>(use->index()));
    } else if (is_dequantize(use->user())) {
      position = std::min(position, output_position(use->user().result(), return_node));
    }
  }
  return position;
}

std::vector<Part> collect(Graph& graph, std::span<const Placement> placements) {
  std::vector<Part> parts;
  std::unordered_map<const Node*, int> part_of;
  for (const Placement& p : placements) {
    if (!p.on_target) continue;
    const auto index = static_cast<size_t>(p.partition);
    if (parts.size() <= index) parts.resize(index + 1);
    parts[index].nodes.push_back(p.node);
    part_of[p.node] = p.partition;
  }
  const auto part = [&](const Node* node) {
    const auto it = part_of.find(node);
    return it == part_of.end() ? -1 : it->second;
  };
  const InputOrder input_order(graph);
  for (size_t i = 0; i < parts.size(); ++i) {
    const int self = static_cast<int>(i);
    std::unordered_set<const Value*> seen;
    for (Node* node : parts[i].nodes) {
      for (const Use& use : node->operands()) {
        Value* v = use.value();
        if (v == nullptr || v->is_constant() || !seen.insert(v).second) continue;
        if (v->def() == nullptr || part(v->def()) != self) parts[i].inputs.push_back(v);
      }
      for (Value& v : node->results()) {
        for (const Use* use = v.first_use(); use != nullptr; use = use->next()) {
          if (part(&use->user()) == self) continue;
          parts[i].outputs.push_back(&v);
          break;
        }
      }
    }
    std::ranges::stable_sort(parts[i].inputs, {}, [&](Value* v) { return input_order.key(*v); });
    std::ranges::stable_sort(parts[i].outputs, {},
                             [&](Value* v) { return output_position(*v, graph.return_node()); });
  }
  return parts;
}

/// Copies the nodes into a new graph and returns it.
Graph& copy_part(Graph& from, const Part& part, std::string_view name) {
  Graph& to = from.module().add_graph(name, Dialect::kAten);
  std::unordered_map<const Value*, Value*> map;
  for (Value* v : part.inputs)
    map[v] = &to.add_input(v->type(), v->name());
  std::vector<Value*> operands;
  std::vector<TensorType> results;
  for (Node* node : part.nodes) {
    operands.clear();
    for (const Use& use : node->operands()) {
      Value* v = use.value();
      if (v != nullptr && v->is_constant() && !map.contains(v)) {
        map[v] = &to.add_constant(*v->constant(), v->type(), v->name());
      }
      operands.push_back(v == nullptr ? nullptr : map.at(v));
    }
    results.clear();
    for (const Value& v : node->results())
      results.push_back(v.type());
    Node& copy = to.insert({.op = &node->op(),
                            .variant = node->variant(),
                            .operands = operands,
                            .segments = node->segments(),
                            .results = results,
                            .attrs = node->attrs(),
                            .loc = node->loc()});
    for (int i = 0; i < copy.num_results(); ++i) {
      copy.result(i).set_name(node->result(i).name());
      map[&node->result(i)] = &copy.result(i);
    }
  }
  std::vector<Value*> outputs;
  for (Value* v : part.outputs)
    outputs.push_back(map.at(v));
  to.set_outputs(outputs);
  return to;
}

/// Values that calls have replaced: parts collected before name the old ones.
using Replaced = std::unordered_map<const Value*, Value*>;

/// TOSA has no 64-bit integers: those that cross the border of a partition, which are indices, are
/// int32 in it and converted on the CPU.
void narrow_border(Graph& graph, Node& call, Graph& callee) {
  const auto narrow = [](const Value& v) { return TensorType{DType::kI32, v.shape(), nullptr}; };
  for (int i = 0; i < call.num_operands(); ++i) {
    Value& v = *call.operand(i);
    if (v.dtype() != DType::kI64) continue;
    graph.set_operand(call, i, converted(graph, v, DType::kI32, &call, call.loc()));
    callee.inputs()[static_cast<size_t>(i)]->set_type(narrow(v));
  }
  for (int i = 0; i < call.num_results(); ++i) {
    Value& v = call.result(i);
    if (v.dtype() != DType::kI64) continue;
    v.set_type(narrow(v));
    callee.output(i)->set_type(narrow(v));
    Value* wide = converted(graph, v, DType::kI64, call.next(), call.loc());
    graph.replace_all_uses(v, *wide);
    graph.set_operand(*wide->def(), 0, &v);
    wide->set_name(v.name());
    v.set_name({});
  }
}

/// Puts a call of `callee` in place of the part's nodes, at the end.
void replace_by_call(Graph& graph, const Part& part, const Graph& callee, Replaced& replaced) {
  std::vector<TensorType> results;
  for (Value* v : part.outputs)
    results.push_back(v->type());
  const NamedAttr attr{"callee", Attr::graph(callee.name())};
  Node& call = graph.insert({.op = &kCallOp,
                             .variant = 0,
                             .operands = part.inputs,
                             .segments = {},
                             .results = results,
                             .attrs = std::span(&attr, 1),
                             .loc = part.nodes.front()->loc()});
  for (size_t i = 0; i < part.outputs.size(); ++i) {
    call.result(static_cast<int>(i)).set_name(part.outputs[i]->name());
    replaced[part.outputs[i]] = &call.result(static_cast<int>(i));
    graph.replace_all_uses(*part.outputs[i], call.result(static_cast<int>(i)));
  }
}

/// The node with effects before each one that has some.
std::unordered_map<const Node*, Node*> effects_before(const Graph& graph) {
  std::unordered_map<const Node*, Node*> before;
  Effects effects(graph.module());
  Node* last = nullptr;
  for (Node& node : graph.nodes()) {
    if (effects.is_pure(node)) continue;
    if (last != nullptr) before.emplace(&node, last);
    last = &node;
  }
  return before;
}

/// Brings what stays into an order in which every call can run at one place: CPU nodes that a
/// partition needs before it, the rest after it. Nodes with effects keep their order.
void order_nodes(Graph& graph) {
  // Depth-first over operands from the outputs gives a topological order in linear time; starting
  // from nodes in list order keeps the program's own order where it is valid.
  std::unordered_map<const Node*, int> state;  // 1: on the stack, 2: placed
  const auto effect_before = effects_before(graph);
  std::vector<Node*> order;
  std::vector<std::pair<Node*, int>> stack;
  const auto visit = [&](Node* root) {
    if (state[root] != 0) return;
    stack.push_back({root, 0});
    state[root] = 1;
    while (!stack.empty()) {
      auto& [node, next] = stack.back();
      if (next > node->num_operands()) {
        state[node] = 2;
        order.push_back(node);
        stack.pop_back();
        continue;
      }
      Node* def = nullptr;
      if (next < node->num_operands()) {
        const Value* v = node->operand(next);
        def = v == nullptr ? nullptr : v->def();
      } else if (const auto it = effect_before.find(node); it != effect_before.end()) {
        def = it->second;
      }
      ++next;
      if (def != nullptr && state[def] == 0) {
        state[def] = 1;
        stack.push_back({def, 0});
      }
    }
  };
  for (Node& node : graph.nodes())
    visit(&node);
  for (Node* node : order)
    graph.move_before(*node, nullptr);
  graph.renumber();
}

}  // namespace

Value* converted(Graph& graph, Value& v, DType dtype, Node* before, Loc loc) {
  const OpVariant op = find_op("aten._to_copy.default");
  Value* operands[] = {&v};
  const TensorType type{dtype, v.shape(), nullptr};
  const NamedAttr attr{"dtype", Attr::dtype(dtype)};
  return &graph
              .insert({.op = op.op,
                       .variant = op.variant,
                       .operands = operands,
                       .segments = {},
                       .results = std::span(&type, 1),
                       .attrs = std::span(&attr, 1),
                       .loc = loc},
                      before)
              .result();
}

Graph& extract(Graph& graph, std::span<Node* const> nodes, std::string_view name) {
  graph.renumber();
  std::vector<Placement> placements;
  for (Node* node : nodes)
    placements.push_back({.node = node, .on_target = true, .partition = 0});
  return copy_part(graph, collect(graph, placements)[0], name);
}

Status outline(Graph& graph, std::span<const Placement> placements) {
  graph.renumber();
  std::vector<Part> parts = collect(graph, placements);
  Replaced replaced;
  for (size_t i = 0; i < parts.size(); ++i) {
    Part& part = parts[i];
    for (Value*& v : part.inputs) {
      if (const auto it = replaced.find(v); it != replaced.end()) v = it->second;
    }
    Graph& callee = copy_part(graph, part, graph.module().intern(fmt::format("part{}", i)));
    replace_by_call(graph, part, callee, replaced);
    for (auto it = part.nodes.rbegin(); it != part.nodes.rend(); ++it)
      graph.erase(**it);
  }
  for (Node* node = graph.first(); node != nullptr; node = node->next()) {
    if (!node->is(kCallOp)) continue;
    narrow_border(graph, *node, *graph.module().find_graph(node->attr("callee")->as_string()));
  }
  order_nodes(graph);
  graph.set_dialect(Dialect::kMixed);
  return ok();
}

}  // namespace tosaic
