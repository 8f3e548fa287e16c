// SPDX-License-Identifier: Apache-2.0
#include "driver/ops.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "aten/row.h"
#include "tosa/op.h"

namespace tosaic {
namespace {

using Json = nlohmann::ordered_json;

std::string_view kind_name(aten::ArgKind kind) {
  switch (kind) {
    case aten::ArgKind::kTensor:
      return "tensor";
    case aten::ArgKind::kOptionalTensor:
      return "tensor?";
    case aten::ArgKind::kTensorList:
      return "tensor[]";
    case aten::ArgKind::kOptionalTensorList:
      return "tensor?[]";
    case aten::ArgKind::kInt:
      return "int";
    case aten::ArgKind::kFloat:
      return "float";
    case aten::ArgKind::kBool:
      return "bool";
    case aten::ArgKind::kScalar:
      return "scalar";
    case aten::ArgKind::kString:
      return "string";
    case aten::ArgKind::kDType:
      return "dtype";
    case aten::ArgKind::kInts:
      return "int[]";
    case aten::ArgKind::kFloats:
      return "float[]";
    case aten::ArgKind::kBools:
      return "bool[]";
    case aten::ArgKind::kOther:
      return "other";
  }
  return "other";
}

std::string_view kind_name(aten::ConstraintKind kind) {
  switch (kind) {
    case aten::ConstraintKind::kNone:
      return "none";
    case aten::ConstraintKind::kOwn:
      return "own";
    case aten::ConstraintKind::kSame:
      return "same";
    case aten::ConstraintKind::kFixed:
      return "fixed";
    case aten::ConstraintKind::kWeight:
      return "weight";
    case aten::ConstraintKind::kBias:
      return "bias";
    case aten::ConstraintKind::kReal:
      return "real";
  }
  return "none";
}

/// "0", "out(0)".
std::string operand_text(aten::OperandRef ref) {
  return aten::is_out(ref) ? fmt::format("out({})", ref - aten::out(0)) : fmt::format("{}", ref);
}

std::string constraint_text(const aten::Constraint& c) {
  std::vector<std::string> parts;
  for (uint8_t i = 0; i < c.count; ++i)
    parts.push_back(operand_text(c.operands[i]));
  if (c.kind == aten::ConstraintKind::kWeight) parts.push_back(fmt::format("axis {}", c.axis));
  return fmt::format("{}({})", kind_name(c.kind), fmt::join(parts, ", "));
}

Json schema_json(std::string_view text, const aten::Schema& schema) {
  Json args = Json::array();
  for (const aten::SchemaArg& a : schema.args) {
    Json arg{{"name", a.name}, {"kind", kind_name(a.kind)}, {"optional", a.optional}};
    arg["keyword_only"] = a.keyword_only;
    arg["out"] = a.is_out;
    arg["default"] = a.value ? Json(to_string(*a.value)) : Json(nullptr);
    args.push_back(std::move(arg));
  }
  return Json{{"text", text},
              {"name", schema.full_name},
              {"args", std::move(args)},
              {"returns", schema.num_returns}};
}

Json op_json(const OpDef& op) {
  const aten::Row& row = aten::row(op);
  Json j{{"name", op.name}, {"doc", row.doc}, {"schemas", Json::array()}};
  for (int i = 0; i < row.schemas.count; ++i) {
    j["schemas"].push_back(
        schema_json(row.schemas.text[static_cast<size_t>(i)], aten::schema(op, i)));
  }
  j["cpu"] = row.cpu.empty() ? Json(nullptr) : schema_json(row.cpu, aten::cpu_schema(op));
  j["lowering"] = row.lower != nullptr;
  j["table"] = row.table != nullptr;
  j["constraints"] = Json::array();
  for (const aten::Constraint& c : row.quant)
    j["constraints"].push_back(constraint_text(c));
  return j;
}

std::string op_text(const OpDef& op) {
  const aten::Row& row = aten::row(op);
  std::vector<std::string_view> how;
  if (row.lower != nullptr) how.push_back("lowered");
  if (row.table != nullptr) how.push_back("table when quantised");
  if (!row.cpu.empty()) how.push_back("kernel on the CPU");
  std::string text = fmt::format("{}: {}\n  {}\n", op.name, row.doc, fmt::join(how, ", "));
  for (int i = 0; i < row.schemas.count; ++i) {
    text += fmt::format("  {}\n", aten::schema(op, i).full_name);
  }
  return text;
}

std::string_view effect_name(Effect effect) {
  switch (effect) {
    case Effect::kNone:
      return "none";
    case Effect::kReads:
      return "reads";
    case Effect::kWrites:
      return "writes";
  }
  return "unknown";
}

std::string_view full_name(const OpDef& op) {
  return op.hooks->variant_name(op, 0);
}

Json tosa_json(const OpDef& op) {
  return {{"name", full_name(op)},
          {"number", tosa::spec(op).number},
          {"effect", effect_name(op.effect)}};
}

std::string tosa_text(const OpDef& op) {
  std::string text = fmt::format("{}: operation {} of TOSA", full_name(op), tosa::spec(op).number);
  if (op.effect != Effect::kNone) text += fmt::format(", {} state", effect_name(op.effect));
  return text + "\n";
}

std::vector<const OpDef*> ops_of(Dialect dialect) {
  std::vector<const OpDef*> ops;
  for (const OpDef* op : all_ops()) {
    if (op->dialect == dialect) ops.push_back(op);
  }
  std::ranges::sort(ops, {}, &OpDef::name);
  return ops;
}

}  // namespace

std::string list_ops(bool json) {
  const auto aten = ops_of(Dialect::kAten);
  const auto tosa = ops_of(Dialect::kTosa);
  if (json) {
    Json lists{{"ops", Json::array()}, {"tosa", Json::array()}};
    for (const OpDef* op : aten)
      lists["ops"].push_back(op_json(*op));
    for (const OpDef* op : tosa)
      lists["tosa"].push_back(tosa_json(*op));
    return lists.dump(2) + "\n";
  }
  std::string text;
  for (const OpDef* op : aten)
    text += op_text(*op);
  for (const OpDef* op : tosa)
    text += tosa_text(*op);
  return text;
}

}  // namespace tosaic
