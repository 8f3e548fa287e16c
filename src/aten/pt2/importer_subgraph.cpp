// SPDX-License-Identifier: Apache-2.0
// torch.no_grad() in forward() makes a node that holds a graph:
//
//   y = wrap_with_set_grad_enabled(False, graph, x, w)
//
// Gradients do not matter here, so the graph's nodes are read in the node's place. Its names are
// its own, though usually the same; its tensors are those of the program around it.
#include "aten/pt2/importer.h"

namespace tosaic::aten::pt2 {
namespace {

/// Programs nest a few graphs; a damaged one may nest any number.
constexpr int kMaxDepth = 16;

/// The name of an argument that is a tensor.
std::optional<std::string_view> tensor_name(const Union& argument) {
  if (argument.kind != "as_tensor") return std::nullopt;
  return string_at(argument.value, "name");
}

}  // namespace

/// Gives the tensors that are passed the names that the graph calls them by.
Status Importer::bind_subgraph(const Json& graph, std::span<const Union> arguments,
                               TensorTable::Names& names) {
  const auto inputs = member_as<JsonArray>(graph, "inputs");
  if (!inputs) return error(Code::kJson, "its graph lacks a list of inputs");
  size_t place = 0;
  for (const Json input : *inputs) {
    const auto u = union_of(input);
    const size_t at = place++;
    if (at >= arguments.size()) break;
    const auto inner = u ? tensor_name(*u) : std::nullopt;
    const auto outer = tensor_name(arguments[at]);
    if (inner.has_value() != outer.has_value()) {
      return error(Code::kPt2Content, "argument {} of its graph is of another kind", at);
    }
    if (!inner) continue;  // a size, which has one name everywhere
    Tensor* tensor = tensors_.find(*outer);
    if (tensor == nullptr) {
      return error(Code::kPt2Content, "\"{}\" is used before it is defined", *outer);
    }
    names.emplace(*inner, tensor);
  }
  if (place == arguments.size()) return ok();
  return error(Code::kPt2Content, "its graph has {} inputs and is given {}", place,
               arguments.size());
}

Status Importer::read_subgraph(const Json& node, const JsonArray& inputs) {
  std::optional<Json> graph;
  std::vector<Union> arguments;
  for (const Json input : inputs) {
    const auto u = union_of(member(input, "arg"));
    if (!u) return error(Code::kJson, "an input has no kind");
    if (graph) arguments.push_back(*u);
    if (u->kind == "as_graph" && !graph) graph = member(u->value, "graph");
  }
  const auto nodes = value_as<JsonArray>(member(graph, "nodes"));
  const auto results = value_as<JsonArray>(member(graph, "outputs"));
  if (!nodes || !results) return error(Code::kJson, "it lacks a graph with nodes and outputs");
  if (++depth_ > kMaxDepth)
    return error(Code::kPt2Content, "more than {} nested graphs", kMaxDepth);

  TensorTable::Names inside;
  TOSAIC_CHECK_OK(bind_subgraph(*graph, arguments, inside));
  TensorTable::Names around = tensors_.exchange_names(std::move(inside));
  auto metas = std::exchange(metas_, {});
  auto uses = std::exchange(uses_, LastUses());
  TOSAIC_CHECK_OK(read_tables(*graph));
  for (const Json inner : *nodes)
    TOSAIC_CHECK_OK(read_node(inner, 0));
  std::vector<Tensor*> made;
  for (const Json result : *results) {
    const auto u = union_of(result);
    const auto name = u ? tensor_name(*u) : std::nullopt;
    if (!name) continue;
    made.push_back(tensors_.find(*name));
    if (made.back() != nullptr) continue;
    return error(Code::kPt2Content, "its graph gives \"{}\", which nothing defines", *name);
  }
  tensors_.exchange_names(std::move(around));
  metas_ = std::move(metas);
  uses_ = std::move(uses);
  --depth_;

  TOSAIC_TRY(const auto names, output_names(node));
  if (names.size() != made.size()) {
    return error(Code::kPt2Content, "it has {} results, its graph {}", names.size(), made.size());
  }
  for (size_t i = 0; i < made.size(); ++i) {
    if (tensors_.add_name(names[i], *made[i])) continue;
    return error(Code::kPt2Content, "two values are called \"{}\"", names[i]);
  }
  return ok();
}

}  // namespace tosaic::aten::pt2
