// SPDX-License-Identifier: Apache-2.0
// ARGMAX: index of the first greatest element along an axis, which the result does not have.
#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/nan_mode.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI32}},
    {Feature::kInt16, {DType::kI16, DType::kI32}},
    {Feature::kF8E4M3, {DType::kF8E4M3, DType::kI32}},
    {Feature::kF8E5M2, {DType::kF8E5M2, DType::kI32}},
    {Feature::kFp, {DType::kF16, DType::kI32}},
    {Feature::kBf16, {DType::kBF16, DType::kI32}},
    {Feature::kFp, {DType::kF32, DType::kI32}},
};

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  const int axis = call.get<ArgMaxAttrs>().axis;
  TOSAIC_CHECK_OK(check_axis(call, axis));
  const auto sizes = call.shape(0).sizes();
  std::array<int64_t, kMaxRank> left{};
  const auto middle = std::copy_n(sizes.begin(), axis, left.begin());
  std::copy(sizes.begin() + axis + 1, sizes.end(), middle);
  call.add_result(Shape(std::span(left).first(sizes.size() - 1)));
  return ok();
}

/// Whether `value` takes the place of `best`. The first NaN that propagates stays.
template <typename T>
bool is_better(T value, T best, NanMode mode) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(best)) return mode == NanMode::kIgnore && !std::isnan(value);
    if (std::isnan(value)) return mode == NanMode::kPropagate;
  }
  return value > best;
}

Status reference(RefCall& call) {
  const auto attrs = call.get<ArgMaxAttrs>();
  const AxisSplit split(call.in[0]->shape, attrs.axis);
  auto* out = call.out[0].mutable_data<int32_t>();
  return visit_number(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    const auto* in = call.in[0]->data<typename E::Stored>();
    for (int64_t o = 0; o < split.outer; ++o) {
      for (int64_t i = 0; i < split.inner; ++i) {
        const auto* column = in + o * split.size * split.inner + i;
        auto best = max_start<typename E::Value>(attrs.nan_mode);
        int32_t best_index = 0;
        for (int64_t k = 0; k < split.size; ++k) {
          const auto value = E::load(column[k * split.inner]);
          if (!is_better(value, best, attrs.nan_mode)) continue;
          best = value;
          best_index = static_cast<int32_t>(k);
        }
        out[o * split.inner + i] = best_index;
      }
    }
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(argmax) = {
    .number = 1,
    .operands = kInput,
    .results = {{"output", 1}},
    .signatures = kSignatures,
    .attrs = fields_of<ArgMaxAttrs>(),
    .infer = infer,
    .reference = reference,
};
