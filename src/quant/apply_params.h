// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "ir/graph.h"
#include "quant/choose_params.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

/// Nodes that stay float, and why.
using FloatNodes = std::unordered_map<const Node*, Reject>;

/// Gives each node that `target` takes in quantised form the chosen types, and leaves the others
/// float, with quantize and dequantize nodes between the two: a graph as fold_qdq leaves it.
/// Constants may have one user each only.
Expected<FloatNodes> apply_parameters(Graph& graph, const ChosenParameters& chosen,
                                      const Target& target);

}  // namespace tosaic
