// SPDX-License-Identifier: Apache-2.0
// MAXIMUM and MINIMUM.
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/nan_mode.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

template <typename Fn>
Status compute(RefCall& call, Fn fn) {
  const NanMode mode = call.get<NanModeAttrs>().nan_mode;
  return visit_number(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    map_pairs<E, E>(call, [&](typename E::Value a, typename E::Value b) { return fn(a, b, mode); });
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(maximum) = {
    .number = 26,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kI32OrFloatSignatures,
    .attrs = fields_of<NanModeAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference =
        [](RefCall& call) {
          return compute(call, [](auto a, auto b, NanMode mode) { return max_of(a, b, mode); });
        },
};

TOSAIC_TOSA_OP(minimum) = {
    .number = 27,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kI32OrFloatSignatures,
    .attrs = fields_of<NanModeAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference =
        [](RefCall& call) {
          return compute(call, [](auto a, auto b, NanMode mode) { return min_of(a, b, mode); });
        },
};
