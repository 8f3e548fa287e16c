// SPDX-License-Identifier: Apache-2.0
// Erases nodes whose results nobody uses.
//
//   %a: i8[4] = tosa.clamp(%x) {…}
//   %b: i8[4] = tosa.identity(%x)    =>    %b: i8[4] = tosa.identity(%x)
//   return %b                              return %b
#include "passes/passes.h"

namespace tosaic {

Status run_remove_dead_nodes(Graph& graph, PassContext& context) {
  if (graph.erase_dead_nodes() > 0) context.changed = true;
  return ok();
}

}  // namespace tosaic
