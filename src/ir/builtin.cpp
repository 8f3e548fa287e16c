// SPDX-License-Identifier: Apache-2.0
// The operators that every graph may hold: `call` and `return`. The verifier checks both itself,
// since their rules concern other graphs and the end of their own.
#include "ir/op_def.h"

namespace tosaic {
namespace {

constexpr DialectHooks kBuiltinHooks = {
    .variant_name = [](const OpDef& op, int) { return op.name; },
    .num_variants = [](const OpDef&) { return 1; },
    .verify = [](const Node&) { return ok(); },
};

}  // namespace

constinit const OpDef kCallOp = {"call", Dialect::kBuiltin, &kBuiltinHooks, nullptr};
TOSAIC_REGISTER_OP(kCallOp);

constinit const OpDef kReturnOp = {"return", Dialect::kBuiltin, &kBuiltinHooks, nullptr};
TOSAIC_REGISTER_OP(kReturnOp);

}  // namespace tosaic
