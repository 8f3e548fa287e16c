// SPDX-License-Identifier: Apache-2.0
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
  if (weight[3] != call.shape(0)[3]) {
    return call.fail(Code::kVerifyRank, "weight has {} input channels and the input has {}",
                     weight[3], call.shape(0)[3]);
  }
  return infer_conv(call, {weight[1], weight[2]}, weight[0]);
}

/// Copies the window of one output pixel to `row` in the order ky, kx, ic; padding gives zeros.
template <typename T>
void gather_window(const T* in, const Shape& shape, const WindowAxis::Range& y,
                   const WindowAxis::Range& x, const std::array<WindowAxis, 2>& axes, T* row) {
  const int64_t channels = shape[3];
  const int64_t row_size = axes[0].kernel * axes[1].kernel * channels;
  if (y.last - y.first != axes[0].kernel || x.last - x.first != axes[1].kernel) {
    std::fill_n(row, row_size, T{0});
  }
  for (int64_t ky = y.first; ky < y.last; ++ky) {
    for (int64_t kx = x.first; kx < x.last; ++kx) {
      const int64_t at_y = y.start + ky * axes[0].dilation;
      const int64_t at_x = x.start + kx * axes[1].dilation;
      std::copy_n(in + (at_y * shape[2] + at_x) * channels, channels,
                  row + (ky * axes[1].kernel + kx) * channels);
    }
  }
}

/// Integer sums do not depend on their order: one dot product over the window per output channel.
void convolve_ints(RefCall& call) {
  const Shape& shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const auto axes = conv_window(call, {weight_shape[1], weight_shape[2]});
  const std::vector<int16_t> in = centred(*call.in[0], *call.in[3]);
  const std::vector<int16_t> weight = centred(*call.in[1], *call.in[4]);
  const int64_t window = weight_shape[1] * weight_shape[2] * weight_shape[3];
  const int64_t max_product = call.in[0]->dtype == DType::kI16 ? 32768 * 255 : 255 * 255;
  std::vector<int16_t> row(static_cast<size_t>(window));
  std::vector<int64_t> sums(static_cast<size_t>(weight_shape[0]));
  int64_t offset = 0;
  bool fits = true;
  for (int64_t n = 0; n < shape[0]; ++n) {
    const int16_t* image = in.data() + n * shape[1] * shape[2] * shape[3];
    for (int64_t oy = 0; oy < axes[0].out; ++oy) {
      for (int64_t ox = 0; ox < axes[1].out; ++ox, offset += weight_shape[0]) {
        gather_window(image, shape, axes[0].range(oy), axes[1].range(ox), axes, row.data());
        for (size_t oc = 0; oc < sums.size(); ++oc)
          sums[oc] = dot(row.data(), weight.data() + static_cast<int64_t>(oc) * window, window,
                         max_product);
        fits = store_accumulators(call, sums, offset) && fits;
      }
    }
  }
  if (!fits) call.set_unpredictable("an accumulator overflows");
}

/// In the order ky, kx, ic for each output channel; all output channels side by side.
void convolve_floats(RefCall& call) {
  const Shape& shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const auto axes = conv_window(call, {weight_shape[1], weight_shape[2]});
  const auto out_channels = static_cast<size_t>(weight_shape[0]);
  const int64_t channels = shape[3];
  const auto window = static_cast<size_t>(weight_shape[1] * weight_shape[2] * channels);
  std::vector<float> in_buffer;
  std::vector<float> weight_buffer;
  const float* in = as_floats(*call.in[0], in_buffer).data();
  const float* weight = as_floats(*call.in[1], weight_buffer).data();
  std::vector<float> transposed(window * out_channels);  // [ky, kx, ic][oc]
  for (size_t oc = 0; oc < out_channels; ++oc) {
    for (size_t k = 0; k < window; ++k)
      transposed[k * out_channels + oc] = weight[oc * window + k];
  }
  std::vector<float> sums(out_channels);
  int64_t offset = 0;
  for (int64_t n = 0; n < shape[0]; ++n, in += shape[1] * shape[2] * channels) {
    for (int64_t oy = 0; oy < axes[0].out; ++oy) {
      const auto y = axes[0].range(oy);
      for (int64_t ox = 0; ox < axes[1].out; ++ox, offset += weight_shape[0]) {
        const auto x = axes[1].range(ox);
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (int64_t ky = y.first; ky < y.last; ++ky) {
          for (int64_t kx = x.first; kx < x.last; ++kx) {
            const int64_t at_y = y.start + ky * axes[0].dilation;
            const int64_t at_x = x.start + kx * axes[1].dilation;
            const float* pixel = in + (at_y * shape[2] + at_x) * channels;
            const float* w =
                transposed.data() +
                static_cast<size_t>((ky * axes[1].kernel + kx) * channels) * out_channels;
            for (int64_t ic = 0; ic < channels; ++ic, w += out_channels) {
              const float value = pixel[ic];
              for (size_t oc = 0; oc < out_channels; ++oc)
                sums[oc] += value * w[oc];
            }
          }
        }
        store_float_accumulators(call, sums, offset);
      }
    }
  }
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

TOSAIC_TOSA_OP(conv2d) = {
    .number = 3,
    .operands = kConvOperands,
    .results = kConvResults,
    .signatures = kConvSignatures,
    .attrs = fields_of<Conv2dAttrs>(),
    .infer = infer,
    .reference = reference,
};
