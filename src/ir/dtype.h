// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tosaic {

/// Element types. The numbers are ours: .pt2, .pte and each TOSA version have their own (see the
/// reader or writer of each format).
enum class DType : uint8_t {
  kUnknown,
  kBool,
  kI4,
  kI8,
  kU8,
  kI16,
  kU16,
  kI32,
  kU32,
  kI48,
  kI64,
  kU64,
  kF8E4M3,
  kF8E5M2,
  kF16,
  kBF16,
  kF32,
  kF64,
  kShape,  ///< a TOSA shape value (tosa.const_shape); its elements are held as int64
};
inline constexpr int kNumDTypes = 19;

/// "i8", "f32", "bool", … as text IR writes them.
std::string_view dtype_name(DType dtype);
std::optional<DType> parse_dtype(std::string_view name);

/// The spelling that users of PyTorch know: "int8", "float32".
std::string_view torch_name(DType dtype);

/// NumPy's type string, without byte order, of the elements in memory (see element_bytes): "i1",
/// "f4". Nothing for types that NumPy lacks.
std::optional<std::string_view> numpy_type(DType dtype);

/// Bytes of one element in memory. Sub-byte types take a byte each and i48 takes eight
/// (sign-extended); files pack them.
size_t element_bytes(DType dtype);

bool is_integer(DType dtype);  ///< signed or unsigned integers; not bool, not shape
bool is_float(DType dtype);

/// Least and greatest value of an integer type of at most 48 bits (i64: its own limits).
int64_t integer_min(DType dtype);
int64_t integer_max(DType dtype);

}  // namespace tosaic
