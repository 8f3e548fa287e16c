// SPDX-License-Identifier: Apache-2.0
// NEGATE: output_zp - (x - input1_zp), saturated.
#include <type_traits>

#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_zero_point(call, 1));
  TOSAIC_CHECK_OK(check_zero_point(call, 2));
  return infer_same(call);
}

Status reference(RefCall& call) {
  const int64_t zp_in = zero_point_of(*call.in[1]);
  const int64_t zp_out = zero_point_of(*call.in[2]);
  bool overflows = false;
  const Status status = visit_number(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    using Value = typename E::Value;
    map_elements<E, E>(call, [&](Value v) -> Value {
      if constexpr (std::is_floating_point_v<Value>) {
        return 0 - v;
      } else if constexpr (sizeof(Value) <= 4) {
        // The accumulator is an int32 for every dtype.
        const int64_t result = zp_out - (int64_t{v} - zp_in);
        overflows |= !numeric::fits<int32_t>(result);
        return numeric::saturate<Value>(numeric::wrap<int32_t>(result));
      } else {
        return numeric::wrap_neg(v);
      }
    });
  });
  if (overflows) call.set_unpredictable("a result overflows int32");
  return status.ok() ? ok() : no_reference(call.node, call.in[0]->dtype);
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(negate) = {
    .number = 41,
    .operands = {{"input1", 0}, {"input1_zp", 0, true}, {"output_zp", 0, true}},
    .results = kOutput,
    .signatures = kNumberSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer,
    .reference = reference,
};
