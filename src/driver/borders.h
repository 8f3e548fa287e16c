// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "driver/report.h"
#include "ir/graph.h"

namespace tosaic {

/// Gives every input and output of a TOSA graph a tensor and a name of its own: an output that is
/// an input, a constant or an earlier output gets an IDENTITY. A .tosa file then has exactly these
/// names.
void name_borders(Graph& graph);

/// Inputs or outputs as the report shows them.
std::vector<IoReport> io_of_inputs(const Graph& graph);
std::vector<IoReport> io_of_outputs(const Graph& graph);

}  // namespace tosaic
