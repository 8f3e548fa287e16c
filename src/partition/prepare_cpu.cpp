// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "aten/row.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "quant/fold_qdq.h"

namespace tosaic {
namespace {

Diagnostic no_kernel(const Node& node, std::string_view why) {
  return error(Code::kNoCpuKernel, "{}: no ExecuTorch kernel computes it{}{}",
               aten::shown_name(node), why.empty() ? "" : ": ", why)
      .at(resolve(node.loc()));
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
    if (row.lower == nullptr) return no_kernel(*node, "");
    if (const auto reason = expand(*node)) return no_kernel(*node, reason->why);
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
