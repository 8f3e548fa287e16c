// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops/variables.h"

#include <algorithm>
#include <unordered_set>

#include "ir/effects.h"
#include "ir/verify.h"
#include "tosa/op.h"

namespace tosaic::tosa {
namespace {

Status at_node(Status status, const Node& node) {
  if (status) return status;
  return std::move(status).error().at(resolve(node.loc()));
}

bool has_types(const TensorType& a, const TensorType& b) {
  return a.dtype == b.dtype && a.shape == b.shape;
}

Status check_arity(const Node& node, int num_operands, int num_results) {
  if (node.num_operands() == num_operands && node.num_results() == num_results) return ok();
  return node_error(Code::kVerifyArity, node, "has {} operands and {} results, and needs {} and {}",
                    node.num_operands(), node.num_results(), num_operands, num_results);
}

Status check_attributes(const Node& node) {
  TOSAIC_CHECK_OK(at_node(check_attrs(node.op(), node.attrs()), node));
  if (!variable_name(node).empty()) return ok();
  return node_error(Code::kVerifyAttributes, node, "name is empty");
}

Status verify_variable(const Node& node) {
  TOSAIC_CHECK_OK(check_arity(node, 1, 0));
  TOSAIC_CHECK_OK(check_attributes(node));
  if (node.attr("var_shape")->as_ints().size() > static_cast<size_t>(Level().max_rank)) {
    return node_error(Code::kVerifyLevel, node, "var_shape has rank {}, and the level allows {}",
                      node.attr("var_shape")->as_ints().size(), Level().max_rank);
  }
  for (const int64_t size : node.attr("var_shape")->as_ints()) {
    if (size < 1) {
      return node_error(Code::kVerifyRank, node, "var_shape has size {}, and TOSA needs 1 or more",
                        size);
    }
  }
  const TensorType type = variable_type(node);
  const auto& signatures = spec(node.op()).signatures;
  if (std::ranges::none_of(signatures,
                           [&](const Signature& s) { return s.types[0] == type.dtype; })) {
    return node_error(Code::kVerifySignature, node, "there is no variable of type {}",
                      dtype_name(type.dtype));
  }
  TOSAIC_CHECK_OK(at_node(check_level(node.op(), "var_shape", type), node));
  const Value* initial = node.operand(0);
  if (initial == nullptr) return ok();
  if (!initial->is_constant()) {
    return node_error(Code::kVerifyConstant, node, "operand initial_value must be a constant");
  }
  if (has_types(initial->type(), type)) return ok();
  return node_error(Code::kVerifyVariable, node, "variable \"{}\" is {}, and its initial value {}",
                    variable_name(node), to_string(type), to_string(initial->type()));
}

Status verify_read(const Node& node) {
  TOSAIC_CHECK_OK(check_arity(node, 0, 1));
  return check_attributes(node);
}

Status verify_write(const Node& node) {
  TOSAIC_CHECK_OK(check_arity(node, 1, 0));
  if (node.operand(0) == nullptr) {
    return node_error(Code::kVerifyArity, node, "operand input1 is missing");
  }
  return check_attributes(node);
}

/// The declared type is that of what is read and written.
Status check_access(const Node& node,
                    const std::unordered_map<std::string_view, const Node*>& declared) {
  const std::string_view name = variable_name(node);
  const auto it = declared.find(name);
  if (it == declared.end()) {
    return node_error(Code::kVerifyVariable, node, "there is no variable \"{}\"", name);
  }
  const TensorType wanted = variable_type(*it->second);
  const TensorType& type = node.is(variable_read) ? node.result().type() : node.operand(0)->type();
  if (has_types(type, wanted)) return ok();
  return node_error(Code::kVerifyVariable, node, "variable \"{}\" is {}, and {} is {}", name,
                    to_string(wanted), to_string(type),
                    node.is(variable_read) ? "read" : "written");
}

std::unordered_set<const Graph*> named_graphs(const Module& module) {
  std::unordered_set<const Graph*> named;
  for (const auto& graph : module.graphs()) {
    for (const Node& node : graph->nodes()) {
      for (const NamedAttr& attr : node.attrs()) {
        if (attr.value.kind() == Attr::Kind::kGraph) {
          named.insert(module.find_graph(attr.value.as_string()));
        }
      }
    }
  }
  return named;
}

/// A declaration is made once in a run and before all else that has effects: so no order of graphs
/// has to be thought about.
Status verify_variables(const Module& module, const CallDepths&) {
  const auto declared = find_variables(module);
  const auto named = named_graphs(module);
  Effects effects(module);
  for (const auto& graph : module.graphs()) {
    bool any_effect = false;
    for (const Node& node : graph->nodes()) {
      if (!node.is(variable)) {
        any_effect = any_effect || !effects.is_pure(node);
        if (is_of_variable(node)) TOSAIC_CHECK_OK(check_access(node, declared));
        continue;
      }
      const std::string_view name = variable_name(node);
      if (declared.at(name) != &node) {
        return node_error(Code::kVerifyVariable, node, "variable \"{}\" is declared twice", name);
      }
      if (named.contains(graph.get())) {
        return node_error(Code::kVerifyVariable, node,
                          "variable \"{}\" is declared in graph @{}, which another graph runs",
                          name, graph->name());
      }
      if (any_effect) {
        return node_error(Code::kVerifyVariable, node,
                          "variable \"{}\" must be declared before nodes that have effects", name);
      }
    }
  }
  return ok();
}

constexpr DialectHooks hooks(Status (*verify)(const Node&)) {
  return {.variant_name = [](const OpDef& op, int v) { return kTosaHooks.variant_name(op, v); },
          .num_variants = [](const OpDef&) { return 1; },
          .verify = verify,
          .verify_module = verify_variables};
}
constexpr DialectHooks kVariableHooks = hooks(verify_variable);
constexpr DialectHooks kReadHooks = hooks(verify_read);
constexpr DialectHooks kWriteHooks = hooks(verify_write);

constexpr FieldList with_name(std::initializer_list<AttrField> others) {
  FieldList list;
  list.fields[list.count++] = {"name", FieldKind::kString};
  for (const AttrField& field : others)
    list.fields[list.count++] = field;
  return list;
}

constexpr Signature kTypes[] = {
    {Feature::kVariable, {DType::kI8}},
    {Feature::kVariable, {DType::kF16}},
    {Feature::kVariable, {DType::kF32}},
};

Feature profile(DType dtype) {
  return dtype == DType::kI8 ? Feature::kInt : Feature::kFp;
}

constexpr OpSpec kVariableSpec = {
    .number = 72,
    .operands = {{"initial_value", 0, true}},
    .signatures = kTypes,
    .attrs = with_name({{"var_shape", FieldKind::kInts32}, {"type", FieldKind::kDType}}),
    .needs = [](const Node& node) { return profile(node.attr("type")->as_dtype()); },
};
constexpr OpSpec kWriteSpec = {
    .number = 73,
    .operands = {{"input1", 0}},
    .signatures = kTypes,
    .attrs = with_name({}),
    .needs = [](const Node& node) { return profile(node.operand(0)->dtype()); },
};
constexpr OpSpec kReadSpec = {
    .number = 74,
    .results = {{"output1", 0}},
    .signatures = kTypes,
    .attrs = with_name({}),
    .needs = [](const Node& node) { return profile(node.result().dtype()); },
};

}  // namespace

// A declaration writes the initial value, so it stays and nothing goes before it.
constinit const OpDef variable{std::string_view("tosa.variable").substr(5), Dialect::kTosa,
                               &kVariableHooks, &kVariableSpec, Effect::kWrites};
constinit const OpDef variable_read{std::string_view("tosa.variable_read").substr(5),
                                    Dialect::kTosa, &kReadHooks, &kReadSpec, Effect::kReads};
constinit const OpDef variable_write{std::string_view("tosa.variable_write").substr(5),
                                     Dialect::kTosa, &kWriteHooks, &kWriteSpec, Effect::kWrites};
TOSAIC_REGISTER_OP(variable);
TOSAIC_REGISTER_OP(variable_read);
TOSAIC_REGISTER_OP(variable_write);

bool is_of_variable(const Node& node) {
  return node.is(variable) || node.is(variable_read) || node.is(variable_write);
}

std::string_view variable_name(const Node& node) {
  return node.attr("name")->as_string();
}

TensorType variable_type(const Node& declaration) {
  return {declaration.attr("type")->as_dtype(), Shape(declaration.attr("var_shape")->as_ints()),
          nullptr};
}

std::unordered_map<std::string_view, const Node*> find_variables(const Module& module) {
  std::unordered_map<std::string_view, const Node*> declared;
  for (const auto& graph : module.graphs()) {
    for (const Node& node : graph->nodes()) {
      if (node.is(variable)) declared.try_emplace(variable_name(node), &node);
    }
  }
  return declared;
}

}  // namespace tosaic::tosa
