// SPDX-License-Identifier: Apache-2.0
// Replaces operators that spell a call of another row, as those of core ATen do, by that call, so
// that everything behind knows one spelling only:
//
//   %c = aten.convolution.default(%x, %w, none) {stride = [1, 1], …, transposed = false, …}
// =>
//   %c = aten.conv2d.default(%x, %w, none) {stride = [1, 1], …}
//
// Where the other row lacks a result that is used, the node stays.
#include "partition/partition.h"
#include "passes/passes.h"

namespace tosaic {

Status run_expand_aliases(Graph& graph, PassContext& context) {
  for (Node& node : graph.nodes()) {
    if (!aten::is_aten(node) || !aten::row(node.op()).has(aten::Trait::kAlias)) continue;
    if (!expand(node)) context.changed = true;
  }
  return ok();
}

}  // namespace tosaic
