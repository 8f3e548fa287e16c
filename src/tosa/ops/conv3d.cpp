// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string_view>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/convolution.h"

namespace tosaic::tosa {
namespace {

constexpr std::array<std::string_view, 3> kAxes = {"depth", "height", "width"};

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 5, 5));
  TOSAIC_CHECK_OK(check_rank(call, 1, 5, 5));
  const auto attrs = call.get<Conv3dAttrs>();
  const Shape& in = call.shape(0);
  const Shape& weight = call.shape(1);
  if (weight[4] != in[4]) {
    return call.fail(Code::kVerifyRank, "weight has {} input channels and the input has {}",
                     weight[4], in[4]);
  }
  TOSAIC_CHECK_OK(check_conv_rules(call, attrs.acc_type, weight[0]));
  Shape out = in;
  for (size_t i = 0; i < 3; ++i) {
    const int axis = 1 + static_cast<int>(i);
    TOSAIC_TRY(out[axis],
               window_size(call, kAxes[i], in[axis], attrs.pad[2 * i], attrs.pad[2 * i + 1],
                           weight[axis], attrs.stride[i], attrs.dilation[i]));
  }
  out[4] = weight[0];
  call.add_result(out);
  return ok();
}

std::array<WindowAxis, 3> windows_of(const RefCall& call) {
  const auto attrs = call.get<Conv3dAttrs>();
  const Shape& in = call.in[0]->shape;
  const Shape& weight = call.in[1]->shape;
  const Shape& out = call.out[0].shape;
  std::array<WindowAxis, 3> axes;
  for (size_t i = 0; i < 3; ++i) {
    const int axis = 1 + static_cast<int>(i);
    axes[i] = {in[axis],        out[axis],         weight[axis],
               attrs.stride[i], attrs.dilation[i], attrs.pad[2 * i]};
  }
  return axes;
}

/// Calls fn(offset of the input pixel, offset of the kernel's place) for what one output voxel
/// reads.
template <typename Fn>
void for_each_tap(const std::array<WindowAxis, 3>& a, const Shape& in, const Shape& weight,
                  const std::array<WindowAxis::Range, 3>& r, Fn fn) {
  for (int64_t kd = r[0].first; kd < r[0].last; ++kd) {
    for (int64_t ky = r[1].first; ky < r[1].last; ++ky) {
      for (int64_t kx = r[2].first; kx < r[2].last; ++kx) {
        const int64_t z = r[0].start + kd * a[0].dilation;
        const int64_t y = r[1].start + ky * a[1].dilation;
        const int64_t x = r[2].start + kx * a[2].dilation;
        fn(((z * in[2] + y) * in[3] + x) * in[4],
           ((kd * weight[2] + ky) * weight[3] + kx) * weight[4]);
      }
    }
  }
}

/// Calls fn(image, ranges, offset of the output voxel) for every output voxel.
template <typename Fn>
void for_each_voxel(const RefCall& call, const std::array<WindowAxis, 3>& axes, Fn fn) {
  const Shape& out = call.out[0].shape;
  int64_t offset = 0;
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t z = 0; z < out[1]; ++z) {
      for (int64_t y = 0; y < out[2]; ++y) {
        for (int64_t x = 0; x < out[3]; ++x, offset += out[4]) {
          const std::array<WindowAxis::Range, 3> ranges = {axes[0].range(z), axes[1].range(y),
                                                           axes[2].range(x)};
          fn(n, ranges, offset);
        }
      }
    }
  }
}

void convolve_ints(RefCall& call) {
  const Shape& in_shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const auto axes = windows_of(call);
  const std::vector<int16_t> in = centred(*call.in[0], *call.in[3]);
  const std::vector<int16_t> weight = centred(*call.in[1], *call.in[4]);
  const int64_t max_product = call.in[0]->dtype == DType::kI16 ? 32768 * 255 : 255 * 255;
  const int64_t channels = in_shape[4];
  const int64_t image = in_shape.num_elements() / in_shape[0];
  const int64_t window = weight_shape.num_elements() / weight_shape[0];
  std::vector<int64_t> sums(static_cast<size_t>(weight_shape[0]));
  bool fits = true;
  for_each_voxel(call, axes, [&](int64_t n, const auto& ranges, int64_t offset) {
    std::fill(sums.begin(), sums.end(), 0);
    for_each_tap(axes, in_shape, weight_shape, ranges, [&](int64_t pixel, int64_t place) {
      for (size_t oc = 0; oc < sums.size(); ++oc) {
        sums[oc] +=
            dot(in.data() + n * image + pixel,
                weight.data() + static_cast<int64_t>(oc) * window + place, channels, max_product);
      }
    });
    fits = store_accumulators(call, sums, offset) && fits;
  });
  if (!fits) call.set_unpredictable("an accumulator overflows");
}

/// In the order kd, ky, kx, ic for each output channel.
void convolve_floats(RefCall& call) {
  const Shape& in_shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const auto axes = windows_of(call);
  std::vector<float> in_buffer;
  std::vector<float> weight_buffer;
  const float* in = as_floats(*call.in[0], in_buffer).data();
  const float* weight = as_floats(*call.in[1], weight_buffer).data();
  const int64_t channels = in_shape[4];
  const int64_t image = in_shape.num_elements() / in_shape[0];
  const int64_t window = weight_shape.num_elements() / weight_shape[0];
  std::vector<float> sums(static_cast<size_t>(weight_shape[0]));
  for_each_voxel(call, axes, [&](int64_t n, const auto& ranges, int64_t offset) {
    std::fill(sums.begin(), sums.end(), 0.0f);
    for_each_tap(axes, in_shape, weight_shape, ranges, [&](int64_t pixel, int64_t place) {
      for (size_t oc = 0; oc < sums.size(); ++oc) {
        const float* a = in + n * image + pixel;
        const float* w = weight + static_cast<int64_t>(oc) * window + place;
        for (int64_t ic = 0; ic < channels; ++ic)
          sums[oc] += a[ic] * w[ic];
      }
    });
    store_float_accumulators(call, sums, offset);
  });
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

TOSAIC_TOSA_OP(conv3d) = {
    .number = 4,
    .operands = kConvOperands,
    .results = kConvResults,
    .signatures = kConvSignatures,
    .attrs = fields_of<Conv3dAttrs>(),
    .infer = infer,
    .reference = reference,
};
