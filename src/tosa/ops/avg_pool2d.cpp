// SPDX-License-Identifier: Apache-2.0
// AVG_POOL2D: padding counts neither in the sum nor in the number of elements.
#include <vector>

#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
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

bool takes_accumulator(DType dtype, DType acc_type) {
  switch (dtype) {
    case DType::kI8:
    case DType::kI16:
      return acc_type == DType::kI32;
    case DType::kF16:
      return acc_type == DType::kF16 || acc_type == DType::kF32;
    case DType::kF8E4M3:
    case DType::kF8E5M2:
      return acc_type == DType::kF16;
    default:
      return acc_type == DType::kF32;
  }
}

Status infer(InferCall& call) {
  const DType acc_type = call.get<AvgPool2dAttrs>().acc_type;
  if (!takes_accumulator(call.dtype(0), acc_type)) {
    return call.fail(Code::kVerifySignature, "there is no form of {} with acc_type {}",
                     dtype_name(call.dtype(0)), dtype_name(acc_type));
  }
  TOSAIC_CHECK_OK(check_zero_point(call, 1));
  TOSAIC_CHECK_OK(check_zero_point(call, 2));
  return infer_pool<AvgPool2dAttrs>(call);
}

/// Calls finish(channel sums, number of elements, offset of the result) for each pixel.
template <typename T, typename Acc, typename Finish>
void sum_windows(RefCall& call, const T* in, Acc zero_point, Finish finish) {
  const Shape& shape = call.in[0]->shape;
  const auto [y_axis, x_axis] = pool_window(call.get<AvgPool2dAttrs>(), shape, call.out[0].shape);
  const auto channels = static_cast<size_t>(shape[3]);
  std::vector<Acc> sums(channels);
  int64_t offset = 0;
  for (int64_t n = 0; n < shape[0]; ++n, in += shape[1] * shape[2] * shape[3]) {
    for (int64_t oy = 0; oy < y_axis.out; ++oy) {
      const auto y = y_axis.range(oy);
      for (int64_t ox = 0; ox < x_axis.out; ++ox, offset += shape[3]) {
        const auto x = x_axis.range(ox);
        std::fill(sums.begin(), sums.end(), Acc{0});
        for (int64_t ky = y.first; ky < y.last; ++ky) {
          for (int64_t kx = x.first; kx < x.last; ++kx) {
            const T* pixel = in + ((y.start + ky) * shape[2] + x.start + kx) * shape[3];
            for (size_t c = 0; c < channels; ++c)
              sums[c] += static_cast<Acc>(pixel[c]) - zero_point;
          }
        }
        finish(std::span<Acc>(sums), (y.last - y.first) * (x.last - x.first), offset);
      }
    }
  }
}

template <typename T>
void average_ints(RefCall& call) {
  const int64_t zp_out = zero_point_of(*call.in[2]);
  auto* out = call.out[0].mutable_data<T>();
  bool overflows = false;
  sum_windows<T, int64_t>(
      call, call.in[0]->data<T>(), zero_point_of(*call.in[1]),
      [&](std::span<const int64_t> sums, int64_t count, int64_t offset) {
        const numeric::Scale32 scale = numeric::avg_pool_scale(static_cast<int32_t>(count));
        for (size_t c = 0; c < sums.size(); ++c) {
          overflows |=
              !numeric::fits<int32_t>(sums[c]) || !numeric::fits_scale_32(sums[c], scale.shift);
          const int64_t mean = numeric::apply_scale_32(numeric::wrap<int32_t>(sums[c]), scale);
          out[offset + static_cast<int64_t>(c)] = numeric::saturate<T>(mean + zp_out);
        }
      });
  if (overflows) call.set_unpredictable("a sum overflows int32");
}

void average_floats(RefCall& call) {
  std::vector<float> buffer;
  sum_windows<float, float>(call, as_floats(*call.in[0], buffer).data(), 0.0f,
                            [&](std::span<float> sums, int64_t count, int64_t offset) {
                              for (float& sum : sums)
                                sum /= static_cast<float>(count);
                              store_floats(call.out[0], offset, sums);
                            });
}

Status reference(RefCall& call) {
  switch (call.in[0]->dtype) {
    case DType::kI8:
      average_ints<int8_t>(call);
      return ok();
    case DType::kI16:
      average_ints<int16_t>(call);
      return ok();
    default:
      average_floats(call);
      return ok();
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(avg_pool2d) = {
    .number = 2,
    .operands = {{"input", 0}, {"input_zp", 0, true}, {"output_zp", 0, true}},
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<AvgPool2dAttrs>(),
    .infer = infer,
    .reference = reference,
};
