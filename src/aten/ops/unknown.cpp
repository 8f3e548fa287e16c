// SPDX-License-Identifier: Apache-2.0
#include "aten/row.h"

// What the .pt2 reader makes of an operator that no row serves, so that a program can be read and
// reported as a whole. It has no lowering and no kernel.

TOSAIC_ATEN_OP(unknown) = {
    .schemas =
        schemas("aten::unknown(str target, Tensor?[] inputs, *, str? arguments=None) -> Tensor[]"),
    .doc = "An operator without a row: `target` is its name, `arguments` the rest as text.",
};
