// SPDX-License-Identifier: Apache-2.0
#include "tosa/spec.h"

#include <algorithm>
#include <string>

#include "tosa/op.h"

namespace tosaic {
namespace {

/// "i8, i8, i32": dtypes of the operands without zero points and other constants of one element.
std::string operand_dtypes(const Node& node) {
  std::string text;
  for (const Use& use : node.operands()) {
    if (use.value()->is_constant() && use.value()->shape().rank() <= 1) continue;
    if (!text.empty()) text += ", ";
    text += dtype_name(use.value()->dtype());
  }
  return text;
}

bool names_graph(const Node& node) {
  return std::ranges::any_of(
      node.attrs(), [](const NamedAttr& attr) { return attr.value.kind() == Attr::Kind::kGraph; });
}

bool has_any(const Target& target, Feature features) {
  return any(target.features & features);
}

}  // namespace

std::optional<Reject> Target::legal(const Node& node) const {
  if (node.op().dialect != Dialect::kTosa) {
    return reject(Code::kRejectTargetOp, "{} is not a TOSA operation", node.full_name());
  }
  const tosa::OpSpec& spec = tosa::spec(node.op());
  if (tosa::find_signature(node, features) == nullptr) {
    const bool has_op =
        std::any_of(spec.signatures.begin(), spec.signatures.end(),
                    [this](const tosa::Signature& s) { return has_any(*this, s.any_of); });
    if (!has_op && has(Feature::kControlFlow) && names_graph(node)) {
      return reject(Code::kRejectTargetOp, "{} runs other graphs, and a partition is one graph",
                    node.full_name());
    }
    if (!has_op) {
      return reject(Code::kRejectTargetOp, "{} has no {}", display_name, node.full_name());
    }
    return reject(Code::kRejectDtype, "{} has no {} from {} to {}", display_name, node.full_name(),
                  operand_dtypes(node), dtype_name(node.result().dtype()));
  }
  if (spec.needs != nullptr && !has(spec.needs(node))) {
    return reject(Code::kRejectAttribute, "{} lacks an extension that the attributes of {} need",
                  display_name, node.full_name());
  }
  return rows == nullptr ? std::nullopt : rows(node, *this);
}

}  // namespace tosaic
