// SPDX-License-Identifier: Apache-2.0
// REDUCE_MAX and REDUCE_MIN.
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/nan_mode.h"
#include "tosa/ops/reduce.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

/// Folds with `fn(accumulator, element, mode)` from start.operator()<Value>(mode) on.
template <typename Start, typename Fn>
Status compute(RefCall& call, Start start, Fn fn) {
  const auto attrs = call.get<AxisNanAttrs>();
  const AxisSplit split(call.in[0]->shape, attrs.axis);
  return visit_number(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    const auto* in = call.in[0]->data<typename E::Stored>();
    auto* out = call.out[0].mutable_data<typename E::Stored>();
    for (int64_t o = 0; o < split.outer; ++o, out += split.inner) {
      for (int64_t i = 0; i < split.inner; ++i)
        out[i] = E::store(start.template operator()<typename E::Value>(attrs.nan_mode));
      for (int64_t k = 0; k < split.size; ++k, in += split.inner) {
        for (int64_t i = 0; i < split.inner; ++i)
          out[i] = E::store(fn(E::load(out[i]), E::load(in[i]), attrs.nan_mode));
      }
    }
  });
}

Status infer(InferCall& call) {
  return infer_reduce(call, call.get<AxisNanAttrs>().axis);
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(reduce_max) = {
    .number = 51,
    .operands = kInput,
    .results = kOutput,
    .signatures = kNumberSignatures,
    .attrs = fields_of<AxisNanAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = infer,
    .reference =
        [](RefCall& call) {
          return compute(
              call, []<typename T>(NanMode mode) { return max_start<T>(mode); },
              [](auto a, auto b, NanMode mode) { return max_of(a, b, mode); });
        },
};

TOSAIC_TOSA_OP(reduce_min) = {
    .number = 52,
    .operands = kInput,
    .results = kOutput,
    .signatures = kNumberSignatures,
    .attrs = fields_of<AxisNanAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = infer,
    .reference =
        [](RefCall& call) {
          return compute(
              call, []<typename T>(NanMode mode) { return min_start<T>(mode); },
              [](auto a, auto b, NanMode mode) { return min_of(a, b, mode); });
        },
};
