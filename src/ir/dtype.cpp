// SPDX-License-Identifier: Apache-2.0
#include "ir/dtype.h"

#include <array>
#include <limits>

#include "support/check.h"

namespace tosaic {
namespace {

enum class Class : uint8_t { kOther, kSigned, kUnsigned, kFloat };

struct Row {
  DType dtype;
  std::string_view name;
  std::string_view torch_name;
  std::string_view numpy;  ///< of the elements in memory; empty: NumPy has none
  uint8_t bytes;
  Class kind;
  uint8_t bits;
};

constexpr std::array<Row, kNumDTypes> kRows{{
    {DType::kUnknown, "unknown", "unknown", "", 0, Class::kOther, 0},
    {DType::kBool, "bool", "bool", "b1", 1, Class::kOther, 1},
    {DType::kI4, "i4", "int4", "i1", 1, Class::kSigned, 4},
    {DType::kI8, "i8", "int8", "i1", 1, Class::kSigned, 8},
    {DType::kU8, "u8", "uint8", "u1", 1, Class::kUnsigned, 8},
    {DType::kI16, "i16", "int16", "i2", 2, Class::kSigned, 16},
    {DType::kU16, "u16", "uint16", "u2", 2, Class::kUnsigned, 16},
    {DType::kI32, "i32", "int32", "i4", 4, Class::kSigned, 32},
    {DType::kU32, "u32", "uint32", "u4", 4, Class::kUnsigned, 32},
    {DType::kI48, "i48", "int48", "i8", 8, Class::kSigned, 48},
    {DType::kI64, "i64", "int64", "i8", 8, Class::kSigned, 64},
    {DType::kU64, "u64", "uint64", "u8", 8, Class::kUnsigned, 64},
    {DType::kF8E4M3, "f8e4m3", "float8_e4m3fn", "", 1, Class::kFloat, 8},
    {DType::kF8E5M2, "f8e5m2", "float8_e5m2", "", 1, Class::kFloat, 8},
    {DType::kF16, "f16", "float16", "f2", 2, Class::kFloat, 16},
    {DType::kBF16, "bf16", "bfloat16", "", 2, Class::kFloat, 16},
    {DType::kF32, "f32", "float32", "f4", 4, Class::kFloat, 32},
    {DType::kF64, "f64", "float64", "f8", 8, Class::kFloat, 64},
    {DType::kShape, "shape", "shape", "", 8, Class::kOther, 64},
}};

constexpr bool rows_are_in_order() {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<size_t>(kRows[i].dtype) != i) return false;
  }
  return true;
}
static_assert(rows_are_in_order());

const Row& row(DType dtype) {
  return kRows[static_cast<size_t>(dtype)];
}

}  // namespace

std::string_view dtype_name(DType dtype) {
  return row(dtype).name;
}

std::string_view torch_name(DType dtype) {
  return row(dtype).torch_name;
}

std::optional<std::string_view> numpy_type(DType dtype) {
  if (row(dtype).numpy.empty()) return std::nullopt;
  return row(dtype).numpy;
}

std::optional<DType> parse_dtype(std::string_view name) {
  for (const Row& r : kRows) {
    if (r.dtype != DType::kUnknown && r.name == name) return r.dtype;
  }
  return std::nullopt;
}

size_t element_bytes(DType dtype) {
  return row(dtype).bytes;
}

bool is_integer(DType dtype) {
  return row(dtype).kind == Class::kSigned || row(dtype).kind == Class::kUnsigned;
}

bool is_float(DType dtype) {
  return row(dtype).kind == Class::kFloat;
}

int64_t integer_min(DType dtype) {
  TOSAIC_CHECK(is_integer(dtype) && dtype != DType::kU64, "limits of an integer type");
  if (row(dtype).kind == Class::kUnsigned) return 0;
  return std::numeric_limits<int64_t>::min() >> (64 - row(dtype).bits);
}

int64_t integer_max(DType dtype) {
  TOSAIC_CHECK(is_integer(dtype) && dtype != DType::kU64, "limits of an integer type");
  const int sign_bit = row(dtype).kind == Class::kSigned ? 1 : 0;
  return std::numeric_limits<int64_t>::max() >> (63 - row(dtype).bits + sign_bit);
}

}  // namespace tosaic
