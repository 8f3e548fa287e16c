// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "numeric/fixed_point.h"
#include "numeric/quantize.h"

/// TOSA's TABLE: look-up as the specification defines it, and generation of tables from real
/// functions.
namespace tosaic::numeric {

inline constexpr size_t kInt8TableSize = 256;
inline constexpr size_t kInt16TableSize = 513;
/// The int16 TABLE's result has this many fraction bits more than the table's entries.
inline constexpr int kInt16TableFractionBits = 7;

using Int8Table = std::array<int8_t, kInt8TableSize>;
using Int16Table = std::array<int16_t, kInt16TableSize>;

/// TABLE on int8: entry i belongs to the input i - 128.
constexpr int8_t table_lookup_int8(int8_t value, std::span<const int8_t, kInt8TableSize> table) {
  return table[static_cast<size_t>(value + 128)];
}

/// TABLE on int16: entry i belongs to the input 128 * i - 32768; linear between entries. The result
/// is an int32 with kInt16TableFractionBits fraction bits (a RESCALE normally follows). Defined
/// when all_slopes_fit(table); otherwise this is the interpolated value all the same.
constexpr int32_t table_lookup_int16(int16_t value,
                                     std::span<const int16_t, kInt16TableSize> table) {
  const int32_t position = int32_t{value} + 32768;
  const size_t index = static_cast<size_t>(position >> kInt16TableFractionBits);
  const int32_t fraction = position & ((1 << kInt16TableFractionBits) - 1);
  const int32_t base = table[index];
  return base * (1 << kInt16TableFractionBits) + (table[index + 1] - base) * fraction;
}

/// Whether every difference of neighbouring entries fits int16, without which TABLE on int16 is
/// unpredictable.
constexpr bool all_slopes_fit(std::span<const int16_t, kInt16TableSize> table) {
  for (size_t i = 0; i + 1 < table.size(); ++i) {
    if (!fits<int16_t>(int64_t{table[i + 1]} - int64_t{table[i]})) return false;
  }
  return true;
}

namespace internal {

/// The entry for the quantised input `q`: what dequantise -> fn -> quantise of PyTorch gives when
/// fn is rounded correctly to float.
template <typename Fn>
int32_t table_entry(Fn& fn, int64_t q, const Quantizer<float>& in, const Quantizer<float>& out) {
  return out.quantize(static_cast<float>(fn(static_cast<double>(in.dequantize(q)))));
}

}  // namespace internal

/// The table of `fn` (double -> double) for an int8 TABLE. An input that in.qmin..in.qmax excludes
/// gets the entry of the nearest input inside. `out` must lie within int8. A NaN result of fn gives
/// quantised 0 (see quantize.h).
template <typename Fn>
Int8Table make_int8_table(Fn&& fn, const AffineParams& in, const AffineParams& out) {
  const Quantizer<float> in_quantizer = tensor_quantizer(in);
  const Quantizer<float> out_quantizer = tensor_quantizer(out);
  Int8Table table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const int64_t q = clip(static_cast<int64_t>(i) - 128, in.qmin, in.qmax);
    table[i] = static_cast<int8_t>(internal::table_entry(fn, q, in_quantizer, out_quantizer));
  }
  return table;
}

/// The table of `fn` (double -> double) for an int16 TABLE: entries at the inputs -32768, -32640 ..
/// 32640, 32768, the last one just outside int16. in.qmin and in.qmax act as for make_int8_table,
/// except that a full-range input (qmax = 32767) keeps the last entry at 32768. `out` must lie
/// within int16. Check all_slopes_fit() on the result.
template <typename Fn>
Int16Table make_int16_table(Fn&& fn, const AffineParams& in, const AffineParams& out) {
  const Quantizer<float> in_quantizer = tensor_quantizer(in);
  const Quantizer<float> out_quantizer = tensor_quantizer(out);
  const int64_t hi = in.qmax == std::numeric_limits<int16_t>::max() ? 32768 : in.qmax;
  Int16Table table{};
  for (size_t i = 0; i < table.size(); ++i) {
    const int64_t q = clip(static_cast<int64_t>(i) * 128 - 32768, in.qmin, hi);
    table[i] = static_cast<int16_t>(internal::table_entry(fn, q, in_quantizer, out_quantizer));
  }
  return table;
}

}  // namespace tosaic::numeric
