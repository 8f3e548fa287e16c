// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pte/program.h"
#include "support/expected.h"

namespace tosaic {

/// Gives every planned tensor an offset in memory 1, 16-byte aligned, such that no two that are
/// alive at the same instruction overlap, and sets `buffer_sizes`. Large tensors are placed first,
/// each at the lowest offset that is free. A tensor is alive from the first instruction that names
/// it to the last; inputs from the start, outputs to the end. In a method with jumps everything is
/// alive all the time. Errors: kFlatbuffer (an index out of range, a size that overflows).
Status plan_memory(PteProgram& program);

}  // namespace tosaic
