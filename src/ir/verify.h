// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"

namespace tosaic {

/// Checks one graph: order of definitions, dialect, calls, quantisation parameters, constants, and
/// for each node what its dialect's hook checks. The first rule broken is returned with its V-code,
/// the node as text, and its place.
Status verify(const Graph& graph);
/// All graphs.
Status verify(const Module& module);

/// Makes a verifier error for a node; arguments are those of fmt::format.
template <typename... Args>
Diagnostic node_error(Code code, const Node& node, fmt::format_string<Args...> format,
                      Args&&... args) {
  Diagnostic d =
      error(code, "{}: {}", node.full_name(), fmt::format(format, std::forward<Args>(args)...));
  d.where = resolve(node.loc());
  return d;
}

}  // namespace tosaic
