// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/op_def.h"

namespace tosaic::tosa {

/// `custom(inputs…) {operator_name, domain_name, implementation_attrs}`: an operation that only its
/// domain knows. The types of its results are stated, and it stays where it is.
extern const OpDef custom;

}  // namespace tosaic::tosa
