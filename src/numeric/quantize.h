// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>

/// Affine quantisation q = clamp(round_half_even(x / scale) + zero_point), bit for bit as PyTorch's
/// eager `quantized_decomposed` operators compute it. Which arithmetic that is depends on how the
/// scale is given:
///
/// | operator | reciprocal | product and sum |
/// |---|---|---|
/// | (de)quantize_per_tensor, scale a Python float | 1.0 / scale in double, then rounded to float |
/// float | | (de)quantize_per_channel, scales float32 | 1.0f / scale in float | float | |
/// (de)quantize_per_channel, scales float64 | 1.0 / scale in double | double |
///
/// All three multiply by the reciprocal; a division gives other results near ties. Where PyTorch's
/// last conversion is undefined behaviour we define it: values outside int32 saturate, and NaN
/// gives 0 limited to [qmin, qmax].
namespace tosaic::numeric {

/// Parameters of a quantised tensor (or of one channel). scale > 0 and finite, qmin <= zero_point
/// <= qmax.
struct AffineParams {
  double scale = 1.0;
  int32_t zero_point = 0;
  int32_t qmin = -128;
  int32_t qmax = 127;

  friend constexpr bool operator==(const AffineParams&, const AffineParams&) = default;
};

/// Quantises and dequantises with one set of parameters. Real is the type of the product (see the
/// table above).
template <typename Real>
class Quantizer {
 public:
  constexpr Quantizer(Real scale, Real reciprocal, const AffineParams& params)
      : scale_(scale),
        reciprocal_(reciprocal),
        zero_point_(static_cast<Real>(params.zero_point)),
        lo_(static_cast<Real>(params.qmin)),
        hi_(static_cast<Real>(params.qmax)),
        qmin_(params.qmin),
        qmax_(params.qmax) {}

  /// The sum with the zero point is rounded to Real too, which shows from 2^24 on in float.
  int32_t quantize(float x) const {
    const Real q = std::nearbyint(static_cast<Real>(x) * reciprocal_) + zero_point_;
    if (q >= hi_) return qmax_;  // also where qmax rounds up to 2^31 in float
    if (q <= lo_) return qmin_;
    if (std::isnan(q)) return qmin_ > 0 ? qmin_ : (qmax_ < 0 ? qmax_ : 0);
    return static_cast<int32_t>(q);
  }

  /// (q - zero_point) * scale. The difference is taken in Real; PyTorch's per-channel form takes it
  /// in integers, which is the same below 2^24 or for zero point 0.
  float dequantize(int64_t q) const {
    return static_cast<float>((static_cast<Real>(q) - zero_point_) * scale_);
  }

 private:
  Real scale_;
  Real reciprocal_;
  Real zero_point_;
  Real lo_;
  Real hi_;
  int32_t qmin_;
  int32_t qmax_;
};

/// quantize_per_tensor and dequantize_per_tensor.
inline Quantizer<float> tensor_quantizer(const AffineParams& params) {
  return {static_cast<float>(params.scale), static_cast<float>(1.0 / params.scale), params};
}

/// One channel of (de)quantize_per_channel with float32 scales; params.scale must be a float32
/// value.
inline Quantizer<float> channel_quantizer_f32(const AffineParams& params) {
  const float scale = static_cast<float>(params.scale);
  return {scale, 1.0f / scale, params};
}

/// One channel of (de)quantize_per_channel with float64 scales.
inline Quantizer<double> channel_quantizer_f64(const AffineParams& params) {
  return {params.scale, 1.0 / params.scale, params};
}

}  // namespace tosaic::numeric
