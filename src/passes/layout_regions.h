// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "passes/permutation.h"

namespace tosaic {

/// The node's permutation when it is a TRANSPOSE.
std::optional<Permutation> transpose_of(const Node* node);

/// How many of the node's operands, from the first on, have the axes of its result, when these may
/// all be permuted alike; 0: they may not.
int num_flexible_operands(const Node& node);

/// The order of axes in which each value should be held, such that TRANSPOSE moves few bytes.
/// Values that are not in the map keep theirs.
///
/// Values that nodes without a layout of their own connect form a region with one layout. Each
/// region takes the layout of one of the TRANSPOSEs at its border, or keeps the one it has,
/// whichever costs least; regions are visited in execution order and know what those before them
/// chose.
std::unordered_map<const Value*, Permutation> choose_layouts(const Graph& graph);

/// RESHAPE of a TRANSPOSE as a TRANSPOSE of a RESHAPE.
struct SwappedReshape {
  Shape shape;       ///< of the RESHAPE on the TRANSPOSE's operand
  Permutation perm;  ///< of the TRANSPOSE after it
};
/// Nothing when it moves the elements otherwise. `from` are the sizes of the TRANSPOSE's operand.
std::optional<SwappedReshape> swap_reshape(const Shape& from, const Permutation& perm,
                                           const Shape& to);

/// Whether the node is a CONV2D with constant weight on single elements with integer sums, which
/// does not care in which order its input's channels are.
bool sums_channels_in_any_order(const Node& node);

}  // namespace tosaic
