// SPDX-License-Identifier: Apache-2.0
// One node of a program: which operator and overload, and what its results are to memory.
#include "aten/pt2/importer.h"
#include "aten/pt2/location.h"
#include "aten/row.h"

TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic::aten::pt2 {
namespace {

/// "aten.add.Tensor" for "torch.ops.aten.add.Tensor" and for the names of edge programs.
std::string_view short_target(std::string_view target) {
  for (const std::string_view prefix : {"executorch.exir.dialects.edge._ops.",
                                        "executorch.exir.dialects.edge.ops.", "torch.ops."}) {
    if (target.starts_with(prefix)) return target.substr(prefix.size());
  }
  return target;
}

OpVariant find_row(std::string_view name) {
  const OpVariant found = find_op(name);
  const bool serves =
      found.op != nullptr && found.op->dialect == Dialect::kAten && found.op != &unknown;
  return serves ? found : OpVariant{};
}

/// What is written in place is a tensor: pow_.Scalar has no functional form in pow.Scalar, the
/// power of a number.
bool takes_tensor_first(const OpVariant& op) {
  const Schema& s = schema(*op.op, op.variant);
  return !s.args.empty() && s.args[0].kind == ArgKind::kTensor;
}

/// The argument that an input stands for: by name, or by its place when it has none.
const SchemaArg* argument_of(const Schema& schema, std::string_view name, size_t place) {
  if (!name.empty()) return schema.find(name);
  return place < schema.args.size() ? &schema.args[place] : nullptr;
}

bool is_number(std::string_view kind) {
  return kind == "as_int" || kind == "as_float" || kind == "as_bool" || kind == "as_sym_int";
}

/// The first tensor among the inputs; "" when there is none.
std::string_view first_tensor(const JsonArray& inputs) {
  std::string_view first;
  for (const Json input : inputs) {
    const auto argument = member(input, "arg");
    if (!argument) continue;
    for_each_tensor_name(*argument, [&](std::string_view name) {
      if (first.empty()) first = name;
    });
    if (!first.empty()) break;
  }
  return first;
}

/// The value of dropout's `train` (its third argument when names are missing).
bool trains(const JsonArray& inputs) {
  size_t place = 0;
  for (const Json input : inputs) {
    const std::string_view name = string_at(input, "name").value_or("");
    const auto u = union_of(member(input, "arg"));
    if ((name == "train" || (name.empty() && place == 2)) && u && u->kind == "as_bool") {
      return value_as<bool>(u->value).value_or(true);
    }
    ++place;
  }
  return true;
}

}  // namespace

Status Importer::read_node(const Json& node, int index) {
  const auto full_target = string_at(node, "target");
  if (!full_target) return error(Code::kJson, "a node lacks its target");
  const std::string_view target = short_target(*full_target);
  Status status = read_call(node, target, index);
  if (status) return status;
  Diagnostic d = std::move(status).error();
  d.message = fmt::format("{}: {}", target, d.message);
  if (d.where.file.empty()) d.where = resolve(make_loc(node, module_.arena()));
  return d;
}

Expected<std::vector<std::string_view>> Importer::output_names(const Json& node) {
  const auto outputs = member_as<JsonArray>(node, "outputs");
  if (!outputs) return error(Code::kJson, "it lacks a list of outputs");
  std::vector<std::string_view> names;
  for (const Json output : *outputs) {
    for_each_tensor_name(output, [&](std::string_view name) { names.push_back(name); });
  }
  return names;
}

Status Importer::read_call(const Json& node, std::string_view target, int index) {
  const auto inputs = member_as<JsonArray>(node, "inputs");
  if (!inputs) return error(Code::kJson, "it lacks a list of inputs");
  if (target == "higher_order.wrap_with_set_grad_enabled") return read_subgraph(node, *inputs);
  TOSAIC_TRY(const auto names, output_names(node));
  const bool in_place = is_in_place(target);
  if (names.empty()) {
    // Assertions and arithmetic on sizes: the program's own statement of each size is taken.
    if (!in_place) return ok();
    return error(Code::kUnsupportedFeature, "it writes to tensors and has no result")
        .with_hint("call run_decompositions() before saving");
  }
  OpVariant op = find_row(target);
  if (in_place) {
    const OpVariant functional = find_row(functional_name(target));
    if (functional.op != nullptr && takes_tensor_first(functional)) op = functional;
  }
  const Aliasing aliasing = aliasing_of(target, trains(*inputs));
  if (op.op == nullptr && (aliasing == Aliasing::kSame || aliasing == Aliasing::kCopy)) {
    // Nothing is computed, and no row is needed.
    const std::string_view source = first_tensor(*inputs);
    TOSAIC_TRY(Value * value, value_of(source));
    const bool is_new = aliasing == Aliasing::kSame
                            ? tensors_.add_name(names[0], *tensors_.find(source))
                            : tensors_.add(names[0], Tensor{.value = value});
    if (is_new) return ok();
    return error(Code::kPt2Content, "two values are called \"{}\"", names[0]);
  }
  return make_node(node, target, op, *inputs, index);
}

OpVariant Importer::choose_overload(OpVariant op, std::string_view name,
                                    const JsonArray& inputs) const {
  // Python's numbers stand where the schema has a tensor, as in x + 1 with aten.add.Tensor.
  const Schema& s = schema(*op.op, op.variant);
  const std::string scalar = fmt::format("{}.Scalar", name.substr(0, name.rfind('.')));
  const OpVariant other = find_row(scalar);
  if (other.op == nullptr) return op;
  const Schema& to = schema(*other.op, other.variant);
  bool has_number = false;
  size_t place = 0;
  for (const Json input : inputs) {
    const SchemaArg* arg = argument_of(s, string_at(input, "name").value_or(""), place++);
    const auto u = union_of(member(input, "arg"));
    const SchemaArg* there = arg == nullptr ? nullptr : to.find(arg->name);
    if (!u || there == nullptr) return op;
    const bool to_number = arg->kind == ArgKind::kTensor && there->kind != ArgKind::kTensor;
    if (to_number && !is_number(u->kind)) return op;  // 1 - x: the number is the other operand
    has_number = has_number || to_number;
  }
  return has_number ? other : op;
}

Status Importer::make_node(const Json& node, std::string_view target, OpVariant op,
                           const JsonArray& inputs, int index) {
  TOSAIC_TRY(const auto names, output_names(node));
  std::vector<TensorType> results;
  results.reserve(names.size());
  for (const std::string_view name : names) {
    TOSAIC_TRY(const TensorType type, type_of(name));
    results.push_back(type);
  }
  first_result_dtype_ = results[0].dtype;
  first_operand_dtype_ = DType::kUnknown;
  if (const std::string_view first = first_tensor(inputs); !first.empty()) {
    // By its name: stored data may not have a value yet.
    TOSAIC_TRY(const TensorType type, type_of(first));
    first_operand_dtype_ = type.dtype;
  }
  NodeSpec spec;
  Arguments arguments;
  if (op.op != nullptr) {
    op = choose_overload(op, schema(*op.op, op.variant).full_name, inputs);
    const Schema& s = schema(*op.op, op.variant);
    if (!s.returns_list && s.num_returns != static_cast<int>(names.size())) {
      return error(Code::kPt2Content, "it has {} results, its schema has {}", names.size(),
                   s.num_returns);
    }
    TOSAIC_TRY(arguments, read_arguments(s, inputs));
  } else {
    op = {&unknown, 0};
    TOSAIC_TRY(arguments, read_unknown_arguments(target, inputs));
  }
  spec.op = op.op;
  spec.variant = op.variant;
  spec.operands = arguments.operands;
  if (arguments.has_list) spec.segments = arguments.segments;
  spec.results = results;
  spec.attrs = arguments.attrs;
  spec.loc = make_loc(node, module_.arena());
  return name_results(graph_.insert(spec), names, target, inputs, index);
}

Status Importer::name_results(Node& made, std::span<const std::string_view> names,
                              std::string_view target, const JsonArray& inputs, int index) {
  for (size_t i = 0; i < names.size(); ++i)
    made.result(static_cast<int>(i)).set_name(names[i]);
  const auto taken = [](std::string_view name) {
    return error(Code::kPt2Content, "two values are called \"{}\"", name);
  };
  Value& result = made.result();
  Tensor* source = tensors_.find(first_tensor(inputs));
  const Aliasing aliasing = aliasing_of(target, trains(inputs));
  const bool in_place = is_in_place(target);
  if (source != nullptr && (in_place || aliasing == Aliasing::kSame)) {
    if (in_place && aliasing != Aliasing::kSame && !writes_only_shape(target)) {
      if (!uses_) uses_.emplace(nodes_, output_specs_);
      TOSAIC_CHECK_OK(tensors_.write(*source, result, index, *uses_));
    } else {
      source->value = &result;
    }
    if (!tensors_.add_name(names[0], *source)) return taken(names[0]);
    return ok();
  }
  // A change of dtype always copies.
  const bool shares =
      aliasing == Aliasing::kView && source != nullptr && result.dtype() == first_operand_dtype_;
  for (size_t i = 0; i < names.size(); ++i) {
    Tensor tensor;
    tensor.value = &made.result(static_cast<int>(i));
    if (!tensors_.add(names[i], tensor, shares ? source : nullptr)) return taken(names[i]);
  }
  return ok();
}

}  // namespace tosaic::aten::pt2
