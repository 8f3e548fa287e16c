// SPDX-License-Identifier: Apache-2.0
// Only for tests.
#pragma once

#include "ir/op_def.h"

namespace tosaic {

/// Operators that any graph may hold, with no rules of their own: "test.unary", "test.binary",
/// "test.list" and "test.other.variant".
extern const OpDef kTestUnaryOp;
extern const OpDef kTestBinaryOp;
extern const OpDef kTestListOp;
extern const OpDef kTestOtherOp;

}  // namespace tosaic
