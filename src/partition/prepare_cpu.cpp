// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aten/builder.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "quant/fold_qdq.h"

namespace tosaic {
namespace {

/// A target that takes nothing: a composite that emits TOSA operations cannot be recorded.
std::optional<Reject> refuse(const Node& node, const Target&) {
  return reject(Code::kRejectTargetOp, "{} has no form as calls of other operators",
                node.full_name());
}

Diagnostic no_kernel(const Node& node, std::string_view why) {
  return error(Code::kNoCpuKernel, "{}: no ExecuTorch kernel computes it{}{}",
               aten::shown_name(node), why.empty() ? "" : ": ", why)
      .at(resolve(node.loc()));
}

/// Replaces a composite by the calls its row makes. The new nodes stand before `node`.
Status expand(Node& node) {
  Graph& graph = node.graph();
  const aten::Row& row = aten::row(node.op());
  Target nothing;
  nothing.features = Feature::kInt | Feature::kFp;
  nothing.rows = refuse;
  aten::Builder b(graph, nothing, aten::Builder::Mode::kRecord, node.loc());
  b.set_insertion_point(&node);
  const aten::NodeCall call(node);
  if (row.lower == nullptr) {
    return no_kernel(node, "");
  }
  const aten::Lowered lowered = row.lower(call.call, b);
  if (!lowered.ok() || b.failure()) {
    return no_kernel(node, b.failure() ? b.failure()->why : lowered.reason().why);
  }
  for (int i = 0; i < node.num_results(); ++i) {
    graph.replace_all_uses(node.result(i), *lowered.values()[static_cast<size_t>(i)]);
  }
  graph.erase(node);
  return ok();
}

}  // namespace

Status prepare_cpu(Graph& graph) {
  std::vector<Node*> work;
  for (Node& node : graph.nodes())
    work.push_back(&node);
  while (!work.empty()) {
    Node* node = work.back();
    work.pop_back();
    if (!aten::is_aten(*node)) continue;
    const aten::Row& row = aten::row(node->op());
    const bool is_border = row.has(aten::Trait::kQuantize) || row.has(aten::Trait::kDequantize);
    if (!is_border) TOSAIC_CHECK_OK(unfold(*node));
    if (!row.cpu.empty() || node->is_erased()) continue;  // erased: unfold() replaced it
    Node* before = node->prev();
    Node* after = node->next();
    TOSAIC_CHECK_OK(expand(*node));
    // The calls of the composite may be composites themselves.
    for (Node* n = before == nullptr ? graph.first() : before->next(); n != after; n = n->next()) {
      work.push_back(n);
    }
  }
  graph.erase_dead_nodes();
  graph.renumber();
  return ok();
}

}  // namespace tosaic
