// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {kIntOrFp, {DType::kBool}},     {Feature::kInt, {DType::kI8}}, {Feature::kInt, {DType::kI16}},
    {Feature::kInt, {DType::kI32}}, {Feature::kFp, {DType::kF16}}, {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

template <typename T>
void compute(RefCall& call) {
  const auto* condition = call.in[0]->data<uint8_t>();
  const auto* a = call.in[1]->data<T>();
  const auto* b = call.in[2]->data<T>();
  auto* out = call.out[0].mutable_data<T>();
  for_each_row<3>(call.out[0].shape, {&call.in[0]->shape, &call.in[1]->shape, &call.in[2]->shape},
                  [&](const Row<3>& row) {
                    for (int64_t i = 0; i < row.count; ++i) {
                      out[row.out + i] = condition[row.in[0] + i * row.step[0]] != 0
                                             ? a[row.in[1] + i * row.step[1]]
                                             : b[row.in[2] + i * row.step[2]];
                    }
                  });
}

Status reference(RefCall& call) {
  switch (element_bytes(call.out[0].dtype)) {
    case 1:
      compute<uint8_t>(call);
      return ok();
    case 2:
      compute<uint16_t>(call);
      return ok();
    default:
      compute<uint32_t>(call);
      return ok();
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(select) = {
    .number = 45,
    .operands = {{"input1", kBoolOperand}, {"input2", 0}, {"input3", 0}},
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 3,
    .infer = infer_broadcast,
    .reference = reference,
};
