// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops/control_flow.h"

#include "ir/verify.h"
#include "tosa/op.h"

namespace tosaic::tosa {
namespace {

const Graph& graph_of(const Node& node, std::string_view attribute) {
  return *node.graph().module().find_graph(node.attr(attribute)->as_string());
}

Status check_attributes(const Node& node) {
  const FieldList& fields = spec(node.op()).attrs;
  const AttrList attrs = node.attrs();
  if (attrs.size() != fields.count) {
    return node_error(Code::kVerifyAttributes, node, "has {} attributes and needs {}", attrs.size(),
                      fields.count);
  }
  for (size_t i = 0; i < attrs.size(); ++i) {
    const AttrField& field = fields.fields[i];
    if (attrs[i].name != field.name || attrs[i].value.kind() != Attr::Kind::kGraph) {
      return node_error(Code::kVerifyAttributes, node, "attribute {} must be {} and name a graph",
                        i, field.name);
    }
    if (graph_of(node, field.name).dialect() != Dialect::kTosa) {
      return node_error(Code::kVerifyDialect, node, "{} @{} is no TOSA graph", field.name,
                        attrs[i].value.as_string());
    }
  }
  return ok();
}

bool is_one_bool(const TensorType& type) {
  return type.dtype == DType::kBool && type.shape.is_static() && type.shape.num_elements() == 1;
}

bool is_same(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

Status check_operands(const Node& node) {
  for (const Use& use : node.operands()) {
    if (use.value() == nullptr) {
      return node_error(Code::kVerifyArity, node, "operand {} is missing", use.index());
    }
  }
  return ok();
}

/// The graph takes the operands from `first` on.
Status check_inputs(const Node& node, std::string_view attribute, int first) {
  const Graph& graph = graph_of(node, attribute);
  const auto inputs = graph.inputs();
  if (inputs.size() != static_cast<size_t>(node.num_operands() - first)) {
    return node_error(Code::kVerifyOpRule, node, "{} @{} takes {} inputs, and {} are given",
                      attribute, graph.name(), inputs.size(), node.num_operands() - first);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorType& given = node.operand(static_cast<int>(i) + first)->type();
    if (is_same(given, inputs[i]->type())) continue;
    return node_error(Code::kVerifyOpRule, node, "input {} of {} @{} is {}, and {} is given", i,
                      attribute, graph.name(), to_string(inputs[i]->type()), to_string(given));
  }
  return ok();
}

/// The graph gives the node's results.
Status check_outputs(const Node& node, std::string_view attribute) {
  const Graph& graph = graph_of(node, attribute);
  if (graph.num_outputs() != node.num_results()) {
    return node_error(Code::kVerifyOpRule, node, "{} @{} has {} outputs, and {} are needed",
                      attribute, graph.name(), graph.num_outputs(), node.num_results());
  }
  for (int i = 0; i < node.num_results(); ++i) {
    const Value* output = graph.output(i);
    if (output != nullptr && is_same(output->type(), node.result(i).type())) continue;
    return node_error(Code::kVerifyOpRule, node, "output {} of {} @{} is {}, and must be {}", i,
                      attribute, graph.name(),
                      output == nullptr ? "absent" : to_string(output->type()),
                      to_string(node.result(i).type()));
  }
  return ok();
}

Status verify_cond_if(const Node& node) {
  TOSAIC_CHECK_OK(check_attributes(node));
  TOSAIC_CHECK_OK(check_operands(node));
  if (node.num_operands() == 0) {
    return node_error(Code::kVerifyArity, node, "has no condition");
  }
  if (const TensorType& type = node.operand(0)->type(); !is_one_bool(type)) {
    return node_error(Code::kVerifyOpRule, node, "the condition is {} and must be one bool",
                      to_string(type));
  }
  for (const std::string_view attribute : {"then_graph", "else_graph"}) {
    TOSAIC_CHECK_OK(check_inputs(node, attribute, 1));
    TOSAIC_CHECK_OK(check_outputs(node, attribute));
  }
  return ok();
}

/// The lists of inputs, of what the body takes and gives, and of results are of the same types.
Status verify_while_loop(const Node& node) {
  TOSAIC_CHECK_OK(check_attributes(node));
  TOSAIC_CHECK_OK(check_operands(node));
  TOSAIC_CHECK_OK(check_inputs(node, "cond_graph", 0));
  const Graph& condition = graph_of(node, "cond_graph");
  if (condition.num_outputs() != 1 || condition.output(0) == nullptr ||
      !is_one_bool(condition.output(0)->type())) {
    return node_error(Code::kVerifyOpRule, node, "cond_graph @{} must give one bool",
                      condition.name());
  }
  TOSAIC_CHECK_OK(check_inputs(node, "body_graph", 0));
  TOSAIC_CHECK_OK(check_outputs(node, "body_graph"));
  if (node.num_results() != node.num_operands()) {
    return node_error(Code::kVerifyOpRule, node, "has {} inputs and {} results, as many must be",
                      node.num_operands(), node.num_results());
  }
  for (int i = 0; i < node.num_results(); ++i) {
    if (is_same(node.operand(i)->type(), node.result(i).type())) continue;
    return node_error(Code::kVerifyOpRule, node, "input {} is {}, and the result {}", i,
                      to_string(node.operand(i)->type()), to_string(node.result(i).type()));
  }
  return ok();
}

Status verify_nesting(const Module& module, const CallDepths& depths) {
  constexpr auto kMax = static_cast<size_t>(Level().max_nesting);
  for (const auto& graph : module.graphs()) {
    const size_t depth = depths.at(graph.get());
    if (depth <= kMax) continue;
    return error(Code::kVerifyLevel, "graph @{}: is nested in {} graphs, and {} are allowed",
                 graph->name(), depth, kMax);
  }
  return ok();
}

std::string_view full_name(const OpDef& op, int variant) {
  return kTosaHooks.variant_name(op, variant);
}

int one_variant(const OpDef&) {
  return 1;
}

constexpr DialectHooks kCondIfHooks = {full_name, one_variant, verify_cond_if, verify_nesting};
constexpr DialectHooks kWhileLoopHooks = {full_name, one_variant, verify_while_loop,
                                          verify_nesting};

constexpr FieldList graphs(std::string_view first, std::string_view second) {
  FieldList list;
  list.fields[list.count++] = {first, FieldKind::kGraph};
  list.fields[list.count++] = {second, FieldKind::kGraph};
  return list;
}

constexpr OpSpec kCondIfSpec = {
    .number = 70,
    .operands = {{"condition", kBoolOperand}, {"input_list", kAnyOperand, false, true}},
    .results = {{"output_list", kAnyOperand, false, true}},
    .attrs = graphs("then_graph", "else_graph"),
};
constexpr OpSpec kWhileLoopSpec = {
    .number = 71,
    .operands = {{"input_list", kAnyOperand, false, true}},
    .results = {{"output_list", kAnyOperand, false, true}},
    .attrs = graphs("cond_graph", "body_graph"),
};

}  // namespace

// The names are ends of literals, as TOSAIC_TOSA_OP makes them.
constinit const OpDef cond_if{std::string_view("tosa.cond_if").substr(5), Dialect::kTosa,
                              &kCondIfHooks, &kCondIfSpec};
constinit const OpDef while_loop{std::string_view("tosa.while_loop").substr(5), Dialect::kTosa,
                                 &kWhileLoopHooks, &kWhileLoopSpec};
TOSAIC_REGISTER_OP(cond_if);
TOSAIC_REGISTER_OP(while_loop);

}  // namespace tosaic::tosa
