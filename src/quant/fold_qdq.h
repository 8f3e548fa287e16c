// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/pass.h"

namespace tosaic {

/// Turns `dequantize -> operator -> quantize` of PT2E programs into operators on quantised values
/// (DESIGN §6, docs/quantisation.md). Afterwards quantize and dequantize nodes stand only where a
/// float value of the program meets a quantised one.
Status run_fold_qdq(Graph& graph, PassContext& context);

/// The reverse for nodes that stay on the CPU: gives `node` float operands (dequantize nodes, or a
/// dequantised constant) and float results followed by quantize nodes. No-op for float nodes.
Status unfold(Node& node);

}  // namespace tosaic
