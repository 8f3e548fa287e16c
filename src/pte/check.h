// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "pte/program.h"
#include "support/expected.h"

namespace tosaic {

/// Every index of the program is in range, tensors have a known size and their bytes are within
/// what they point to. The rules are the runtime's; reader and writer both apply them. Errors:
/// kFlatbuffer.
Status check_pte(const PteProgram& program);

/// Rank, sizes and dim_order of one tensor, and that its size in bytes does not overflow.
Status check_pte_tensor(const PteTensor& tensor);

}  // namespace tosaic
