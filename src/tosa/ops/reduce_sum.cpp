// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/reduce.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI32}},
    {Feature::kFp, {DType::kF16}},
    {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

void sum_ints(RefCall& call, const AxisSplit& split) {
  const auto* in = call.in[0]->data<int32_t>();
  auto* out = call.out[0].mutable_data<int32_t>();
  bool overflows = false;
  for (int64_t o = 0; o < split.outer; ++o, out += split.inner) {
    std::fill_n(out, split.inner, 0);
    for (int64_t k = 0; k < split.size; ++k, in += split.inner) {
      for (int64_t i = 0; i < split.inner; ++i) {
        const int64_t sum = int64_t{out[i]} + in[i];
        overflows |= !numeric::fits<int32_t>(sum);
        out[i] = numeric::wrap<int32_t>(sum);
      }
    }
  }
  if (overflows) call.set_unpredictable("a sum overflows int32");
}

/// In the order of the axis, in float for every dtype.
void sum_floats(RefCall& call, const AxisSplit& split) {
  std::vector<float> buffer;
  const float* in = as_floats(*call.in[0], buffer).data();
  std::vector<float> sums(static_cast<size_t>(split.inner));
  for (int64_t o = 0; o < split.outer; ++o) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (int64_t k = 0; k < split.size; ++k, in += split.inner) {
      for (size_t i = 0; i < sums.size(); ++i)
        sums[i] += in[i];
    }
    store_floats(call.out[0], o * split.inner, sums);
  }
}

Status reference(RefCall& call) {
  const AxisSplit split(call.in[0]->shape, call.get<AxisAttrs>().axis);
  if (call.in[0]->dtype == DType::kI32) {
    sum_ints(call, split);
  } else {
    sum_floats(call, split);
  }
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(reduce_sum) = {
    .number = 54,
    .operands = kInput,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<AxisAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = [](InferCall& call) { return infer_reduce(call, call.get<AxisAttrs>().axis); },
    .reference = reference,
};
