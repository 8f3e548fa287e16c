// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/nan_mode.h"
#include "tosa/ops/signatures.h"
#include "tosa/ops/window.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8}},        {Feature::kInt16, {DType::kI16}},
    {Feature::kF8E4M3, {DType::kF8E4M3}}, {Feature::kF8E5M2, {DType::kF8E5M2}},
    {Feature::kFp, {DType::kF16}},        {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

template <typename E>
void compute(RefCall& call) {
  using Value = typename E::Value;
  const auto attrs = call.get<MaxPool2dAttrs>();
  const Shape& in_shape = call.in[0]->shape;
  const auto [y_axis, x_axis] = pool_window(attrs, in_shape, call.out[0].shape);
  const auto* in = call.in[0]->data<typename E::Stored>();
  auto* out = call.out[0].mutable_data<typename E::Stored>();
  const auto channels = static_cast<size_t>(in_shape[3]);
  std::vector<Value> best(channels);
  for (int64_t n = 0; n < in_shape[0]; ++n, in += in_shape[1] * in_shape[2] * in_shape[3]) {
    for (int64_t oy = 0; oy < y_axis.out; ++oy) {
      const auto y = y_axis.range(oy);
      for (int64_t ox = 0; ox < x_axis.out; ++ox, out += channels) {
        const auto x = x_axis.range(ox);
        std::fill(best.begin(), best.end(), max_start<Value>(attrs.nan_mode));
        for (int64_t ky = y.first; ky < y.last; ++ky) {
          for (int64_t kx = x.first; kx < x.last; ++kx) {
            const auto* pixel = in + ((y.start + ky) * in_shape[2] + x.start + kx) * in_shape[3];
            for (size_t c = 0; c < channels; ++c)
              best[c] = max_of(best[c], E::load(pixel[c]), attrs.nan_mode);
          }
        }
        for (size_t c = 0; c < channels; ++c)
          out[c] = E::store(best[c]);
      }
    }
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(max_pool2d) = {
    .number = 8,
    .operands = kInput,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<MaxPool2dAttrs>(),
    .infer = infer_pool<MaxPool2dAttrs>,
    .reference =
        [](RefCall& call) {
          return visit_number(call.node, call.in[0]->dtype,
                              [&]<typename E>(E) { compute<E>(call); });
        },
};
