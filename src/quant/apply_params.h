// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/graph.h"
#include "quant/choose_params.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

/// Gives each node that `target` takes in quantised form the chosen types, and leaves the others
/// float, with quantize and dequantize nodes between the two: a graph as fold_qdq leaves it.
/// Returns how many nodes became quantised. Constants may have one user each only.
Status apply_parameters(Graph& graph, const ChosenParameters& chosen, const Target& target);

}  // namespace tosaic
