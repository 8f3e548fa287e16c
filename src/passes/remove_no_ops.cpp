// SPDX-License-Identifier: Apache-2.0
// Drops nodes that give their first operand unchanged (dropout at inference, detach, alias, clone,
// a conversion to the type that is already there) and nodes without results (assertions):
//
//   %d: f32[4] = aten.dropout.default(%x) {p = 0.2, train = false}
//   %r: f32[4] = aten.relu.default(%d)               =>      %r: f32[4] = aten.relu.default(%x)
//
// A node of these rows that changes the type, or a dropout that drops, stays.
#include "aten/call.h"
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
    }
  }
  return ok();
}

}  // namespace tosaic
