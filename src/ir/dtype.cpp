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
  uint8_t bytes;
  Class kind;
  uint8_t bits;
};

constexpr std::array<Row, kNumDTypes> kRows{{
    {DType::kUnknown, "unknown", 0, Class::kOther, 0},
    {DType::kBool, "bool", 1, Class::kOther, 1},
    {DType::kI4, "i4", 1, Class::kSigned, 4},
    {DType::kI8, "i8", 1, Class::kSigned, 8},
    {DType::kU8, "u8", 1, Class::kUnsigned, 8},
    {DType::kI16, "i16", 2, Class::kSigned, 16},
    {DType::kU16, "u16", 2, Class::kUnsigned, 16},
    {DType::kI32, "i32", 4, Class::kSigned, 32},
    {DType::kU32, "u32", 4, Class::kUnsigned, 32},
    {DType::kI48, "i48", 8, Class::kSigned, 48},
    {DType::kI64, "i64", 8, Class::kSigned, 64},
    {DType::kU64, "u64", 8, Class::kUnsigned, 64},
    {DType::kF8E4M3, "f8e4m3", 1, Class::kFloat, 8},
    {DType::kF8E5M2, "f8e5m2", 1, Class::kFloat, 8},
    {DType::kF16, "f16", 2, Class::kFloat, 16},
    {DType::kBF16, "bf16", 2, Class::kFloat, 16},
    {DType::kF32, "f32", 4, Class::kFloat, 32},
    {DType::kF64, "f64", 8, Class::kFloat, 64},
    {DType::kShape, "shape", 8, Class::kOther, 64},
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
