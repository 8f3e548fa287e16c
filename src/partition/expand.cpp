// SPDX-License-Identifier: Apache-2.0
#include "aten/builder.h"
#include "partition/partition.h"

namespace tosaic {
namespace {

/// A target that takes nothing: a composite that emits TOSA operations cannot be recorded.
std::optional<Reject> refuse(const Node& node, const Target&) {
  return reject(Code::kRejectTargetOp, "{} has no form as calls of other operators",
                node.full_name());
}

}  // namespace

std::optional<Reject> expand(Node& node) {
  Graph& graph = node.graph();
  const aten::Row& row = aten::row(node.op());
  if (row.lower == nullptr) {
    return reject(Code::kRejectNoLowering, "{} has no lowering", node.full_name());
  }
  Target nothing;
  nothing.features = Feature::kInt | Feature::kFp;
  nothing.rows = refuse;
  aten::Builder b(graph, nothing, aten::Builder::Mode::kRecord, node.loc());
  b.set_insertion_point(&node);
  Node* last = node.prev();
  const aten::NodeCall call(node);
  const aten::Lowered lowered = row.lower(call.call, b);
  const auto missing = lowered.ok() ? missing_result(node, lowered) : std::nullopt;
  if (!lowered.ok() || b.failure() || missing) {
    for (Node* made = node.prev(); made != last;) {
      Node* before = made->prev();
      graph.erase(*made);
      made = before;
    }
    if (b.failure()) return b.failure();
    return missing ? missing : lowered.reason();
  }
  for (int i = 0; i < node.num_results(); ++i) {
    Value* made = lowered.values()[static_cast<size_t>(i)];
    if (made == nullptr) continue;
    if (made->def() != nullptr && made->name().empty()) made->set_name(node.result(i).name());
    graph.replace_all_uses(node.result(i), *made);
  }
  graph.erase(node);
  return std::nullopt;
}

}  // namespace tosaic
