// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/expected.h"

namespace tosaic {

/// What stands before the elements in a .npy file (NumPy's NEP 1, versions 1.0, 2.0 and 3.0).
struct NpyHeader {
  std::string dtype;  ///< as NpyArray::dtype
  bool big_endian = false;
  bool fortran_order = false;
  std::vector<int64_t> shape;
  size_t header_bytes = 0;  ///< where the elements begin
  uint64_t data_bytes = 0;  ///< the product of shape and element size; does not wrap
};

/// Parses the head of a .npy file strictly. The Diagnostic (kNpy) names no file.
Expected<NpyHeader> parse_npy_header(std::span<const std::byte> file);

/// The header, padded to a multiple of 64 bytes, of a little-endian array in C order.
std::string make_npy_header(std::string_view dtype, std::span<const int64_t> shape);

/// NumPy's name of a dtype of NpyArray: "int32" of "i4".
std::string_view npy_dtype_name(std::string_view dtype);

/// What makes an array one of that dtype, as a hint.
std::string astype_hint(std::string_view dtype);

/// Bytes of one element of a dtype of NpyArray, or 0 when there is no such dtype.
size_t npy_element_bytes(std::string_view dtype);

/// Bytes of an array, or nothing when a size is negative or the product of the sizes that are not 0
/// does not fit int64_t.
std::optional<uint64_t> npy_data_bytes(size_t element_bytes, std::span<const int64_t> shape);

}  // namespace tosaic
