// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aten/builder.h"

/// Products of matrices, neither of which need be a constant.
namespace tosaic::aten {

/// Integers that stand for `scale` times their value.
struct Scaled {
  Value* value = nullptr;
  double scale = 1;
};

/// [N,H,C] times [N,C,W] on quantised operands of equal dtype, with nothing rounded but the last
/// bits of 32: int32 for 8 bits, int48 or int32 for 16 bits. Where the target multiplies no 16-bit
/// matrices, each is split into its bytes and the four products are added.
Scaled quantised_product(Builder& b, Value* x, const Quant& qx, Value* y, const Quant& qy);

/// The bytes of an int16 `x`: x = 256 * high + (low + 128).
struct Bytes {
  Value* high = nullptr;
  Value* low = nullptr;
};
inline constexpr int64_t kLowByteZeroPoint = -128;
Bytes split_int16(Builder& b, Value* x);

}  // namespace tosaic::aten
