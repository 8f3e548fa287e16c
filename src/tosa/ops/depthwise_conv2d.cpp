// SPDX-License-Identifier: Apache-2.0
// DEPTHWISE_CONV2D: weights [KH, KW, C, M]; output channel c * M + m.
#include <algorithm>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/convolution.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 4, 4));
  TOSAIC_CHECK_OK(check_rank(call, 1, 4, 4));
  const Shape& weight = call.shape(1);
  if (weight[2] != call.shape(0)[3]) {
    return call.fail(Code::kVerifyRank, "weight has {} input channels and the input has {}",
                     weight[2], call.shape(0)[3]);
  }
  return infer_conv(call, {weight[0], weight[1]}, weight[2] * weight[3]);
}

/// sums[i] += in[i] * w[i] over kernel positions in the order ky, kx; then finish(sums, offset).
/// `in` has the output's channels.
template <typename T, typename Acc, typename Finish>
void convolve(const RefCall& call, const T* in, const T* weight, Finish finish) {
  const Shape& shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const auto axes = conv_window(call, {weight_shape[0], weight_shape[1]});
  const int64_t channels = weight_shape[2] * weight_shape[3];
  std::vector<Acc> sums(static_cast<size_t>(channels));
  int64_t offset = 0;
  for (int64_t n = 0; n < shape[0]; ++n, in += shape[1] * shape[2] * channels) {
    for (int64_t oy = 0; oy < axes[0].out; ++oy) {
      const auto y = axes[0].range(oy);
      for (int64_t ox = 0; ox < axes[1].out; ++ox, offset += channels) {
        const auto x = axes[1].range(ox);
        std::fill(sums.begin(), sums.end(), Acc{0});
        for (int64_t ky = y.first; ky < y.last; ++ky) {
          for (int64_t kx = x.first; kx < x.last; ++kx) {
            const int64_t at_y = y.start + ky * axes[0].dilation;
            const int64_t at_x = x.start + kx * axes[1].dilation;
            const T* pixel = in + (at_y * shape[2] + at_x) * channels;
            const T* w = weight + (ky * axes[1].kernel + kx) * channels;
            Acc* sum = sums.data();
            for (int64_t c = 0; c < channels; ++c)
              sum[c] += static_cast<Acc>(pixel[c]) * static_cast<Acc>(w[c]);
          }
        }
        finish(std::span<Acc>(sums), offset);
      }
    }
  }
}

/// Each channel `multiplier` times in a row: the input as all output channels see it.
template <typename T>
std::vector<T> repeat_channels(std::span<const T> in, int64_t multiplier) {
  std::vector<T> out;
  out.reserve(in.size() * static_cast<size_t>(multiplier));
  for (const T value : in)
    out.insert(out.end(), static_cast<size_t>(multiplier), value);
  return out;
}

void convolve_ints(RefCall& call) {
  const Shape& weight_shape = call.in[1]->shape;
  std::vector<int16_t> in = centred(*call.in[0], *call.in[3]);
  const std::vector<int16_t> weight = centred(*call.in[1], *call.in[4]);
  if (weight_shape[3] != 1) in = repeat_channels<int16_t>(in, weight_shape[3]);
  std::vector<int64_t> wide(static_cast<size_t>(weight_shape[2] * weight_shape[3]));
  bool fits = true;
  const auto finish = [&](auto sums, int64_t offset) {
    std::copy(sums.begin(), sums.end(), wide.begin());
    fits = store_accumulators(call, wide, offset) && fits;
  };
  // 2^15 products of at most 255 * 255 fit an int32.
  const bool is_narrow =
      call.in[0]->dtype == DType::kI8 && weight_shape[0] * weight_shape[1] <= 32768;
  if (is_narrow) {
    convolve<int16_t, int32_t>(call, in.data(), weight.data(), finish);
  } else {
    convolve<int16_t, int64_t>(call, in.data(), weight.data(), finish);
  }
  if (!fits) call.set_unpredictable("an accumulator overflows");
}

void convolve_floats(RefCall& call) {
  std::vector<float> in_buffer;
  std::vector<float> weight_buffer;
  std::span<const float> in = as_floats(*call.in[0], in_buffer);
  const std::span<const float> weight = as_floats(*call.in[1], weight_buffer);
  const int64_t multiplier = call.in[1]->shape[3];
  std::vector<float> repeated;
  if (multiplier != 1) {
    repeated = repeat_channels<float>(in, multiplier);
    in = repeated;
  }
  convolve<float, float>(
      call, in.data(), weight.data(),
      [&](std::span<float> sums, int64_t offset) { store_float_accumulators(call, sums, offset); });
}

Status reference(RefCall& call) {
  switch (call.in[0]->dtype) {
    case DType::kI8:
    case DType::kI16:
      convolve_ints(call);
      return ok();
    default:
      convolve_floats(call);
      return ok();
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(depthwise_conv2d) = {
    .number = 5,
    .operands = kConvOperands,
    .results = kConvResults,
    .signatures = kConvSignatures,
    .attrs = fields_of<Conv2dAttrs>(),
    .infer = infer,
    .reference = reference,
};
