// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "aten/builder.h"

/// Elements by indices that are known when the program runs: GATHER. Indices are int32, also where
/// the program has int64 (Trait::kIndices); outside their axis they are as undefined as in PyTorch,
/// which raises an error.
namespace tosaic::aten {

/// x[.., index, ..] along `axis`: the axes of `index` stand in the place of the axis.
Lowered gather_axis(const Call& call, Builder& b, Value* x, int axis, Value* index);

/// x[:, i, j] of neighbouring axes, where -1 is the last element; nullptr stands for an axis that
/// is taken whole.
Lowered gather_axes(const Call& call, Builder& b, std::span<Value* const> lists);

/// An element along `axis` for each index, as aten.gather has it.
Lowered gather_elements(const Call& call, Builder& b, int64_t axis, Value* index);

/// int32 places under other sizes. TOSA FP moves no integers; a float holds places below 2^24.
Value* reshape_places(Builder& b, Value* places, const Shape& shape);

}  // namespace tosaic::aten
