// SPDX-License-Identifier: Apache-2.0
// MUL: integers give int32; int32 may be shifted right with rounding.
#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI32}},     {Feature::kInt, {DType::kI16, DType::kI32}},
    {kIntOrFp, {DType::kI32, DType::kI32}},         {Feature::kFp, {DType::kF16, DType::kF16}},
    {Feature::kBf16, {DType::kBF16, DType::kBF16}}, {Feature::kFp, {DType::kF32, DType::kF32}},
};

Status infer(InferCall& call) {
  if (!(call.shape(2) == Shape{1})) {
    return call.fail(Code::kVerifyRank, "shift has sizes {} and must have [1]",
                     to_string(call.shape(2)));
  }
  const int64_t shift = int_values(*call.in[2]->constant())[0];
  if (shift < 0 || shift > 63 || (shift != 0 && call.dtype(0) != DType::kI32)) {
    return call.fail(Code::kVerifyOpRule, "shift {} must be 0, or 0 to 63 for i32", shift);
  }
  return infer_broadcast(call);
}

Status reference(RefCall& call) {
  const DType dtype = call.in[0]->dtype;
  const int shift = *call.in[2]->data<int8_t>();
  if (is_float(dtype)) {
    return visit_float(call.node, dtype, [&]<typename E>(E) {
      map_pairs<E, E>(call, [](float a, float b) { return a * b; });
    });
  }
  bool overflows = false;
  const Status status = visit_number(call.node, dtype, [&]<typename E>(E) {
    if constexpr (sizeof(typename E::Stored) <= 4 && std::is_integral_v<typename E::Value>) {
      map_pairs<E, PlainElement<int32_t>>(call, [&](int32_t a, int32_t b) {
        const auto result = numeric::mul_shift(a, b, shift);
        overflows |= result.unpredictable;
        call.wraps |= shift == 0 && int64_t{a} * b != result.value;
        return result.value;
      });
    }
  });
  if (overflows) call.set_unpredictable("a shifted product overflows int32");
  return status.ok() ? ok() : no_reference(call.node, dtype);
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(mul) = {
    .number = 28,
    .operands = {{"input1", 0}, {"input2", 0}, {"shift", kI8Operand, true}},
    .results = {{"output", 1}},
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer,
    .reference = reference,
};
