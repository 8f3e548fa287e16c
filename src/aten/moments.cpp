// SPDX-License-Identifier: Apache-2.0
#include "aten/moments.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tosaic::aten {
namespace {

/// Bits of int32 that sums use; one is left for epsilon and roundings.
constexpr int kSumBits = 29;
/// Longer rows have squares of too few bits for one common step.
constexpr int64_t kLongRow = 1024;

int ceil_log2(int64_t v) {
  return std::bit_width(static_cast<uint64_t>(std::max<int64_t>(v, 1)) - 1);
}

/// What codes are multiplied by before the mean is taken off: by their number, so that the mean is
/// an integer too, and by as much more as leaves their squares 64 bits.
double factor_of(int bits, int64_t count, bool subtract_mean) {
  constexpr int kDeviationBits = 22;
  constexpr int kMostBits = 30;
  const int64_t whole = subtract_mean ? count : 1;
  const int used = bits + ceil_log2(whole);
  if (used > kMostBits) return std::ldexp(1.0, std::max(0, kDeviationBits - bits));
  return std::ldexp(static_cast<double>(whole), std::max(0, kDeviationBits - used));
}

}  // namespace

std::optional<Moments> moments(Builder& b, Value* x, const Quant& quant, int axis,
                               bool subtract_mean, double epsilon) {
  Integers in(b);
  const int64_t count = x->shape()[axis];
  const int bits = x->dtype() == DType::kI8 ? 8 : 16;  // of a difference of two codes
  // The sum of the codes, without their zero point, fits int32.
  if (count < 1 || bits + ceil_log2(count) > 31) return std::nullopt;
  Moments m;
  m.count = count;
  m.epsilon = epsilon;
  const double factor = factor_of(bits, count, subtract_mean);
  m.deviation = in.centred(x, quant, factor);
  m.deviation_scale = quant.scale() / factor;
  double largest = std::ldexp(factor, bits);
  if (subtract_mean) {
    Value* sum = in.sum(in.centred(x, quant), axis);
    const double share = factor / static_cast<double>(count);
    m.deviation = in.sub(m.deviation, b.rescale(sum, DType::kI32, share, 0, 0));
    largest /= 2;  // in the root of the mean of squares: half of the range
  }
  const double step = m.deviation_scale * m.deviation_scale;
  const double most = static_cast<double>(count) * (largest * largest + epsilon / step);
  constexpr double kMostShift = 62;
  if (!(most < std::exp2(kMostShift + kSumBits))) return std::nullopt;  // epsilon beside tiny codes
  m.shift = std::max(0, static_cast<int>(std::ceil(std::log2(most))) - kSumBits);
  m.squares = in.sum(in.mul(m.deviation, m.deviation, m.shift), axis);
  m.squares_scale = std::ldexp(step, m.shift);
  return m;
}

Scaled normalised(Builder& b, const Moments& m, int axis, bool fine) {
  Integers in(b);
  const double epsilon = m.epsilon * static_cast<double>(m.count) / m.squares_scale;
  const int64_t rounded = std::llrint(epsilon);
  Value* deviation = m.deviation;
  Value* squares = in.add(m.squares, rounded);
  if (fine || m.count > kLongRow) {
    // All is multiplied by 4^k, as far as int32 permits; each rounding may have lost half a step.
    Value* bound = in.add(squares, m.count);
    Value* k = in.shift_right(in.add(in.leading_zeros(bound), -3), in.like(bound, 1));
    deviation = in.shift_left(deviation, k);
    squares = in.sum(in.mul(deviation, deviation, m.shift), axis);
    if (epsilon > 0) {
      const int scale = std::clamp(static_cast<int>(std::floor(30 - std::log2(epsilon))), 0, 30);
      Value* whole = in.like(bound, std::llrint(std::ldexp(epsilon, scale)));
      squares = in.add(squares, in.shift_right(whole, in.sub(scale, in.add(k, k))));
    }
    squares = in.at_least(squares, 1);
  } else if (rounded == 0) {
    squares = in.at_least(squares, 1);
  }
  const int shift = (m.shift + 1) / 2 + 1;
  Value* y = in.mul(deviation, in.rsqrt(squares, fine), shift);
  const double power = shift - m.shift / 2.0 - Integers::kRsqrtBits;
  return {y, std::sqrt(static_cast<double>(m.count)) * std::exp2(power)};
}

}  // namespace tosaic::aten
