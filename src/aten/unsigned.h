// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aten/row.h"

/// u8 and u16, which a TOSA tensor holds as signed integers of the same bits (`held_as` in
/// aten/builder.h).
namespace tosaic::aten {

inline bool is_held_as_signed(DType dtype) {
  return dtype == DType::kU8 || dtype == DType::kU16;
}

/// Whether a row may find such integers in place of unsigned ones: it moves them, or takes them as
/// codes.
inline bool takes_held_as_signed(const Row& row) {
  return row.has(Trait::kView) || row.has(Trait::kQuantize) || row.has(Trait::kDequantize);
}

}  // namespace tosaic::aten
