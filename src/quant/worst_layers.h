// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "ir/graph.h"
#include "quant/measure.h"
#include "quant/observe.h"

namespace tosaic {

/// A value of which quantisation makes much worse numbers than of what it is computed from.
struct PoorValue {
  const Value* value = nullptr;  ///< an input, or a result of a node
  const Quant* quant = nullptr;  ///< what it is quantised with; nullptr: it is float
  double from = 0;               ///< error of the worst operand, relative to its values (RMS)
  double to = 0;                 ///< of the value itself
};

/// The values of a quantised program that lose most against the float program on the first samples,
/// the worst first. Runs both: only for a program whose outputs are poor.
std::vector<PoorValue> find_worst_layers(const Graph& graph, const CalibrationData& data,
                                         const Observations& seen);

}  // namespace tosaic
