// SPDX-License-Identifier: Apache-2.0
// ADD and SUB.
#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

/// `fn` on int64 and on float.
template <typename Fn>
Status compute(RefCall& call, Fn fn) {
  if (call.in[0]->dtype == DType::kI32) {
    bool overflows = false;
    map_pairs<PlainElement<int32_t>, PlainElement<int32_t>>(call, [&](int64_t a, int64_t b) {
      const int64_t result = fn(a, b);
      overflows |= !numeric::fits<int32_t>(result);
      return numeric::wrap<int32_t>(result);
    });
    if (overflows) call.set_unpredictable("a result overflows int32");
    return ok();
  }
  return visit_float(call.node, call.in[0]->dtype,
                     [&]<typename E>(E) { map_pairs<E, E>(call, fn); });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(add) = {
    .number = 15,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kSumSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a + b; }); },
};

TOSAIC_TOSA_OP(sub) = {
    .number = 30,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kSumSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a - b; }); },
};
