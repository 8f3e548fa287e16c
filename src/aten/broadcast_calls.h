// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aten/builder.h"

namespace tosaic::aten {

/// Calls of other rows on values that broadcast, for composites.
class BroadcastCalls {
 public:
  BroadcastCalls(Builder& b, const Call& call) : b_(b), call_(call), dtype_(call.out().dtype) {}

  Value* binary(std::string_view full_name, Value* x, Value* y, DType result) {
    Shape shape;
    if (!broadcast(x->shape(), y->shape(), shape)) {
      b_.fail(reject(Code::kRejectShape, "{}: {} and {} do not broadcast", call_.schema().full_name,
                     to_string(x->shape()), to_string(y->shape())));
      return x;
    }
    return b_.call(full_name, {x, y}, {result, shape, nullptr});
  }
  Value* add(Value* x, Value* y) { return binary("aten.add.Tensor", x, y, dtype_); }
  Value* sub(Value* x, Value* y) { return binary("aten.sub.Tensor", x, y, dtype_); }
  Value* mul(Value* x, Value* y) { return binary("aten.mul.Tensor", x, y, dtype_); }
  Value* div(Value* x, Value* y) { return binary("aten.div.Tensor", x, y, dtype_); }
  Value* greatest(Value* x, Value* y) { return binary("aten.maximum.default", x, y, dtype_); }
  Value* least(Value* x, Value* y) { return binary("aten.minimum.default", x, y, dtype_); }
  Value* greater(Value* x, Value* y) { return binary("aten.gt.Tensor", x, y, DType::kBool); }

  /// A function of one value, of the result's dtype.
  Value* unary(std::string_view full_name, Value* x) {
    return b_.call(full_name, {x}, {dtype_, x->shape(), nullptr});
  }
  Value* with_number(std::string_view full_name, Value* x, double number) {
    return b_.call(full_name, {x}, {dtype_, x->shape(), nullptr}, {{"other", Attr::real(number)}});
  }
  Value* add(Value* x, double y) { return y == 0 ? x : with_number("aten.add.Scalar", x, y); }
  Value* mul(Value* x, double y) { return y == 1 ? x : with_number("aten.mul.Scalar", x, y); }
  Value* power(Value* x, double exponent) {
    return b_.call("aten.pow.Tensor_Scalar", {x}, {dtype_, x->shape(), nullptr},
                   {{"exponent", Attr::real(exponent)}});
  }
  /// sum, mean, amax, amin, of axes that stay with size 1 or go.
  Value* reduce(std::string_view full_name, Value* x, std::span<const int64_t> axes,
                bool keeps_axes) {
    std::vector<int64_t> sizes;
    for (int axis = 0; axis < x->shape().rank(); ++axis) {
      bool reduced = axes.empty();
      for (int64_t a : axes)
        reduced = reduced || a == axis;
      if (!reduced) sizes.push_back(x->shape()[axis]);
      if (reduced && keeps_axes) sizes.push_back(1);
    }
    return b_.call(full_name, {x}, {dtype_, Shape(sizes), nullptr},
                   {{"dim", Attr::ints(axes)}, {"keepdim", Attr::boolean(keeps_axes)}});
  }

 private:
  Builder& b_;
  const Call& call_;
  DType dtype_;
};

/// Reject unless all operands and the result are float; what composites have other forms for is
/// quantised operator by operator.
inline std::optional<Reject> check_floats(const Call& call) {
  for (const TensorType& type : call.results()) {
    if (!is_float(type.dtype) && type.dtype != DType::kI64) {
      return reject(Code::kRejectDtype, "{}: no form for {}", call.schema().full_name,
                    dtype_name(type.dtype));
    }
  }
  return std::nullopt;
}

}  // namespace tosaic::aten
