// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops/custom.h"

#include "ir/verify.h"
#include "tosa/op.h"

namespace tosaic::tosa {
namespace {

/// The rules of every tensor; what the operation itself needs, nobody here can tell.
Status verify_custom(const Node& node) {
  if (Status s = check_attrs(node.op(), node.attrs()); !s) {
    return std::move(s).error().at(resolve(node.loc()));
  }
  if (node.attr("operator_name")->as_string().empty()) {
    return node_error(Code::kVerifyAttributes, node, "operator_name is empty");
  }
  for (const Use& use : node.operands()) {
    if (use.value() == nullptr) {
      return node_error(Code::kVerifyArity, node, "operand {} is missing", use.index());
    }
    if (Status s =
            check_level(node.op(), fmt::format("operand {}", use.index()), use.value()->type());
        !s) {
      return std::move(s).error().at(resolve(node.loc()));
    }
  }
  for (int i = 0; i < node.num_results(); ++i) {
    const TensorType& type = node.result(i).type();
    if (type.dtype == DType::kUnknown || type.dtype == DType::kShape) {
      return node_error(Code::kVerifyTypes, node, "result {} is {} and must be a tensor", i,
                        to_string(type));
    }
    if (Status s = check_level(node.op(), fmt::format("result {}", i), type); !s) {
      return std::move(s).error().at(resolve(node.loc()));
    }
  }
  return ok();
}

constexpr DialectHooks kCustomHooks = {
    .variant_name = [](const OpDef& op, int v) { return kTosaHooks.variant_name(op, v); },
    .num_variants = [](const OpDef&) { return 1; },
    .verify = verify_custom,
};

constexpr FieldList fields() {
  FieldList list;
  list.fields[list.count++] = {"operator_name", FieldKind::kString};
  list.fields[list.count++] = {"domain_name", FieldKind::kString};
  list.fields[list.count++] = {"implementation_attrs", FieldKind::kBytes};
  return list;
}

constexpr OpSpec kCustomSpec = {
    .number = 69,
    .operands = {{"input_list", kAnyOperand, false, true}},
    .results = {{"output_list", kAnyOperand, false, true}},
    .attrs = fields(),
};

}  // namespace

// Nothing is known of what it does, so it is taken to write state.
constinit const OpDef custom{std::string_view("tosa.custom").substr(5), Dialect::kTosa,
                             &kCustomHooks, &kCustomSpec, Effect::kWrites};
TOSAIC_REGISTER_OP(custom);

}  // namespace tosaic::tosa
