// SPDX-License-Identifier: Apache-2.0
// Arguments of a node: unions of the archive's schema to operands and attributes of the row's.
#include <cmath>
#include <limits>

#include "aten/pt2/importer.h"

namespace tosaic::aten::pt2 {
namespace {

constexpr size_t kMaxListLength = 32767;  // of Node::segments

Diagnostic wrong_kind(const SchemaArg& arg, std::string_view kind) {
  return error(Code::kPt2Content, "argument \"{}\" cannot be {}", arg.name, kind);
}

bool is_list(ArgKind kind) {
  return kind == ArgKind::kTensorList || kind == ArgKind::kOptionalTensorList;
}
bool is_tensor(ArgKind kind) {
  return is_list(kind) || kind == ArgKind::kTensor || kind == ArgKind::kOptionalTensor;
}

/// A number, or the words of Python's JSON for what JSON cannot write.
std::optional<double> read_real(const Json& json) {
  if (const auto number = value_as<double>(json)) return number;
  const auto word = value_as<std::string_view>(json);
  if (!word) return std::nullopt;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (*word == "Infinity") return kInfinity;
  if (*word == "-Infinity") return -kInfinity;
  if (*word == "NaN") return std::numeric_limits<double>::quiet_NaN();
  return std::nullopt;
}

/// A list of a kind that is empty: its element type is not known, and any kind is written.
bool is_empty_list(const Json& json) {
  const auto list = value_as<JsonArray>(json);
  return list && list->begin() == list->end();
}

}  // namespace

Expected<Arguments> Importer::read_arguments(const Schema& schema, const JsonArray& inputs) {
  std::vector<std::optional<Json>> given(schema.args.size());
  size_t place = 0;
  for (const Json input : inputs) {
    const std::string_view name = string_at(input, "name").value_or("");
    size_t index = place++;
    if (!name.empty()) {
      const SchemaArg* arg = schema.find(name);
      index = arg == nullptr ? given.size() : static_cast<size_t>(arg - schema.args.data());
    }
    const auto argument = member(input, "arg");
    if (!argument) return error(Code::kJson, "an input lacks its argument");
    if (index >= given.size() || given[index]) {
      return error(Code::kPt2Content, "argument {} \"{}\" does not fit the schema", place - 1,
                   name);
    }
    given[index] = argument;
  }
  Arguments to;
  for (size_t i = 0; i < given.size(); ++i) {
    const SchemaArg& arg = schema.args[i];
    if (is_tensor(arg.kind)) {
      TOSAIC_CHECK_OK(read_tensor_argument(arg, given[i], to));
      continue;
    }
    if (!given[i]) {
      if (arg.value || arg.optional || arg.kind == ArgKind::kOther) continue;
      return error(Code::kPt2Content, "argument \"{}\" is missing", arg.name);
    }
    if (arg.kind == ArgKind::kOther) continue;
    const auto u = union_of(*given[i]);
    if (!u) return error(Code::kJson, "argument \"{}\" has no kind", arg.name);
    if (u->kind == "as_none") {
      if (!arg.optional) return wrong_kind(arg, u->kind);
      if (arg.value && !arg.value->is_none()) to.attrs.push_back({arg.name, Attr()});
      continue;
    }
    TOSAIC_TRY(const Attr attr, read_attr(arg, *u));
    to.attrs.push_back({arg.name, attr});
  }
  return to;
}

Expected<Arguments> Importer::read_unknown_arguments(std::string_view target,
                                                     const JsonArray& inputs) {
  Arguments to;
  to.has_list = true;
  std::string rest;
  Status status = ok();
  for (const Json input : inputs) {
    const auto argument = member(input, "arg");
    if (!argument) return error(Code::kJson, "an input lacks its argument");
    size_t before = to.operands.size();
    for_each_tensor_name(*argument, [&](std::string_view name) {
      Expected<Value*> value = value_of(name);
      if (value) {
        to.operands.push_back(*value);
      } else if (status) {
        status = std::move(value).error();
      }
    });
    if (!status) return std::move(status).error();
    if (to.operands.size() != before) continue;
    const auto u = union_of(*argument);
    if (!u) continue;
    const std::string_view name = string_at(input, "name").value_or("");
    // A graph is as long as a program.
    const std::string text =
        u->kind == "as_graph" ? "graph" : std::string(simdjson::minify(u->value));
    rest += fmt::format("{}{}{}{}", rest.empty() ? "" : ", ", name, name.empty() ? "" : "=", text);
  }
  if (to.operands.size() > kMaxListLength) {
    return error(Code::kUnsupportedFeature, "{} tensors are too many", to.operands.size());
  }
  to.segments.push_back(static_cast<int16_t>(to.operands.size()));
  to.attrs.push_back({"target", Attr::string(target)});
  if (!rest.empty()) {
    to.attrs.push_back({"arguments", Attr::string(module_.arena().copy(std::string_view(rest)))});
  }
  return to;
}

Status Importer::read_tensor_argument(const SchemaArg& arg, const std::optional<Json>& json,
                                      Arguments& to) {
  const auto u = union_of(json);
  if (json && !u) return error(Code::kJson, "argument \"{}\" has no kind", arg.name);
  const bool absent = !u || u->kind == "as_none";
  if (!is_list(arg.kind)) {
    Value* value = nullptr;
    if (!absent) {
      TOSAIC_TRY(value, read_operand(arg, *json));
    }
    if (value == nullptr && arg.kind == ArgKind::kTensor) {
      return error(Code::kPt2Content, "tensor \"{}\" is missing", arg.name);
    }
    to.operands.push_back(value);
    to.segments.push_back(-1);
    return ok();
  }
  to.has_list = true;
  size_t count = 0;
  if (absent) {
    if (!arg.optional && !arg.value) {
      return error(Code::kPt2Content, "list \"{}\" is missing", arg.name);
    }
  } else {
    const auto list = value_as<JsonArray>(u->value);
    const bool fits =
        u->kind == "as_tensors" || u->kind == "as_optional_tensors" || is_empty_list(u->value);
    if (!list || !fits) return wrong_kind(arg, u->kind);
    for (const Json item : *list) {
      if (++count > kMaxListLength) {
        return error(Code::kUnsupportedFeature, "list \"{}\" is too long", arg.name);
      }
      Value* value = nullptr;
      if (const auto name = string_at(item, "name")) {
        TOSAIC_TRY(value, value_of(*name));
      } else {
        TOSAIC_TRY(value, read_operand(arg, item));
      }
      if (value == nullptr && arg.kind == ArgKind::kTensorList) {
        return error(Code::kPt2Content, "list \"{}\" lacks a tensor", arg.name);
      }
      to.operands.push_back(value);
    }
  }
  to.segments.push_back(static_cast<int16_t>(count));
  return ok();
}

Expected<Value*> Importer::read_operand(const SchemaArg& arg, const Json& json) {
  const auto u = union_of(json);
  if (!u) return error(Code::kJson, "argument \"{}\" has no kind", arg.name);
  if (u->kind == "as_tensor") {
    const auto name = string_at(u->value, "name");
    if (!name) return error(Code::kJson, "argument \"{}\" has no name", arg.name);
    return value_of(*name);
  }
  if (u->kind == "as_none") return nullptr;
  if (u->kind == "as_optional_tensor") {
    // One level: what is inside is as_tensor or as_none.
    const auto inner = union_of(u->value);
    if (inner && inner->kind != "as_optional_tensor") return read_operand(arg, u->value);
  }
  if (u->kind == "as_int" || u->kind == "as_float" || u->kind == "as_bool" ||
      u->kind == "as_sym_int") {
    return scalar_operand(*u);
  }
  return wrong_kind(arg, u->kind);
}

Expected<Value*> Importer::scalar_operand(const Union& scalar) {
  // PyTorch's promotion: a number takes the tensor's dtype unless it is of a higher category.
  SchemaArg any;
  any.name = "a number";
  any.kind = ArgKind::kScalar;
  TOSAIC_TRY(const Attr number, read_number(any, scalar));
  const bool is_real = number.kind() == Attr::Kind::kFloat;
  DType dtype = first_operand_dtype_;
  if (is_real && !is_float(dtype)) {
    dtype = is_float(first_result_dtype_) ? first_result_dtype_ : DType::kF32;
  } else if (!is_real && (dtype == DType::kUnknown || dtype == DType::kBool)) {
    dtype = number.kind() == Attr::Kind::kBool ? DType::kBool : DType::kI64;
  }
  const Constant* constant = nullptr;
  if (is_float(dtype)) {
    const double value = number.kind() == Attr::Kind::kBool ? static_cast<double>(number.as_int())
                                                            : number.as_real();
    constant = &module_.constant_floats(dtype, Shape{}, {&value, 1});
  } else {
    const int64_t value = number.as_int();
    constant = &module_.constant_ints(dtype, Shape{}, {&value, 1});
  }
  return &graph_.add_constant(*constant);
}

Expected<int64_t> Importer::read_int(const Json& json) {
  if (const auto number = value_as<int64_t>(json)) return *number;
  if (const auto u = union_of(json)) {
    if (u->kind == "as_int") {
      if (const auto number = value_as<int64_t>(u->value)) return *number;
    }
    if (u->kind == "as_name") {
      if (const auto name = value_as<std::string_view>(u->value)) {
        const SymInt size = sym_int(*name);
        if (size.value) return *size.value;
        return symbolic_size_error(size.expression);
      }
    }
  }
  return error(Code::kPt2Content, "{} is not an integer", std::string(simdjson::minify(json)));
}

Expected<Attr> Importer::read_number(const SchemaArg& arg, const Union& u) {
  const ArgKind kind = arg.kind;
  const bool any = kind == ArgKind::kScalar;
  if (u.kind == "as_bool" && (any || kind == ArgKind::kBool || kind == ArgKind::kInt)) {
    if (const auto value = value_as<bool>(u.value)) return Attr::boolean(*value);
  } else if (u.kind == "as_sym_bool" && kind == ArgKind::kBool) {
    if (const auto value = member_as<bool>(u.value, "as_bool")) return Attr::boolean(*value);
    return error(Code::kDynamicShape, "argument \"{}\" depends on a symbolic size", arg.name);
  } else if (u.kind == "as_sym_float" && (any || kind == ArgKind::kFloat)) {
    const auto inner = member(u.value, "as_float");
    if (const auto value = inner ? read_real(*inner) : std::nullopt) return Attr::real(*value);
    return error(Code::kDynamicShape, "argument \"{}\" depends on a symbolic size", arg.name);
  } else if (u.kind == "as_float" && (any || kind == ArgKind::kFloat)) {
    if (const auto value = read_real(u.value)) return Attr::real(*value);
  } else if ((u.kind == "as_int" || u.kind == "as_sym_int") && kind != ArgKind::kBool) {
    TOSAIC_TRY(const int64_t value, read_int(u.value));
    return kind == ArgKind::kFloat ? Attr::real(static_cast<double>(value)) : Attr::integer(value);
  } else if (u.kind == "as_complex") {
    return error(Code::kUnsupportedFeature, "argument \"{}\" is a complex number", arg.name);
  }
  return wrong_kind(arg, u.kind);
}

Expected<Attr> Importer::read_list(const SchemaArg& arg, const Union& u) {
  Arena& arena = module_.arena();
  if (arg.kind == ArgKind::kInts && (u.kind == "as_int" || u.kind == "as_sym_int")) {
    TOSAIC_TRY(const int64_t value, read_int(u.value));
    if (arg.fixed_length > 0) return Attr::integer(value);
    return Attr::ints(arena.copy(std::span<const int64_t>(&value, 1)));
  }
  const auto list = value_as<JsonArray>(u.value);
  if (!list) return wrong_kind(arg, u.kind);
  const bool empty = is_empty_list(u.value);
  if (arg.kind == ArgKind::kInts && (empty || u.kind == "as_ints" || u.kind == "as_sym_ints")) {
    std::vector<int64_t> values;
    for (const Json item : *list) {
      TOSAIC_TRY(const int64_t value, read_int(item));
      values.push_back(value);
    }
    return Attr::ints(arena.copy(std::span<const int64_t>(values)));
  }
  if (arg.kind == ArgKind::kFloats && (empty || u.kind == "as_floats" || u.kind == "as_ints")) {
    std::vector<double> values;
    for (const Json item : *list) {
      const auto value = read_real(item);
      if (!value) return wrong_kind(arg, u.kind);
      values.push_back(*value);
    }
    return Attr::reals(arena.copy(std::span<const double>(values)));
  }
  if (arg.kind == ArgKind::kBools && (empty || u.kind == "as_bools")) {
    const std::span<bool> values = arena.make_span<bool>(list->size());
    size_t i = 0;
    for (const Json item : *list) {
      const auto value = value_as<bool>(item);
      if (!value) return wrong_kind(arg, u.kind);
      values[i++] = *value;
    }
    return Attr::bools(values);
  }
  return wrong_kind(arg, u.kind);
}

Expected<Attr> Importer::read_attr(const SchemaArg& arg, const Union& u) {
  switch (arg.kind) {
    case ArgKind::kInt:
    case ArgKind::kFloat:
    case ArgKind::kBool:
    case ArgKind::kScalar:
      return read_number(arg, u);
    case ArgKind::kInts:
    case ArgKind::kFloats:
    case ArgKind::kBools:
      return read_list(arg, u);
    case ArgKind::kString:
      if (u.kind == "as_string") {
        if (const auto text = value_as<std::string_view>(u.value)) return Attr::string(*text);
      }
      return wrong_kind(arg, u.kind);
    case ArgKind::kDType: {
      const auto number = value_as<int64_t>(u.value);
      if (u.kind != "as_scalar_type" || !number) return wrong_kind(arg, u.kind);
      const DType dtype = dtype_of(*number);
      if (dtype != DType::kUnknown) return Attr::dtype(dtype);
      return error(Code::kUnsupportedFeature, "dtype {} is not supported", dtype_text(*number));
    }
    default:
      return wrong_kind(arg, u.kind);
  }
}

}  // namespace tosaic::aten::pt2
