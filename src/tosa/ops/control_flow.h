// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/op_def.h"

/// Operations that run other graphs of the module, which attributes name. Their operands and
/// results are lists of any types, so that the graphs' inputs and outputs say what must be given.
namespace tosaic::tosa {

/// `cond_if(condition, inputs…) {then_graph, else_graph}`
extern const OpDef cond_if;
/// `while_loop(inputs…) {cond_graph, body_graph}`
extern const OpDef while_loop;

}  // namespace tosaic::tosa
