// SPDX-License-Identifier: Apache-2.0
#include "numeric/table.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI8, DType::kI8}},
    {Feature::kInt16, {DType::kI16, DType::kI16, DType::kI32}},
};

Status infer(InferCall& call) {
  const size_t size =
      call.dtype(0) == DType::kI8 ? numeric::kInt8TableSize : numeric::kInt16TableSize;
  if (!(call.shape(1) == Shape{static_cast<int64_t>(size)})) {
    return call.fail(Code::kVerifyOpRule, "table has sizes {} and must have [{}]",
                     to_string(call.shape(1)), size);
  }
  return infer_same(call);
}

Status reference(RefCall& call) {
  if (call.in[0]->dtype == DType::kI8) {
    const std::span<const int8_t, numeric::kInt8TableSize> table(call.in[1]->data<int8_t>(),
                                                                 numeric::kInt8TableSize);
    map_elements<PlainElement<int8_t>, PlainElement<int8_t>>(
        call, [&](int8_t v) { return numeric::table_lookup_int8(v, table); });
    return ok();
  }
  const std::span<const int16_t, numeric::kInt16TableSize> table(call.in[1]->data<int16_t>(),
                                                                 numeric::kInt16TableSize);
  bool is_steep = false;
  map_elements<PlainElement<int16_t>, PlainElement<int32_t>>(call, [&](int16_t v) {
    // The rule concerns the entries that are used.
    const auto index =
        static_cast<size_t>((int32_t{v} + 32768) >> numeric::kInt16TableFractionBits);
    is_steep |= !numeric::fits<int16_t>(int64_t{table[index + 1]} - table[index]);
    return numeric::table_lookup_int16(v, table);
  });
  if (is_steep) call.set_unpredictable("the slope of the table overflows int16");
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(table) = {
    .number = 31,
    .operands = {{"input1", 0}, {"table", 1, true}},
    .results = {{"output", 2}},
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer,
    .reference = reference,
};
