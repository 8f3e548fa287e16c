// SPDX-License-Identifier: Apache-2.0
// BITWISE_AND, _OR, _XOR and _NOT.
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

/// Calls `fn` with the element type of an integer of 8, 16 or 32 bits.
template <typename Fn>
Status visit_bits(const RefCall& call, Fn fn) {
  switch (call.in[0]->dtype) {
    case DType::kI8:
      fn(PlainElement<int8_t>{});
      return ok();
    case DType::kI16:
      fn(PlainElement<int16_t>{});
      return ok();
    default:
      fn(PlainElement<int32_t>{});
      return ok();
  }
}

template <typename Fn>
Status compute(RefCall& call, Fn fn) {
  return visit_bits(call, [&]<typename E>(E) {
    using T = typename E::Value;
    map_pairs<E, E>(call, [fn](T a, T b) { return static_cast<T>(fn(a, b)); });
  });
}

Status invert(RefCall& call) {
  return visit_bits(call, [&]<typename E>(E) {
    using T = typename E::Value;
    map_elements<E, E>(call, [](T a) { return static_cast<T>(~a); });
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(bitwise_and) = {
    .number = 17,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kBitsSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a & b; }); },
};

TOSAIC_TOSA_OP(bitwise_or) = {
    .number = 18,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kBitsSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a | b; }); },
};

TOSAIC_TOSA_OP(bitwise_xor) = {
    .number = 19,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kBitsSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = [](RefCall& call) { return compute(call, [](auto a, auto b) { return a ^ b; }); },
};

TOSAIC_TOSA_OP(bitwise_not) = {
    .number = 33,
    .operands = kInput,
    .results = kOutput,
    .signatures = kBitsSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = invert,
};
