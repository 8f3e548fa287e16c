// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "driver/report.h"
#include "ir/graph.h"
#include "tosa/spec.h"

namespace tosaic {

/// Gives every input and output of a TOSA graph a tensor and a name of its own: an output that is
/// an input, a constant or an earlier output gets an IDENTITY. A .tosa file then has exactly these
/// names.
void name_borders(Graph& graph);

/// Where each output of a program comes from; nullptr for inputs and for what no node makes.
std::vector<Loc> locs_of_outputs(const Graph& graph);

/// E0313 when an output of an ATen graph, a constant or an input, cannot be one of a .tosa file for
/// the target: TOSA lacks its dtype or its numbers, or the target does. int64 is held as int32, as
/// places are. `locs`: of the outputs, before constants were folded.
Status check_passed_on(const Graph& graph, const Target& target, std::span<const Loc> locs);

/// Inputs or outputs as the report shows them.
std::vector<IoReport> io_of_inputs(const Graph& graph);
std::vector<IoReport> io_of_outputs(const Graph& graph);

}  // namespace tosaic
