// SPDX-License-Identifier: Apache-2.0
#include "aten/row.h"

#include <unordered_map>

#include "aten/call.h"
#include "ir/verify.h"
#include "support/check.h"

TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic::aten {

namespace {

/// A schema text in a row is ours: a mistake in it is a bug, found by the first test.
Schema parse_or_die(std::string_view text) {
  Expected<Schema> schema = parse_schema(text);
  if (!schema) check_failed("parse_schema", schema.error().message);
  return *std::move(schema);
}

struct ParsedRow {
  std::vector<Schema> schemas;
  std::optional<Schema> cpu;
};

/// All rows, parsed on first use: 0.3 ms for two hundred of them.
const std::unordered_map<const OpDef*, ParsedRow>& parsed_rows() {
  static const auto* const kRows = [] {
    auto* rows = new std::unordered_map<const OpDef*, ParsedRow>();
    for (const OpDef* op : all_ops()) {
      if (op->dialect != Dialect::kAten) continue;
      ParsedRow& parsed = (*rows)[op];
      for (std::string_view text : row(*op).schemas)
        parsed.schemas.push_back(parse_or_die(text));
      if (!row(*op).cpu.empty()) parsed.cpu = parse_or_die(row(*op).cpu);
    }
    return rows;
  }();
  return *kRows;
}

std::string_view variant_name(const OpDef& op, int variant) {
  return schema(op, variant).full_name;
}
int num_variants(const OpDef& op) {
  return row(op).schemas.count;
}

bool attr_fits(const SchemaArg& arg, const Attr& value) {
  using K = Attr::Kind;
  const K k = value.kind();
  if (value.is_none()) return arg.optional || (arg.value && arg.value->is_none());
  switch (arg.kind) {
    case ArgKind::kInt:
      return k == K::kInt || k == K::kBool;
    case ArgKind::kFloat:
      return k == K::kFloat || k == K::kInt;
    case ArgKind::kBool:
      return k == K::kBool;
    case ArgKind::kScalar:
      return k == K::kInt || k == K::kFloat || k == K::kBool;
    case ArgKind::kString:
      return k == K::kString;
    case ArgKind::kDType:
      return k == K::kDType;
    case ArgKind::kInts:
      return k == K::kInts || (k == K::kInt && arg.fixed_length > 0);
    case ArgKind::kFloats:
      return k == K::kFloats || k == K::kInts;
    case ArgKind::kBools:
      return k == K::kBools;
    default:
      return true;
  }
}

/// Operand groups must be those of the schema: one per tensor argument, lists as lists. Trailing
/// optional ones may be left out.
Status verify_operands(const Node& node, const Schema& s) {
  const auto segments = node.segments();
  size_t group = 0;
  size_t flat = 0;
  const size_t num_groups =
      segments.empty() ? static_cast<size_t>(node.num_operands()) : segments.size();
  for (size_t i = 0; i < s.args.size(); ++i) {
    if (!s.is_tensor_arg(i)) continue;
    const SchemaArg& arg = s.args[i];
    const bool is_list =
        arg.kind == ArgKind::kTensorList || arg.kind == ArgKind::kOptionalTensorList;
    if (group == num_groups) {
      if (arg.kind == ArgKind::kOptionalTensor || arg.optional) continue;
      return node_error(Code::kVerifyArity, node, "argument \"{}\" is missing", arg.name);
    }
    const int size = segments.empty() ? -1 : segments[group];
    if ((size >= 0) != is_list) {
      return node_error(Code::kVerifyArity, node, "argument \"{}\" must {}be a list", arg.name,
                        is_list ? "" : "not ");
    }
    const size_t count = size < 0 ? 1 : static_cast<size_t>(size);
    for (size_t k = 0; k < count; ++k, ++flat) {
      const bool may_be_absent =
          arg.kind == ArgKind::kOptionalTensor || arg.kind == ArgKind::kOptionalTensorList;
      if (node.operand(static_cast<int>(flat)) == nullptr && !may_be_absent) {
        return node_error(Code::kVerifyArity, node, "argument \"{}\" is absent", arg.name);
      }
    }
    ++group;
  }
  if (group != num_groups) {
    return node_error(Code::kVerifyArity, node, "{} operand groups, the schema has {}", num_groups,
                      group);
  }
  return ok();
}

/// What has no default and may not be none must be there: rows ask for it.
Status verify_arguments(const Node& node, const Schema& s) {
  for (size_t i = 0; i < s.args.size(); ++i) {
    const SchemaArg& arg = s.args[i];
    if (s.is_tensor_arg(i) || arg.is_out || arg.optional || arg.value) continue;
    if (node.attr(arg.name) == nullptr) {
      return node_error(Code::kVerifyAttributes, node, "argument \"{}\" is missing", arg.name);
    }
  }
  return ok();
}

Status verify_node(const Node& node) {
  const Schema& s = schema(node.op(), node.variant());
  TOSAIC_CHECK_OK(verify_operands(node, s));
  for (const NamedAttr& attr : node.attrs()) {
    const SchemaArg* arg = s.find(attr.name);
    if (arg == nullptr) {
      return node_error(Code::kVerifyAttributes, node, "there is no argument \"{}\"", attr.name);
    }
    if (!attr_fits(*arg, attr.value)) {
      return node_error(Code::kVerifyAttributes, node, "argument \"{}\" cannot be {}", attr.name,
                        to_string(attr.value));
    }
  }
  TOSAIC_CHECK_OK(verify_arguments(node, s));
  if (!s.returns_list && node.num_results() != s.num_returns) {
    return node_error(Code::kVerifyArity, node, "{} results, the schema has {}", node.num_results(),
                      s.num_returns);
  }
  return ok();
}

}  // namespace

constinit const DialectHooks kAtenHooks{variant_name, num_variants, verify_node};

std::string_view shown_name(const Node& node) {
  const Attr* target = node.attr("target");
  if (node.is(unknown) && target != nullptr) return target->as_string();
  return node.full_name();
}

const Schema& schema(const OpDef& op, int variant) {
  return parsed_rows().at(&op).schemas[static_cast<size_t>(variant)];
}

const Schema& cpu_schema(const OpDef& op) {
  return *parsed_rows().at(&op).cpu;
}

}  // namespace tosaic::aten
