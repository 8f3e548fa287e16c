// SPDX-License-Identifier: Apache-2.0
// The rules that hold for every dialect; what concerns one operator is checked by the hook of its
// dialect.
#include "ir/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/text.h"

namespace tosaic {
namespace {

/// A rule of a graph that no node breaks.
template <typename... Args>
Diagnostic graph_error(Code code, const Graph& graph, fmt::format_string<Args...> format,
                       Args&&... args) {
  return error(code, "graph @{}: {}", graph.name(),
               fmt::format(format, std::forward<Args>(args)...));
}

std::string shown_name(const Value& value) {
  return value.name().empty() ? std::string("a value") : fmt::format("%{}", value.name());
}

/// What is wrong with the parameters of a type, or "".
std::string quant_problem(const TensorType& type) {
  const Quant& q = *type.quant;
  if (!is_integer(type.dtype) || type.dtype == DType::kU64) {
    return fmt::format("{} is no type of quantised values", dtype_name(type.dtype));
  }
  if (q.scales.empty() || q.scales.size() != q.zero_points.size()) {
    return fmt::format("{} scales and {} zero points", q.scales.size(), q.zero_points.size());
  }
  if (q.per_tensor() && q.scales.size() != 1) {
    return fmt::format("{} scales without an axis", q.scales.size());
  }
  if (!q.per_tensor()) {
    if (q.axis >= type.shape.rank()) {
      return fmt::format("axis {} of a tensor of rank {}", q.axis, type.shape.rank());
    }
    const int64_t size = type.shape[q.axis];
    if (size >= 0 && static_cast<uint64_t>(size) != q.scales.size()) {
      return fmt::format("{} scales for an axis of size {}", q.scales.size(), size);
    }
  }
  const int64_t least = integer_min(type.dtype);
  const int64_t greatest = integer_max(type.dtype);
  if (q.qmin < least || q.qmax > greatest || q.qmin >= q.qmax) {
    return fmt::format("range {} to {}, allowed are increasing limits within {} to {}", q.qmin,
                       q.qmax, least, greatest);
  }
  for (double scale : q.scales) {
    if (!std::isfinite(scale) || scale <= 0) {
      return fmt::format("scale {} is not finite and positive", scale);
    }
  }
  for (int32_t zero_point : q.zero_points) {
    if (zero_point < least || zero_point > greatest) {
      return fmt::format("zero point {} is outside {} to {}", zero_point, least, greatest);
    }
  }
  return {};
}

/// What is wrong with the data of a constant of that type, or "".
std::string constant_problem(const Constant& constant, const TensorType& type) {
  if (constant.dtype != type.dtype || constant.shape != type.shape) {
    return fmt::format("its data are {}, its type is {}",
                       to_string(TensorType{constant.dtype, constant.shape, nullptr}),
                       to_string(type));
  }
  if (!constant.shape.is_static()) return "its sizes are symbolic";
  if (element_bytes(constant.dtype) == 0 || element_bytes(constant.stored_dtype) == 0) {
    return "its element type is not known";
  }
  if (constant.data == nullptr && constant.shape.num_elements() > 0) return "it has no data";
  const ConstantStage* stage = constant.stage;
  if (stage == nullptr) {
    if (constant.dtype == constant.stored_dtype) return {};
    return fmt::format("its bytes are {} and nothing converts them to {}",
                       dtype_name(constant.stored_dtype), dtype_name(constant.dtype));
  }
  if (!is_float(constant.stored_dtype)) {
    return fmt::format("a stage applies to floats, its bytes are {}",
                       dtype_name(constant.stored_dtype));
  }
  if (!stage->scales.empty()) {
    if (stage->axis < 0 || stage->axis >= constant.shape.rank()) {
      return fmt::format("its stage scales axis {} of rank {}", stage->axis, constant.shape.rank());
    }
    if (stage->scales.size() != static_cast<uint64_t>(constant.shape[stage->axis])) {
      return fmt::format("its stage has {} scales for an axis of size {}", stage->scales.size(),
                         constant.shape[stage->axis]);
    }
  }
  if (stage->quant == nullptr) return {};
  return quant_problem({constant.dtype, constant.shape, stage->quant});
}

class GraphVerifier {
 public:
  explicit GraphVerifier(const Graph& graph) : graph_(graph) {}

