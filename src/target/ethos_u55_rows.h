// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "target/rows.h"

/// Rules of Ethos-U55 and U65 that need more than a few lines.
namespace tosaic::rows {

// ethos_u55_windows.cpp
Result u55_conv(const Node& node, const Target& target);
Result u55_conv3d(const Node& node, const Target& target);
Result u55_transpose_conv(const Node& node, const Target& target);
Result u55_avg_pool(const Node& node, const Target& target);
Result u55_max_pool(const Node& node, const Target& target);

// ethos_u55_moves.cpp
Result u55_transpose(const Node& node, const Target& target);
Result u55_reverse(const Node& node, const Target& target);
Result u55_resize(const Node& node, const Target& target);
Result u55_reduce_sum(const Node& node, const Target& target);
Result u55_matmul(const Node& node, const Target& target);

}  // namespace tosaic::rows
