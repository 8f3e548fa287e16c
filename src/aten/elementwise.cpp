// SPDX-License-Identifier: Apache-2.0
#include "aten/elementwise.h"

namespace tosaic::aten {

Value* centred(Builder& b, Value* x, int rank) {
  const int64_t zero_point = x->quant()->zero_point();
  if (!x->is_constant()) return b.rescale(b.expand_rank(x, rank), DType::kI32, 1, zero_point, 0);
  std::vector<int64_t> values = int_values(*x->constant());
  for (int64_t& v : values)
    v -= zero_point;
  return b.expand_rank(b.constant_ints(DType::kI32, x->shape(), values), rank);
}

Lowered finish_product(const Call& n, Builder& b, Value* product, double scale, bool is_wide) {
  const TensorType& out = n.out();
  if (is_wide && !(scale < 0.5)) {
    return reject(Code::kRejectQuantParams, "{}: the output's scale {} is too small for its inputs",
                  n.schema().full_name, out.quant->scale());
  }
  return clamp_to_range(b, b.rescale(product, out.dtype, scale, 0, out.quant->zero_point()), out);
}

Lowered lower_step_table(const Call& n, Builder& b, double (*function)(double, const Call&)) {
  if (n.in(0)->dtype() == DType::kI16) {
    return reject(Code::kRejectDtype,
                  "{}: the function has jumps, between which a 16-bit table interpolates; i8 is "
                  "taken",
                  n.schema().full_name);
  }
  return lower_table(n, b, function);
}

Value* floor_of(const Call& n, Builder& b, Value* x) {
  Value* nearest = b.cast(b.cast(x, DType::kI32), n.out().dtype);
  Value* over =
      b.emit(tosa::select, {b.emit(tosa::greater, {nearest, x}), number(n, b, 1), number(n, b, 0)});
  Value* floor = b.emit(tosa::sub, {nearest, over});
  Value* is_small = b.emit(tosa::greater, {number(n, b, 0x1p23), b.emit(tosa::abs, {x})});
  return b.emit(tosa::select, {is_small, floor, x});
}

}  // namespace tosaic::aten
