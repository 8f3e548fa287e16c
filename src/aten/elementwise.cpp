// SPDX-License-Identifier: Apache-2.0
#include "aten/elementwise.h"

namespace tosaic::aten {

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
