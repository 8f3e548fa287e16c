// SPDX-License-Identifier: Apache-2.0
// LOGICAL_LEFT_SHIFT and LOGICAL_RIGHT_SHIFT.
#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

/// Left when `kLeft`, else right with zeros.
template <bool kLeft, typename T>
void compute(RefCall& call) {
  bool is_outside = false;
  map_pairs<PlainElement<T>, PlainElement<T>>(call, [&](T value, T shift) {
    if (!numeric::is_valid_shift<T>(shift)) {
      is_outside = true;
      return T{0};
    }
    if (kLeft && (int64_t{value} << shift) != static_cast<T>(int64_t{value} << shift)) {
      call.wraps = true;
    }
    return kLeft ? numeric::logical_left_shift<T>(value, shift)
                 : numeric::logical_right_shift<T>(value, shift);
  });
  if (is_outside) call.set_unpredictable("a shift is outside of the bits of its dtype");
}

template <bool kLeft>
Status shift(RefCall& call) {
  switch (call.in[0]->dtype) {
    case DType::kI8:
      compute<kLeft, int8_t>(call);
      return ok();
    case DType::kI16:
      compute<kLeft, int16_t>(call);
      return ok();
    default:
      compute<kLeft, int32_t>(call);
      return ok();
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(logical_left_shift) = {
    .number = 22,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kBitsSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = shift<true>,
};

TOSAIC_TOSA_OP(logical_right_shift) = {
    .number = 23,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kBitsSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = shift<false>,
};
