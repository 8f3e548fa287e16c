// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "support/expected.h"

namespace tosaic {

/// One array of a .npz or .npy file, always C order, little endian.
struct NpyArray {
  std::string name;  ///< member name without ".npy"
  /// numpy's type string without byte order: "b1" bool, "i1" "i2" "i4" "i8", "u1" "u2" "u4" "u8",
  /// "f2" "f4" "f8".
  std::string dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

/// Reads .npz (STORED, or compressed through libzip) or a single .npy (whose name is ""), in the
/// order of the file. Fortran order is turned into C order and big endian into little endian;
/// object arrays (pickles) and other dtypes are refused. What is unpacked of compressed members
/// may be 4 GiB in all.
/// `rows_wanted` says of an array, by its dtype and shape, how many entries of its first axis are
/// needed, from the first on (kAllRows; 0 when nobody wants the array). The array has the shape
/// that is in the file and the data of these rows; what comes after them is neither unpacked nor
/// checked.
constexpr int64_t kAllRows = std::numeric_limits<int64_t>::max();
using RowsWanted = std::function<int64_t(const NpyArray& head)>;
Expected<std::vector<NpyArray>> read_npz(const std::string& path,
                                         const RowsWanted& rows_wanted = {});

/// Turns int64 into int32, which stands for it in TOSA. When a number does not fit, its index, and
/// the array stays as it is.
std::optional<size_t> narrow_to_int32(NpyArray& array);

/// Writes an uncompressed .npz. Deterministic bytes: fixed time stamps, members in the given order.
/// A name that is unsafe in a zip archive or occurs twice, and 4 GiB or more, are errors.
Status write_npz(const std::string& path, const std::vector<NpyArray>& arrays);

}  // namespace tosaic
