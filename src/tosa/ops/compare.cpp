// SPDX-License-Identifier: Apache-2.0
// EQUAL, GREATER and GREATER_EQUAL: false where an operand is NaN.
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

template <typename Fn>
Status compute(RefCall& call, Fn fn) {
  return visit_number(call.node, call.in[0]->dtype,
                      [&]<typename E>(E) { map_pairs<E, PlainElement<uint8_t>>(call, fn); });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(equal) = {
    .number = 46,
    .operands = kInput1And2,
    .results = kBoolOutput,
    .signatures = kI32OrFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a == b; }); },
};

TOSAIC_TOSA_OP(greater) = {
    .number = 47,
    .operands = kInput1And2,
    .results = kBoolOutput,
    .signatures = kI32OrFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a > b; }); },
};

TOSAIC_TOSA_OP(greater_equal) = {
    .number = 48,
    .operands = kInput1And2,
    .results = kBoolOutput,
    .signatures = kI32OrFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a >= b; }); },
};