  Status run() {
    TOSAIC_CHECK_OK(inputs());
    TOSAIC_CHECK_OK(constants());
    defined_.reserve(graph_.num_nodes());
    for (const Node& n : graph_.nodes()) {
      Status status = node(n);
      if (!status) return std::move(status).error().with_note("node: " + print(n));
      defined_.insert(&n);
    }
    Status status = returned(graph_.return_node());
    if (!status) {
      return std::move(status).error().with_note("node: " + print(graph_.return_node()));
    }
    return ok();
  }

 private:
  Status inputs() {
    for (const Value* input : graph_.inputs()) {
      inputs_.insert(input);
      if (input->quant() == nullptr) continue;
      if (const std::string problem = quant_problem(input->type()); !problem.empty()) {
        return graph_error(Code::kVerifyQuant, graph_, "input {}: {}", shown_name(*input), problem);
      }
    }
    return ok();
  }

  Status constants() {
    for (const Value* value : graph_.constants()) {
      constants_.insert(value);
      std::string problem = constant_problem(*value->constant(), value->type());
      if (!problem.empty()) {
        return graph_error(Code::kVerifyConstantData, graph_, "constant {}: {}", shown_name(*value),
                           problem);
      }
      if (value->quant() == nullptr) continue;
      problem = quant_problem(value->type());
      if (!problem.empty()) {
        return graph_error(Code::kVerifyQuant, graph_, "constant {}: {}", shown_name(*value),
                           problem);
      }
    }
    return ok();
  }

  Status operands_are_defined(const Node& node) {
    for (int i = 0; i < node.num_operands(); ++i) {
      const Value* value = node.operand(i);
      if (value == nullptr) continue;
      if (&value->graph() != &graph_) {
        return node_error(Code::kVerifyDominance, node, "operand {} belongs to another graph", i);
      }
      const bool is_defined = value->def() != nullptr ? defined_.contains(value->def())
                              : value->is_constant()  ? constants_.contains(value)
                                                      : inputs_.contains(value);
      if (!is_defined) {
        return node_error(Code::kVerifyDominance, node,
                          "operand {}, {}, is not defined before this node", i, shown_name(*value));
      }
    }
    return ok();
  }

  Status operand_groups(const Node& node) {
    if (node.segments().empty()) return ok();
    int64_t count = 0;
    for (int16_t segment : node.segments())
      count += segment < 0 ? 1 : segment;
    if (count == node.num_operands()) return ok();
    return node_error(Code::kVerifyArity, node, "operand groups hold {} values, operands are {}",
                      count, node.num_operands());
  }

  Status node(const Node& node) {
    const Dialect dialect = node.op().dialect;
    if (dialect != Dialect::kBuiltin && dialect != graph_.dialect() &&
        graph_.dialect() != Dialect::kMixed) {
      return node_error(Code::kVerifyDialect, node,
                        "a node of dialect {} in graph @{} of dialect {}", dialect_name(dialect),
                        graph_.name(), dialect_name(graph_.dialect()));
    }
    TOSAIC_CHECK_OK(operands_are_defined(node));
    TOSAIC_CHECK_OK(operand_groups(node));
    TOSAIC_CHECK_OK(attributes(node));
    for (int i = 0; i < node.num_results(); ++i) {
      if (node.result(i).quant() == nullptr) continue;
      const std::string problem = quant_problem(node.result(i).type());
      if (!problem.empty()) {
        return node_error(Code::kVerifyQuant, node, "result {}: {}", i, problem);
      }
    }
    if (node.is(kCallOp)) return call(node);
    return node.op().hooks->verify(node);
  }

  Status attributes(const Node& node) {
    const AttrList attrs = node.attrs();
    for (size_t i = 0; i < attrs.size(); ++i) {
      if (find_attr(attrs, attrs[i].name) != &attrs[i].value) {
        return node_error(Code::kVerifyAttributes, node, "attribute {} is given twice",
                          attrs[i].name);
      }
      if (attrs[i].value.kind() != Attr::Kind::kGraph) continue;
      const std::string_view callee = attrs[i].value.as_string();
      if (graph_.module().find_graph(callee) == nullptr) {
        return node_error(Code::kVerifyCall, node,
                          "attribute {} names graph @{}, which does not "
                          "exist",
                          attrs[i].name, callee);
      }
    }
    return ok();
  }

