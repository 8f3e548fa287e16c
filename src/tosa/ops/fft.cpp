// SPDX-License-Identifier: Apache-2.0
// FFT2D and RFFT2D: the sums of the specification as they stand, in double.
#include <bit>
#include <cmath>
#include <numbers>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {{Feature::kFft, {DType::kF32}}};

Status check_sizes(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 3, 3));
  for (int axis = 1; axis < 3; ++axis) {
    const int64_t size = call.shape(0)[axis];
    if (!std::has_single_bit(static_cast<uint64_t>(size))) {
      return call.fail(Code::kVerifyOpRule, "size {} of axis {} is no power of two", size, axis);
    }
    if (size > Level{}.max_kernel) {
      return call.fail(Code::kVerifyLevel, "size {} of axis {} is above the level's {}", size, axis,
                       Level{}.max_kernel);
    }
  }
  return ok();
}

Status infer_fft(InferCall& call) {
  TOSAIC_CHECK_OK(check_sizes(call));
  if (call.shape(1) != call.shape(0)) {
    return call.fail(Code::kVerifyRank, "the real part has sizes {} and the imaginary part {}",
                     to_string(call.shape(0)), to_string(call.shape(1)));
  }
  call.add_result(call.shape(0));
  call.add_result(call.shape(0));
  return ok();
}

Status infer_rfft(InferCall& call) {
  TOSAIC_CHECK_OK(check_sizes(call));
  Shape out = call.shape(0);
  out[2] = out[2] / 2 + 1;
  call.add_result(out);
  call.add_result(out);
  return ok();
}

/// Sums of one output element over an image of H x W. `imaginary` may be nullptr: zeros.
void transform(const float* real, const float* imaginary, int64_t h, int64_t w, int64_t oy,
               int64_t ox, double sign, double& sum_real, double& sum_imaginary) {
  for (int64_t iy = 0; iy < h; ++iy) {
    for (int64_t ix = 0; ix < w; ++ix) {
      // Whole turns are taken off before the angle is made.
      const double turns = static_cast<double>((iy * oy) % h) / static_cast<double>(h) +
                           static_cast<double>((ix * ox) % w) / static_cast<double>(w);
      const double angle = sign * 2 * std::numbers::pi * turns;
      const double a = real[iy * w + ix];
      const double b = imaginary == nullptr ? 0 : imaginary[iy * w + ix];
      sum_real += a * std::cos(angle) + b * std::sin(angle);
      sum_imaginary += -a * std::sin(angle) + b * std::cos(angle);
    }
  }
}

void compute(RefCall& call, const float* imaginary, double sign) {
  const Shape& in = call.in[0]->shape;
  const Shape& out = call.out[0].shape;
  const auto* real = call.in[0]->data<float>();
  auto* out_real = call.out[0].mutable_data<float>();
  auto* out_imaginary = call.out[1].mutable_data<float>();
  for (int64_t n = 0; n < in[0]; ++n) {
    const int64_t image = n * in[1] * in[2];
    for (int64_t oy = 0; oy < out[1]; ++oy) {
      for (int64_t ox = 0; ox < out[2]; ++ox) {
        double a = 0;
        double b = 0;
        transform(real + image, imaginary == nullptr ? nullptr : imaginary + image, in[1], in[2],
                  oy, ox, sign, a, b);
        *out_real++ = static_cast<float>(a);
        *out_imaginary++ = static_cast<float>(b);
      }
    }
  }
}

Status reference_fft(RefCall& call) {
  compute(call, call.in[1]->data<float>(), call.get<FftAttrs>().inverse ? -1.0 : 1.0);
  return ok();
}

Status reference_rfft(RefCall& call) {
  compute(call, nullptr, 1.0);
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(fft2d) = {
    .number = 6,
    .operands = {{"input_real", 0}, {"input_imag", 0}},
    .results = {{"output_real", 0}, {"output_imag", 0}},
    .signatures = kSignatures,
    .attrs = fields_of<FftAttrs>(),
    .infer = infer_fft,
    .reference = reference_fft,
};

TOSAIC_TOSA_OP(rfft2d) = {
    .number = 9,
    .operands = {{"input_real", 0}},
    .results = {{"output_real", 0}, {"output_imag", 0}},
    .signatures = kSignatures,
    .attrs = fields_of<RfftAttrs>(),
    .infer = infer_rfft,
    .reference = reference_rfft,
};
