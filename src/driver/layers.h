// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/report.h"
#include "ethosu/vela.h"
#include "ir/graph.h"

namespace tosaic {

/// Vela's estimate of a partition by places of the user's program: fills layers, layout_copies and
/// peak_layer of `delegate`. `first_node` is the index of the graph's first node among the
/// operators of the file that Vela compiled. Nothing when Vela gave no list of operations.
void report_layers(const Graph& tosa, size_t first_node, const VelaResult& vela,
                   DelegateReport& delegate);

/// Sums over the program's parts: what it needs of SRAM and flash.
void report_memory(CompileReport& report);

/// E0408, with what is needed, the layer at the peak, and what would help, when the program needs
/// more than `limit` bytes of SRAM (0: no limit).
Status check_sram(const CompileReport& report, uint64_t limit);

}  // namespace tosaic
