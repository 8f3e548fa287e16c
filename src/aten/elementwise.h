// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>

#include "aten/arithmetic.h"

/// Pieces of rows whose results depend on one element of each operand.
namespace tosaic::aten {

/// Calls of other rows on float values of one shape and dtype, for composites.
class FloatCalls {
 public:
  FloatCalls(Builder& b, const TensorType& type) : b_(b), type_(type) {}

  /// A function without other arguments, by its overload's full name.
  Value* unary(std::string_view full_name, Value* x) { return b_.call(full_name, {x}, type_); }
  Value* add(Value* x, Value* y) { return b_.call("aten.add.Tensor", {x, y}, type_); }
  Value* mul(Value* x, Value* y) { return b_.call("aten.mul.Tensor", {x, y}, type_); }
  Value* add(Value* x, double y) {
    return b_.call("aten.add.Scalar", {x}, type_, {{"other", Attr::real(y)}});
  }
  Value* mul(Value* x, double y) {
    return b_.call("aten.mul.Scalar", {x}, type_, {{"other", Attr::real(y)}});
  }
  Value* limit(Value* x, double low, double high) {
    return b_.call("aten.hardtanh.default", {x}, type_,
                   {{"min_val", Attr::real(low)}, {"max_val", Attr::real(high)}});
  }

 private:
  Builder& b_;
  const TensorType& type_;
};

/// Operand 0 in the dtype of the result: PyTorch computes exp of integers in float.
inline Value* promoted_operand(const Call& n, Builder& b) {
  return b.cast(n.in(0), n.out().dtype);
}

/// A number of the result's dtype that broadcasts against it.
inline Value* number(const Call& n, Builder& b, double value) {
  const int rank = n.out().shape.rank();
  const DType dtype = n.out().dtype;
  if (is_float(dtype)) return b.scalar_float(dtype, value, rank);
  if (!(std::abs(value) < 0x1p62)) {
    b.fail(reject(Code::kRejectAttribute, "{}: {} is no {}", n.schema().full_name, value,
                  dtype_name(dtype)));
    value = 0;
  }
  return b.scalar_int(dtype, static_cast<int64_t>(value), rank);
}

/// The same of a number of the program, of which an integer keeps all 64 bits.
inline Value* number(const Call& n, Builder& b, std::string_view name) {
  const Attr given = n.arg(name);
  if (given.kind() != Attr::Kind::kInt || is_float(n.out().dtype)) return number(n, b, n.f(name));
  return b.scalar_int(n.out().dtype, given.as_int(), n.out().shape.rank());
}

/// The stored integers without their zero point, as int32 of rank `rank`.
Value* centred(Builder& b, Value* x, int rank);

/// An int32 product or quotient of codes, one of which is `scale` steps of the result, as the
/// result. `is_wide`: it may have 31 bits, which apply_scale_32 takes for scales below 1/2 only.
Lowered finish_product(const Call& n, Builder& b, Value* product, double scale, bool is_wide);

/// TABLE of a function with jumps. On 16-bit values a table interpolates between every 128th input,
/// which is wrong near a jump, so these are refused.
Lowered lower_step_table(const Call& n, Builder& b, double (*function)(double, const Call&));

/// Greatest integer below a float of the result's dtype. CAST rounds to the nearest; what has no
/// fraction bits (from 2^23 on) stays as it is.
Value* floor_of(const Call& n, Builder& b, Value* x);

}  // namespace tosaic::aten
