// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic {

/// What is remembered from one attempt of a compilation to the next, after a partition was refused
/// whose nodes are accepted one by one: by Vela, or by the target's rows for its operations as they
/// stand after lowering. Nodes are known by their place in the prepared program, which is the same
/// in every attempt.
struct Eviction {
  std::map<size_t, Reject> nodes;     ///< that stay on the CPU, and why
  std::optional<int> suspect;         ///< the partition that was refused in the last attempt
  std::optional<Diagnostic> refusal;  ///< the last one
  /// Whether it was Vela that refused, not the target's rows.
  bool by_vela() const { return refusal->code != Code::kVerifyTarget; }
  size_t searched = 0;  ///< nodes that were out at the last search
};

/// Whether these nodes are taken without the others.
using TakesNodes = std::function<Expected<bool>(std::span<Node* const>)>;

/// The nodes for which `takes` is false, by bisection: some log2(n) questions for each. Where two
/// halves are taken but the whole is not, the first node of the second half. Nothing when they
/// would be more than `most`.
Expected<std::vector<Node*>> find_refused(std::span<Node* const> nodes, const TakesNodes& takes,
                                          size_t most);

}  // namespace tosaic
