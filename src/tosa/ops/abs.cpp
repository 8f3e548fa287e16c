// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

Status reference(RefCall& call) {
  if (call.in[0]->dtype == DType::kI32) {
    bool overflows = false;
    map_elements<PlainElement<int32_t>, PlainElement<int32_t>>(call, [&](int32_t v) {
      overflows |= v == std::numeric_limits<int32_t>::min();
      return v < 0 ? numeric::wrap_neg(v) : v;
    });
    if (overflows) call.set_unpredictable("the least int32 has no absolute value");
    return ok();
  }
  return visit_float(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    map_elements<E, E>(call, [](float v) { return std::fabs(v); });
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(abs) = {
    .number = 32,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kI32OrFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = reference,
};
