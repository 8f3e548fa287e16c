// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ir/dtype.h"

namespace tosaic::aten {

/// The types that a TOSA tensor holds as signed ones of the same bits (`held_as` in
/// aten/builder.h).
inline bool is_held_as_signed(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kU16;
}

}  // namespace tosaic::aten
