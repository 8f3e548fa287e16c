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

}  // namespace tosaic::aten
