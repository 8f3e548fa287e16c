// SPDX-License-Identifier: Apache-2.0
#include "pte/program.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace tosaic {
namespace {

struct DtypeRow {
  PteDtype dtype;
  size_t num_bytes;
  std::string_view name;
};

constexpr std::array<DtypeRow, 13> kDtypes = {{{PteDtype::kUint8, 1, "uint8"},
                                               {PteDtype::kInt8, 1, "int8"},
                                               {PteDtype::kInt16, 2, "int16"},
                                               {PteDtype::kInt32, 4, "int32"},
                                               {PteDtype::kInt64, 8, "int64"},
                                               {PteDtype::kFloat16, 2, "float16"},
                                               {PteDtype::kFloat32, 4, "float32"},
                                               {PteDtype::kFloat64, 8, "float64"},
                                               {PteDtype::kBool, 1, "bool"},
                                               {PteDtype::kBfloat16, 2, "bfloat16"},
                                               {PteDtype::kUint16, 2, "uint16"},
                                               {PteDtype::kUint32, 4, "uint32"},
                                               {PteDtype::kUint64, 8, "uint64"}}};

}  // namespace

size_t pte_element_bytes(PteDtype dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.dtype == dtype) return row.num_bytes;
  }
  return 0;
}

std::string pte_dtype_name(PteDtype dtype) {
  for (const DtypeRow& row : kDtypes) {
    if (row.dtype == dtype) return std::string(row.name);
  }
  return fmt::format("dtype {}", static_cast<int>(dtype));
}

uint64_t PteTensor::num_bytes() const {
  uint64_t bytes = pte_element_bytes(dtype);
  for (int32_t size : sizes)
    bytes *= static_cast<uint64_t>(size);
  return bytes;
}

}  // namespace tosaic