  Status call(const Node& node) {
    const Attr* attr = node.attr("callee");
    if (attr == nullptr || attr->kind() != Attr::Kind::kGraph || node.attrs().size() != 1) {
      return node_error(Code::kVerifyAttributes, node,
                        "needs one attribute, callee, that names a graph");
    }
    const Graph& callee = *graph_.module().find_graph(attr->as_string());
    const auto inputs = callee.inputs();
    if (static_cast<size_t>(node.num_operands()) != inputs.size() ||
        node.num_results() != callee.num_outputs()) {
      return node_error(Code::kVerifyCall, node,
                        "{} operands and {} results, graph @{} has {} inputs and {} outputs",
                        node.num_operands(), node.num_results(), callee.name(), inputs.size(),
                        callee.num_outputs());
    }
    for (int i = 0; i < node.num_operands(); ++i) {
      const Value* operand = node.operand(i);
      const TensorType& wanted = inputs[static_cast<size_t>(i)]->type();
      if (operand == nullptr || operand->type() != wanted) {
        return node_error(Code::kVerifyCall, node, "operand {} is {}, graph @{} takes {}", i,
                          operand == nullptr ? "absent" : to_string(operand->type()), callee.name(),
                          to_string(wanted));
      }
    }
    for (int i = 0; i < node.num_results(); ++i) {
      const Value* output = callee.output(i);
      if (output == nullptr || output->type() != node.result(i).type()) {
        return node_error(Code::kVerifyCall, node, "result {} is {}, graph @{} returns {}", i,
                          to_string(node.result(i).type()), callee.name(),
                          output == nullptr ? "nothing" : to_string(output->type()));
      }
    }
    return ok();
  }

  Status returned(const Node& node) {
    TOSAIC_CHECK_OK(operands_are_defined(node));
    for (int i = 0; i < node.num_operands(); ++i) {
      if (node.operand(i) == nullptr) {
        return node_error(Code::kVerifyArity, node, "output {} is absent", i);
      }
    }
    return ok();
  }

  const Graph& graph_;
  std::unordered_set<const Value*> inputs_;
  std::unordered_set<const Value*> constants_;
  std::unordered_set<const Node*> defined_;
};

/// Graphs that a graph's attributes name.
std::vector<const Graph*> callees(const Graph& graph) {
  std::vector<const Graph*> result;
  for (const Node& node : graph.nodes()) {
    for (const NamedAttr& attr : node.attrs()) {
      if (attr.value.kind() != Attr::Kind::kGraph) continue;
      if (const Graph* callee = graph.module().find_graph(attr.value.as_string())) {
        result.push_back(callee);
      }
    }
  }
  return result;
}

/// How deep each graph is called. No graph calls itself, by whatever way: graphs that nobody calls
/// any more are taken away until none is left.
Expected<CallDepths> call_depths(const Module& module) {
  std::unordered_map<const Graph*, size_t> num_callers;
  std::unordered_map<const Graph*, std::vector<const Graph*>> calls;
  for (const auto& graph : module.graphs()) {
    num_callers.emplace(graph.get(), 0);
    calls.emplace(graph.get(), callees(*graph));
  }
  for (const auto& [graph, list] : calls) {
    for (const Graph* callee : list)
      ++num_callers[callee];
  }
  std::vector<const Graph*> ready;
  for (const auto& [graph, count] : num_callers) {
    if (count == 0) ready.push_back(graph);
  }
  size_t num_done = 0;
  CallDepths depths;  // the longest way from a graph without callers
  while (!ready.empty()) {
    const Graph* graph = ready.back();
    ready.pop_back();
    ++num_done;
    const size_t depth = depths[graph];
    for (const Graph* callee : calls[graph]) {
      depths[callee] = std::max(depths[callee], depth + 1);
      if (--num_callers[callee] == 0) ready.push_back(callee);
    }
  }
  if (num_done == num_callers.size()) return depths;
  for (const auto& graph : module.graphs()) {
    if (num_callers[graph.get()] > 0) {
      return graph_error(Code::kVerifyCall, *graph, "is part of a cycle of calls");
    }
  }
  return depths;
}

/// What dialects ask of the graphs together.
Status graphs_agree(const Module& module, const CallDepths& depths) {
  std::unordered_set<decltype(DialectHooks::verify_module)> done = {nullptr};
  for (const auto& graph : module.graphs()) {
    for (const Node& node : graph->nodes()) {
      const auto rule = node.op().hooks->verify_module;
      if (done.insert(rule).second) TOSAIC_CHECK_OK(rule(module, depths));
    }
  }
  return ok();
}

}  // namespace

Status verify(const Graph& graph) {
  return GraphVerifier(graph).run();
}

Status verify(const Module& module) {
  for (const auto& graph : module.graphs())
    TOSAIC_CHECK_OK(verify(*graph));
  TOSAIC_TRY(const CallDepths depths, call_depths(module));
  return graphs_agree(module, depths);
}

}  // namespace tosaic
