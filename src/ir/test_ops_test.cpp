// SPDX-License-Identifier: Apache-2.0
#include "ir/test_ops.h"

#include "ir/verify.h"

namespace tosaic {
namespace {

/// Operands of test.binary have one shape: a rule for tests of the verifier.
Status verify_test_op(const Node& node) {
  if (!node.is(kTestBinaryOp)) return ok();
  if (node.num_operands() == 2 && node.operand(0) != nullptr && node.operand(1) != nullptr &&
      node.operand(0)->shape() == node.operand(1)->shape()) {
    return ok();
  }
  return node_error(Code::kVerifySignature, node, "needs two operands of one shape");
}

constexpr DialectHooks kTestHooks = {
    .variant_name = [](const OpDef& op, int) { return op.name; },
    .num_variants = [](const OpDef&) { return 1; },
    .verify = verify_test_op,
};

}  // namespace

constinit const OpDef kTestUnaryOp = {"test.unary", Dialect::kBuiltin, &kTestHooks, nullptr};
TOSAIC_REGISTER_OP(kTestUnaryOp);
constinit const OpDef kTestBinaryOp = {"test.binary", Dialect::kBuiltin, &kTestHooks, nullptr};
TOSAIC_REGISTER_OP(kTestBinaryOp);
constinit const OpDef kTestListOp = {"test.list", Dialect::kBuiltin, &kTestHooks, nullptr};
TOSAIC_REGISTER_OP(kTestListOp);
constinit const OpDef kTestOtherOp = {"test.other.variant", Dialect::kBuiltin, &kTestHooks,
                                      nullptr};
TOSAIC_REGISTER_OP(kTestOtherOp);

}  // namespace tosaic
