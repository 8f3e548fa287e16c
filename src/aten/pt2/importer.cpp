// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/importer.h"

#include "aten/pt2/location.h"

namespace tosaic::aten::pt2 {

Importer::Importer(const Archive& archive, const Json& root, TensorStore weights,
                   TensorStore constants, Module& module, std::span<const InputSizes> sizes)
    : archive_(archive),
      root_(root),
      weights_(std::move(weights)),
      constants_(std::move(constants)),
      module_(module),
      graph_(module.add_graph("main", Dialect::kAten)),
      sizes_(sizes) {}

Status Importer::run() {
  const auto program = member(root_, "graph_module");
  const auto graph = member(program, "graph");
  const auto signature = member(program, "signature");
  const auto nodes = value_as<JsonArray>(member(graph, "nodes"));
  const auto inputs = value_as<JsonArray>(member(signature, "input_specs"));
  const auto outputs = value_as<JsonArray>(member(signature, "output_specs"));
  if (!nodes || !inputs || !outputs) {
    return error(Code::kJson,
                 "the program lacks graph.nodes, signature.input_specs or signature.output_specs");
  }
  nodes_ = *nodes;
  output_specs_ = *outputs;
  TOSAIC_CHECK_OK(read_tables(*graph));
  TOSAIC_CHECK_OK(bind_sizes(*inputs));
  TOSAIC_CHECK_OK(read_inputs(*inputs));
  int index = 0;
  for (const Json node : nodes_)
    TOSAIC_CHECK_OK(read_node(node, index++));
  return read_outputs(output_specs_);
}

Status Importer::read_tables(const Json& graph) {
  const auto tensors = value_as<JsonObject>(member(graph, "tensor_values"));
  if (!tensors) return error(Code::kJson, "the program lacks graph.tensor_values");
  metas_.reserve(tensors->size());
  tensors_.reserve(tensors->size());
  for (const auto field : *tensors)
    metas_.emplace(field.key, field.value);
  if (const auto sizes = value_as<JsonObject>(member(graph, "sym_int_values"))) {
    for (const auto field : *sizes)
      sym_ints_.emplace(field.key, field.value);
  }
  return ok();
}

Status Importer::read_inputs(const JsonArray& specs) {
  for (const Json spec : specs) {
    const auto u = union_of(spec);
    if (!u) return error(Code::kJson, "an entry of signature.input_specs has no kind");
    if (u->kind == "user_input") {
      TOSAIC_CHECK_OK(read_user_input(u->value));
    } else if (u->kind == "parameter" || u->kind == "buffer" || u->kind == "tensor_constant") {
      TOSAIC_CHECK_OK(read_stored_input(*u));
    }
    // The rest (constant_input, custom_obj, token) is no tensor: the values of constant inputs
    // stand in the nodes, and what uses a custom object has no row.
  }
  return ok();
}

Status Importer::read_stored_input(const Union& spec) {
  const auto argument = member(spec.value, "arg");
  const auto name = argument ? string_at(*argument, "name") : std::nullopt;
  Tensor tensor;
  std::string_view key = "tensor_constant_name";
  tensor.origin = Origin::kConstant;
  tensor.persistent = false;
  if (spec.kind == "parameter") {
    key = "parameter_name";
    tensor.origin = Origin::kParameter;
    tensor.persistent = true;
  } else if (spec.kind == "buffer") {
    key = "buffer_name";
    tensor.origin = Origin::kBuffer;
    tensor.persistent = member_as<bool>(spec.value, "persistent").value_or(true);
  }
  const auto stored = string_at(spec.value, key);
  if (!name || !stored) return error(Code::kJson, "an input of kind {} lacks a name", spec.kind);
  tensor.stored = *stored;
  if (!tensors_.add(*name, tensor)) {
    return error(Code::kPt2Content, "two values are called \"{}\"", *name);
  }
  return ok();
}

Status Importer::read_user_input(const Json& spec) {
  const auto u = union_of(member(spec, "arg"));
  if (!u) return error(Code::kJson, "a user input has no argument");
  if (u->kind != "as_tensor") {
    if (!u->kind.starts_with("as_sym_") && u->kind != "as_custom_obj") return ok();  // a constant
    return error(Code::kUnsupportedFeature, "an input of the program is {}, not a tensor",
                 u->kind.substr(3))
        .with_hint("pass the number as a tensor, or export with a fixed value");
  }
  const auto name = string_at(u->value, "name");
  if (!name) return error(Code::kJson, "a user input has no name");
  TOSAIC_TRY(const TensorType type, type_of(*name));
  Tensor tensor;
  tensor.origin = Origin::kInput;
  tensor.value = &graph_.add_input(type, *name);
  if (!tensors_.add(*name, tensor)) {
    return error(Code::kPt2Content, "two values are called \"{}\"", *name);
  }
  return ok();
}

Status Importer::read_outputs(const JsonArray& specs) {
  std::vector<Value*> outputs;
  for (const Json spec : specs) {
    const auto u = union_of(spec);
    if (!u) return error(Code::kJson, "an entry of signature.output_specs has no kind");
    if (u->kind == "user_output" || u->kind == "loss_output") {
      TOSAIC_CHECK_OK(read_user_output(u->value, outputs));
    } else if (u->kind == "buffer_mutation" || u->kind == "parameter_mutation") {
      const bool buffer = u->kind == "buffer_mutation";
      return error(Code::kUnsupportedFeature, "mutable {} \"{}\": the program changes it",
                   buffer ? "buffer" : "parameter",
                   string_at(u->value, buffer ? "buffer_name" : "parameter_name").value_or("?"))
          .with_hint(
              "call model.eval() before the export, or make the state an input and an output");
    } else if (u->kind != "user_input_mutation" && u->kind != "token") {
      return error(Code::kUnsupportedFeature, "an output of kind {} is not supported", u->kind)
          .with_hint("export the forward function only");
    }
    // What a program leaves in its inputs is not visible in a compiled one.
  }
  graph_.set_outputs(outputs);
  return ok();
}

Status Importer::read_user_output(const Json& spec, std::vector<Value*>& outputs) {
  const auto u = union_of(member(spec, "arg"));
  if (!u) return error(Code::kJson, "a user output has no argument");
  if (u->kind == "as_tensor") {
    const auto name = string_at(u->value, "name");
    if (!name) return error(Code::kJson, "a user output has no name");
    TOSAIC_TRY(Value * value, value_of(*name));
    outputs.push_back(value);
    return ok();
  }
  if (u->kind == "as_sym_int") {
    const auto name = string_at(u->value, "as_name");
    if (name && !sym_int(*name).value) return symbolic_size_error(sym_int(*name).expression);
  } else if (u->kind.starts_with("as_sym_") || u->kind == "as_custom_obj") {
    return error(Code::kUnsupportedFeature, "an output of the program is {}, not a tensor",
                 u->kind.substr(3));
  }
  return ok();  // a constant of Python, known before the program runs
}

Expected<TensorType> Importer::type_of(std::string_view name) {
  const auto it = metas_.find(name);
  if (it == metas_.end()) {
    return error(Code::kPt2Content, "tensor \"{}\" has no entry in graph.tensor_values", name);
  }
  Expected<TensorType> type = parse_type(it->second, &symbols_);
  if (!type) {
    type.error().message = fmt::format("tensor \"{}\": {}", name, type.error().message);
  }
  return type;
}

Expected<Value*> Importer::value_of(std::string_view name) {
  Tensor* tensor = tensors_.find(name);
  if (tensor == nullptr) {
    return error(Code::kPt2Content, "\"{}\" is used before it is defined", name);
  }
  tensors_.refresh(*tensor);
  if (tensor->value == nullptr) {
    TensorStore& store = tensor->persistent ? weights_ : constants_;
    TOSAIC_TRY(const Constant* constant, store.load(tensor->stored, module_));
    tensor->value = &graph_.add_constant(
        *constant, TensorType{constant->dtype, constant->shape, nullptr}, tensor->name);
  }
  return tensor->value;
}

Importer::SymInt Importer::sym_int(std::string_view name) const {
  const auto it = sym_ints_.find(name);
  const auto u = it == sym_ints_.end() ? std::nullopt : union_of(it->second);
  if (!u) return {std::nullopt, name};
  if (u->kind == "as_int") return {value_as<int64_t>(u->value), name};
  const std::string_view expression = string_at(u->value, "expr_str").value_or(name);
  const auto value = evaluate_size(expression, symbols_.values());
  return {value ? *value : std::nullopt, expression};
}

Diagnostic Importer::symbolic_size_error(std::string_view expression) const {
  const std::string_view symbol = symbol_name(expression);
  std::string where;
  for (const Value* input : graph_.inputs()) {
    for (int axis = 0; axis < input->shape().rank() && where.empty(); ++axis) {
      const int64_t size = input->shape()[axis];
      if (size < 0 && symbol_name(symbols_.expression(size)) == symbol) {
        where = fmt::format(" of axis {} of input \"{}\"", axis, input->name());
      }
    }
  }
  return error(Code::kDynamicShape, "the size{} is symbolic ({}) where a number is needed", where,
               symbol)
      .with_hint("give the inputs' shapes with --shape, or export without dynamic_shapes");
}

}  // namespace tosaic::aten::pt2
