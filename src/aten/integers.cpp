// SPDX-License-Identifier: Apache-2.0
#include "aten/integers.h"

#include <algorithm>
#include <array>
#include <numbers>

namespace tosaic::aten {
namespace {

constexpr int64_t kOne30 = int64_t{1} << 30;
constexpr int kCodes = 256;
constexpr int64_t kLowest = -128;  // code of an 8-bit unsigned 0
constexpr int64_t kHighest = 127;  // code of the greatest argument, 0, of an exponential
constexpr double kMost = 65535;    // of 16 bits

// Mantissas in [2^30, 2^31) by their 256 intervals.
constexpr int64_t kCentre = 3 * (kOne30 / 2);
constexpr double kHalfWidth = 0x1p29;
constexpr double mantissa_at(int code) {
  return static_cast<double>(kCentre) + code * kHalfWidth / 128;
}

}  // namespace

Value* Integers::at_least(Value* x, int64_t y) {
  return b_.emit(tosa::maximum, {x, like(x, y)}, tosa::NanModeAttrs{});
}
Value* Integers::at_most(Value* x, int64_t y) {
  return b_.emit(tosa::minimum, {x, like(x, y)}, tosa::NanModeAttrs{});
}
Value* Integers::shift_left(Value* x, Value* bits) {
  return b_.emit(tosa::logical_left_shift, {x, bits});
}
Value* Integers::shift_right(Value* x, Value* bits) {
  return b_.emit(tosa::arithmetic_right_shift, {x, bits},
                 tosa::ArithmeticRightShiftAttrs{.round = true});
}
Value* Integers::sum(Value* x, int axis) {
  return b_.emit(tosa::reduce_sum, {x}, tosa::AxisAttrs{axis});
}
Value* Integers::centred(Value* x, const Quant& quant, double factor) {
  return b_.rescale(x, DType::kI32, factor, quant.zero_point(), 0);
}

Value* Integers::table(Value* code, int num_bytes, const std::function<int64_t(int code)>& entry) {
  std::array<int64_t, kCodes> entries{};
  for (int i = 0; i < kCodes; ++i)
    entries[static_cast<size_t>(i)] = entry(i + static_cast<int>(kLowest));
  const bool is_signed = std::ranges::any_of(entries, [](int64_t v) { return v < 0; });
  Value* sum = nullptr;
  for (int byte = num_bytes - 1; byte >= 0; --byte) {
    const bool has_sign = is_signed && byte == num_bytes - 1;
    const int64_t zero_point = has_sign ? 0 : kLowest;
    std::array<int64_t, kCodes> part{};
    for (size_t i = 0; i < part.size(); ++i) {
      const int64_t rest = entries[i] >> (8 * byte);
      part[i] = has_sign ? rest : (rest & 255) + kLowest;
    }
    Value* found = b_.emit(tosa::table, {code, b_.constant_ints(DType::kI8, {kCodes}, part)});
    found = b_.rescale(found, DType::kI32, std::ldexp(1.0, 8 * byte), zero_point, 0);
    sum = sum == nullptr ? found : add(sum, found);
  }
  return sum;
}

Scaled Integers::exp_of_bytes(Value* d, double unit) {
  Value* code = b_.rescale(d, DType::kI8, 1, 0, kHighest);
  const auto value = [=](int c) {
    return std::llrint(kMost * std::exp(unit * (c - static_cast<int>(kHighest))));
  };
  return {table(code, 2, value), 1 / kMost};
}

// exp(x) = exp(h) * exp(l), with h in steps of 1/16 out of a table and exp(l) = 1 + l + l^2 / 2.
Scaled Integers::exp(Value* d, double unit) {
  constexpr int kFraction = 16;                    // bits of x
  constexpr int kStep = 1 << (kFraction - 4);      // 1/16
  constexpr double kLeast = -(kCodes - 1) / 16.0;  // of the table
  unit = std::min(unit, 64.0);                     // of which one is as little as many
  // Limited first, so that no product leaves int32; one step more than the least argument.
  const double least = std::floor(kLeast / unit);
  if (least > -0x1p31) d = at_least(d, static_cast<int64_t>(least));
  Value* x = b_.rescale(d, DType::kI32, unit * (1 << kFraction), 0, 0);
  Value* high = b_.rescale(x, DType::kI8, 1.0 / kStep, 0, kHighest);
  Value* low = sub(x, b_.rescale(high, DType::kI32, kStep, kHighest, 0));
  low = add(low, mul(low, low, kFraction + 1));
  const auto value = [](int c) {
    return std::llrint(kMost * std::exp((c - static_cast<int>(kHighest)) / 16.0));
  };
  Value* y = table(high, 2, value);
  return {add(y, mul(y, low, kFraction)), 1 / kMost};
}

Integers::Normalised Integers::normalise(Value* x) {
  Value* shift = add(leading_zeros(x), -1);
  return {shift_left(x, shift), shift};
}

/// The code of the interval that a mantissa lies in.
Value* Integers::index_of(Value* mantissa, int64_t centre, double half_width) {
  return b_.rescale(add(mantissa, -centre), DType::kI8, 128 / half_width, 0, 0);
}

/// Y = 1 / m, with 29 fraction bits, for m in [1/2, 1) with 31: a guess out of a table and a step
/// of Newton's method, Y (2 - m Y), or two when `fine`.
Value* Integers::inverse(Value* mantissa, bool fine) {
  Value* code = index_of(mantissa, kCentre, kHalfWidth);
  std::array<int64_t, kCodes> guess{};
  for (int i = 0; i < kCodes; ++i) {
    const double inverse = 0x1p31 / mantissa_at(i + static_cast<int>(kLowest));
    guess[static_cast<size_t>(i)] =
        std::clamp<int64_t>(std::llrint((inverse - 1) * 255), 0, 255) + kLowest;
  }
  Value* y = b_.emit(tosa::table, {code, b_.constant_ints(DType::kI8, {kCodes}, guess)});
  y = add(b_.rescale(y, DType::kI32, 0x1p29 / 255, kLowest, 0), kOne30 / 2);
  for (int step = 0; step < (fine ? 2 : 1); ++step)
    y = mul(y, sub(kOne30, mul(mantissa, y, 31)), 29);
  return y;
}

Value* Integers::reciprocal(Value* x) {
  const Normalised n = normalise(x);
  return shift_right(inverse(n.mantissa, false), sub(15, at_most(n.shift, 15)));
}

// 1 / y = Y * 2^(shift - 60), so x / y = P * 2^(shift - 44) with P = x * Y / 2^16, which has 30
// bits. What a shift to the left would push out of them is cut off before.
Value* Integers::quotient(Value* x, Value* y, int bits) {
  const Normalised n = normalise(y);
  Value* product = mul(x, inverse(n.mantissa, true), 16);
  const int64_t even = 44 - bits;  // the shift that leaves P as it is
  constexpr int64_t kMostShift = 30;
  if (even < kMostShift) {
    Value* left = at_least(add(n.shift, -even), 0);
    Value* limit = shift_right(like(left, kOne30), left);
    product = b_.emit(tosa::minimum, {product, limit}, tosa::NanModeAttrs{});
    product = b_.emit(tosa::maximum, {product, sub(int64_t{0}, limit)}, tosa::NanModeAttrs{});
    product = shift_left(product, left);
  }
  return shift_right(product, at_least(sub(even, n.shift), 0));
}

// Y = 1 / sqrt(m), with 29 fraction bits, for m in [1/4, 1) with 31: a guess and Newton's
// Y (3 - m Y^2) / 2. The shift is even, 2h, so that 1 / sqrt(x) = Y * 2^(h - 15.5).
Value* Integers::rsqrt(Value* x, bool fine) {
  constexpr int64_t kMiddle = 5 * (kOne30 / 4);
  constexpr double kHalf = 0.75 * 0x1p30;
  Value* half = shift_right(add(leading_zeros(x), -2), like(x, 1));
  Value* m = shift_left(x, add(half, half));
  std::array<int64_t, kCodes> guess{};
  for (int i = 0; i < kCodes; ++i) {
    const double at = static_cast<double>(kMiddle) + (i - 128) * kHalf / 128;
    const double root = std::sqrt(0x1p31 / at);
    guess[static_cast<size_t>(i)] =
        std::clamp<int64_t>(std::llrint((root - 1) * 255), 0, 255) + kLowest;
  }
  Value* y = b_.emit(tosa::table,
                     {index_of(m, kMiddle, kHalf), b_.constant_ints(DType::kI8, {kCodes}, guess)});
  y = add(b_.rescale(y, DType::kI32, 0x1p29 / 255, kLowest, 0), kOne30 / 2);
  for (int step = 0; step < (fine ? 2 : 1); ++step) {
    Value* product = mul(m, mul(y, y, 30), 31);  // 28 fraction bits
    y = mul(y, sub(3 * (kOne30 / 4), product), 29);
  }
  return shift_right(y, sub(15, half));
}

// ln(x) = (31 - shift) ln 2 + ln(m), with m in [1/2, 1): a table at the middle of m's interval and
// the slope there.
Value* Integers::log(Value* x) {
  const Normalised n = normalise(x);
  Value* code = index_of(n.mantissa, kCentre, kHalfWidth);
  constexpr double kStep = std::numbers::ln2 / kMost;
  Value* below =
      table(code, 2, [](int c) { return std::llrint(-std::log(mantissa_at(c) / 0x1p31) / kStep); });
  constexpr double kSlopeStep = 1.0 / (1 << 14);  // slopes 2^31 / m lie in (1, 2]
  Value* slope =
      table(code, 2, [](int c) { return std::llrint(0x1p31 / mantissa_at(c) / kSlopeStep); });
  Value* middle = b_.rescale(code, DType::kI32, kHalfWidth / 128, 0, 0);
  Value* from_middle = sub(add(n.mantissa, -kCentre), middle);
  Value* y = mul(sub(31, n.shift), std::llrint(std::ldexp(std::numbers::ln2, kLogBits)), 0);
  y = sub(y, b_.rescale(below, DType::kI32, std::ldexp(kStep, kLogBits), 0, 0));
  return add(y, mul(from_middle, slope, 31 - kLogBits + 14));
}

}  // namespace tosaic::aten
