// SPDX-License-Identifier: Apache-2.0
#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {{Feature::kInt, {DType::kI32}}};

Status reference(RefCall& call) {
  bool is_undefined = false;
  map_pairs<PlainElement<int32_t>, PlainElement<int32_t>>(call, [&](int32_t a, int32_t b) {
    const auto quotient = numeric::intdiv(a, b);
    is_undefined = is_undefined || quotient.unpredictable;
    return quotient.value;
  });
  if (is_undefined) call.set_unpredictable("a division by 0, or of the least int32 by -1");
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(intdiv) = {
    .number = 20,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = reference,
};
