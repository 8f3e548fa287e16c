// SPDX-License-Identifier: Apache-2.0
// LOGICAL_AND, _OR, _XOR and _NOT: operations on truth values, which are stored as 0 or 1.
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {{kIntOrFp, {DType::kBool}}};
using Truth = PlainElement<uint8_t>;

template <typename Fn>
Status compute(RefCall& call, Fn fn) {
  map_pairs<Truth, Truth>(
      call, [fn](uint8_t a, uint8_t b) { return static_cast<uint8_t>(fn(a != 0, b != 0)); });
  return ok();
}

Status negate_truth(RefCall& call) {
  map_elements<Truth, Truth>(call, [](uint8_t a) { return static_cast<uint8_t>(a == 0); });
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(logical_and) = {
    .number = 21,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](bool a, bool b) { return a && b; }); },
};

TOSAIC_TOSA_OP(logical_or) = {
    .number = 24,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](bool a, bool b) { return a || b; }); },
};

TOSAIC_TOSA_OP(logical_xor) = {
    .number = 25,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](bool a, bool b) { return a != b; }); },
};

TOSAIC_TOSA_OP(logical_not) = {
    .number = 40,
    .operands = kInput,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = negate_truth,
};
