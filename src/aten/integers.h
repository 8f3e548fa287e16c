// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>

#include "aten/builder.h"
#include "aten/product.h"

/// Arithmetic on int32 and functions that are right to 16 bits, out of operations that every NPU
/// has: Ethos-U55 has tables of 8 bits only, and no division (docs/composites.md).
namespace tosaic::aten {

class Integers {
 public:
  explicit Integers(Builder& b) : b_(b) {}

  Value* add(Value* x, Value* y) { return b_.emit(tosa::add, {x, y}); }
  Value* add(Value* x, int64_t y) { return y == 0 ? x : add(x, like(x, y)); }
  Value* sub(Value* x, Value* y) { return b_.emit(tosa::sub, {x, y}); }
  Value* sub(int64_t x, Value* y) { return sub(like(y, x), y); }
  /// x * y / 2^shift, rounded half up; the result must fit int32.
  Value* mul(Value* x, Value* y, int shift) { return b_.mul(x, y, shift); }
  Value* mul(Value* x, int64_t y, int shift) { return mul(x, like(x, y), shift); }
  Value* at_least(Value* x, int64_t y);
  Value* at_most(Value* x, int64_t y);
  Value* shift_left(Value* x, Value* bits);
  Value* shift_right(Value* x, Value* bits);  ///< rounded half up
  Value* leading_zeros(Value* x) { return b_.emit(tosa::clz, {x}); }
  Value* sum(Value* x, int axis);
  /// A number that broadcasts against `x`.
  Value* like(Value* x, int64_t number) {
    return b_.scalar_int(DType::kI32, number, x->shape().rank());
  }
  /// The codes of a quantised value without their zero point, times `factor`.
  Value* centred(Value* x, const Quant& quant, double factor = 1);

  /// Results of up to 24 bits from an 8-bit table: entry(code), for codes from -128 to 127, fits
  /// `num_bytes`, with its sign when some entry is negative. Each byte of the results is a table of
  /// its own.
  Value* table(Value* code, int num_bytes, const std::function<int64_t(int code)>& entry);

  /// exp(d * unit) for d <= 0 in steps of `scale`; the greatest result is 65535. Its error is 2^-15
  /// of it and half a step. Below exp(-16) it is nothing.
  Scaled exp(Value* d, double unit);
  /// The same where d lies in [-255, 0]: one table of the 256 arguments.
  Scaled exp_of_bytes(Value* d, double unit);

  /// 2^45 / x, for x from 2^15 on; its error is 2^-15 of it.
  Value* reciprocal(Value* x);
  static constexpr int kReciprocalBits = 45;
  /// x * 2^bits / y, cut off at ±2^30, for |x| <= 2^16, y from 1 to 2^17 and bits from 0 to 30; its
  /// error is 2^-14 of it where x is 1, 2^-28 where x is great, and half a step.
  Value* quotient(Value* x, Value* y, int bits);
  /// 2^29.5 / sqrt(x), for x from 1 on; its error is 2^-15 of it, or 2^-26 when `fine`.
  Value* rsqrt(Value* x, bool fine);
  static constexpr double kRsqrtBits = 29.5;
  /// ln(x) in steps of 2^-26, for x from 1 on; its error is 2^-15.
  Value* log(Value* x);
  static constexpr int kLogBits = 26;

 private:
  /// x * 2^shift in [2^30, 2^31).
  struct Normalised {
    Value* mantissa = nullptr;
    Value* shift = nullptr;
  };
  Normalised normalise(Value* x);
  Value* inverse(Value* mantissa, bool fine);
  Value* index_of(Value* mantissa, int64_t centre, double half_width);

  Builder& b_;
};

}  // namespace tosaic::aten
