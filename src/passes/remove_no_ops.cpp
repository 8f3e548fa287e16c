// SPDX-License-Identifier: Apache-2.0
// Drops nodes that give their first operand unchanged (dropout at inference, detach, alias, clone,
// a conversion to the type that is already there) and nodes without results (assertions).
// Afterwards no value changes under its users:
//
//   %d: f32[4] = aten.dropout.default(%x) {p = 0.2, train = false}
//   %a: f32[4] = aten.add_.Tensor(%d, %y)                    %a: f32[4] = aten.add_.Tensor(%x, %y)
//   %r: f32[4] = aten.relu.default(%d)               =>      %r: f32[4] = aten.relu.default(%a)
//
// An in-place operator writes to its first operand, so whoever reads that operand later reads the
// result.
#include <vector>

#include "aten/call.h"
#include "ir/verify.h"
#include "passes/passes.h"

namespace tosaic {
namespace {

using aten::Trait;

/// Dropout that drops: the program was exported for training.
bool is_in_training(const Node& node) {
  const aten::NodeCall view(node);
  for (std::string_view name : {"train", "training"}) {
    if (view.call.schema().find(name) == nullptr) continue;
    const Attr value = view.call.arg(name);
    if (!value.is_none() && value.as_bool()) return true;
  }
  return false;
}

bool is_removable(const Node& node) {
  if (!aten::row(node.op()).has(Trait::kNoOp) || node.num_operands() == 0) return false;
  const Value* operand = node.operand(0);
  if (operand == nullptr || operand->type() != node.result().type()) return false;
  for (int i = 1; i < node.num_results(); ++i) {
    if (node.result(i).has_uses()) return false;
  }
  return !is_in_training(node);
}

bool has_use_after(const Value& value, const Node& node) {
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    if (use->user().order() > node.order()) return true;
  }
  return false;
}

/// Later uses of what the node writes to become uses of its result. A value that shares memory with
/// it through a view, and is read later, is refused.
Status redirect_later_uses(Node& node) {
  Graph& graph = node.graph();
  Value& written = *node.operand(0);
  const Node* def = written.def();
  if (def != nullptr && aten::is_aten(*def) && aten::row(def->op()).has(Trait::kView) &&
      def->num_operands() > 0 && def->operand(0) != nullptr &&
      has_use_after(*def->operand(0), node)) {
    return node_error(Code::kUnsupportedFeature, node,
                      "writes to a view of a tensor that is read later")
        .with_hint("export with run_decompositions({}), which removes in-place operators");
  }
  std::vector<const Use*> later;
  for (const Use* use = written.first_use(); use != nullptr; use = use->next()) {
    if (use->user().order() > node.order()) later.push_back(use);
  }
  for (const Use* use : later)
    graph.set_operand(use->user(), use->index(), &node.result());
  return ok();
}

}  // namespace

Status run_remove_no_ops(Graph& graph, PassContext& context) {
  for (Node& node : graph.nodes()) {
    if (!aten::is_aten(node)) continue;
    if (node.num_results() == 0) {
      graph.erase(node);
      context.changed = true;
    } else if (is_removable(node)) {
      graph.replace_all_uses(node.result(), *node.operand(0));
      graph.erase(node);
      context.changed = true;
    } else if (aten::schema(node.op(), node.variant()).in_place && node.operand(0) != nullptr) {
      TOSAIC_CHECK_OK(redirect_later_uses(node));
    }
  }
  return ok();
}

}  // namespace tosaic
