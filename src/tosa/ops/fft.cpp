// SPDX-License-Identifier: Apache-2.0
// FFT2D and RFFT2D: the sums of the specification as they stand, in double.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <numbers>
#include <vector>

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

/// Cosines and sines of whole parts of a turn. The sizes are powers of two, so every angle of a
/// transform is one of these, and those of quarter turns are exact: of real values the imaginary
/// sums at the corners of the spectrum must be zero, and no rounding is within their bound.
class Turn {
 public:
  explicit Turn(int64_t parts) : values_(static_cast<size_t>(parts)) {
    for (int64_t i = 0; i < parts; ++i) {
      const double angle =
          2 * std::numbers::pi * static_cast<double>(i) / static_cast<double>(parts);
      values_[static_cast<size_t>(i)] = {std::cos(angle), std::sin(angle)};
      if (4 * i % parts == 0) set_quarter(i, static_cast<size_t>(4 * i / parts));
    }
  }
  [[nodiscard]] int64_t parts() const { return static_cast<int64_t>(values_.size()); }
  [[nodiscard]] std::complex<double> at(int64_t part) const {
    return values_[static_cast<size_t>(part) & (values_.size() - 1)];
  }

 private:
  void set_quarter(int64_t part, size_t quarter) {
    constexpr std::complex<double> kQuarters[] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
    values_[static_cast<size_t>(part)] = kQuarters[quarter];
  }
  std::vector<std::complex<double>> values_;
};

/// Sums of one output element over an image of H x W. `imaginary` may be nullptr: zeros.
void transform(const float* real, const float* imaginary, int64_t h, int64_t w, int64_t oy,
               int64_t ox, double sign, const Turn& turn, double& sum_real, double& sum_imaginary) {
  const int64_t step_y = oy * (turn.parts() / h);
  const int64_t step_x = ox * (turn.parts() / w);
  for (int64_t iy = 0; iy < h; ++iy) {
    for (int64_t ix = 0; ix < w; ++ix) {
      const std::complex<double> weight = turn.at(iy * step_y + ix * step_x);
      const double sine = sign * weight.imag();
      const double a = real[iy * w + ix];
      if (imaginary == nullptr) {
        sum_real += a * weight.real();
        sum_imaginary -= a * sine;
      } else {
        const double b = imaginary[iy * w + ix];
        sum_real += a * weight.real() + b * sine;
        sum_imaginary += -a * sine + b * weight.real();
      }
    }
  }
}

void compute(RefCall& call, const float* imaginary, double sign) {
  const Shape& in = call.in[0]->shape;
  const Shape& out = call.out[0].shape;
  const auto* real = call.in[0]->data<float>();
  auto* out_real = call.out[0].mutable_data<float>();
  auto* out_imaginary = call.out[1].mutable_data<float>();
  const Turn turn(std::max(in[1], in[2]));
  for (int64_t n = 0; n < in[0]; ++n) {
    const int64_t image = n * in[1] * in[2];
    for (int64_t oy = 0; oy < out[1]; ++oy) {
      for (int64_t ox = 0; ox < out[2]; ++ox) {
        double a = 0;
        double b = 0;
        transform(real + image, imaginary == nullptr ? nullptr : imaginary + image, in[1], in[2],
                  oy, ox, sign, turn, a, b);
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
