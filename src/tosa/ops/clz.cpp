// SPDX-License-Identifier: Apache-2.0
#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {{Feature::kInt, {DType::kI32}}};

Status reference(RefCall& call) {
  map_elements<PlainElement<int32_t>, PlainElement<int32_t>>(
      call, [](int32_t v) { return static_cast<int32_t>(numeric::clz(v)); });
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(clz) = {
    .number = 35,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = reference,
};
