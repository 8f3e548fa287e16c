// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic {

/// What is remembered from one attempt of a compilation to the next, after Vela refused a partition
/// that our rows accept. Nodes are known by their place in the prepared program, which is the same
/// in every attempt.
struct Eviction {
  std::set<size_t> nodes;             ///< that stay on the CPU
  std::optional<int> suspect;         ///< the partition that was refused in the last attempt
  std::optional<Diagnostic> refusal;  ///< Vela's last one
  size_t searched = 0;                ///< nodes that were out at the last search
};

/// Whether Vela takes these nodes alone.
using TakesNodes = std::function<Expected<bool>(std::span<Node* const>)>;

/// The nodes for which `takes` is false, by bisection: some log2(n) questions for each. Where two
/// halves are taken but the whole is not, the first node of the second half. Nothing when they
/// would be more than `most`, or all of them: then it is not the nodes.
Expected<std::vector<Node*>> find_refused(std::span<Node* const> nodes, const TakesNodes& takes,
                                          size_t most);

}  // namespace tosaic
