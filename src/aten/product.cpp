// SPDX-License-Identifier: Apache-2.0
#include "aten/product.h"

#include <bit>
#include <cmath>

namespace tosaic::aten {
namespace {

Value* multiply(Builder& b, Value* x, int64_t x_zp, Value* y, int64_t y_zp) {
  return b.emit(tosa::matmul,
                {x, y, b.zero_point(x->dtype(), x_zp), b.zero_point(y->dtype(), y_zp)});
}

/// The sum of the products of bytes in units of 2^drop, so that it stays below 2^30.
Scaled product_of_bytes(Builder& b, Value* x, Value* y) {
  const auto depth = static_cast<uint64_t>(std::max<int64_t>(x->shape()[2], 1));
  const double unit = std::ldexp(1.0, std::bit_width(depth - 1) + 1);
  const Bytes bx = split_int16(b, x);
  const Bytes by = split_int16(b, y);
  const auto part = [&](Value* u, int64_t u_zp, Value* v, int64_t v_zp, double weight) {
    return b.rescale(multiply(b, u, u_zp, v, v_zp), DType::kI32, weight / unit, 0, 0);
  };
  Value* high = part(bx.high, 0, by.high, 0, 65536);
  Value* mixed = b.emit(tosa::add, {part(bx.high, 0, by.low, kLowByteZeroPoint, 256),
                                    part(bx.low, kLowByteZeroPoint, by.high, 0, 256)});
  Value* low = part(bx.low, kLowByteZeroPoint, by.low, kLowByteZeroPoint, 1);
  return {b.emit(tosa::add, {high, b.emit(tosa::add, {mixed, low})}), unit};
}

}  // namespace

Bytes split_int16(Builder& b, Value* x) {
  const int rank = x->shape().rank();
  // RESCALE rounds halves up: floor((x - 128) / 256 + 1/2) = floor(x / 256).
  Value* wide = b.rescale(x, DType::kI32, 1, 0, 0);
  Value* shifted = b.emit(tosa::sub, {wide, b.scalar_int(DType::kI32, 128, rank)});
  Value* high = b.rescale(shifted, DType::kI8, 1.0 / 256, 0, 0);
  Value* rest = b.emit(tosa::sub, {wide, b.rescale(high, DType::kI32, 256, 0, 0)});
  return {high, b.rescale(rest, DType::kI8, 1, 0, kLowByteZeroPoint)};
}

Scaled quantised_product(Builder& b, Value* x, const Quant& qx, Value* y, const Quant& qy) {
  const double scale = qx.scale() * qy.scale();
  Value* zero_points[] = {b.zero_point(x->dtype(), qx.zero_point()),
                          b.zero_point(y->dtype(), qy.zero_point())};
  Value* const operands[] = {x, y, zero_points[0], zero_points[1]};
  if (x->dtype() != DType::kI16 || b.legal(tosa::matmul, operands)) {
    return {b.emit(tosa::matmul, operands), scale};
  }
  const Scaled product = product_of_bytes(b, x, y);
  return {product.value, product.scale * scale};
}

}  // namespace tosaic::aten
