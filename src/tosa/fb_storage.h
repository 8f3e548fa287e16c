// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "ir/constant.h"
#include "ir/dtype.h"
#include "tosa/schema_generated.h"

/// How a .tosa file stores types and values. In memory an i4 takes a byte and an i48 eight; in the
/// file two i4 share a byte (the first in the low nibble) and an i48 takes six bytes.
namespace tosaic::tosa {

/// The number of a dtype in TOSA 1.0; nothing when 1.0 lacks it.
std::optional<fb::DType> stored_dtype(DType dtype);
/// The dtype of a number in TOSA 1.0; kUnknown for 0 and numbers above.
DType dtype_of(fb::DType number);

/// Bytes that `count` elements take in the file.
size_t stored_bytes(DType dtype, size_t count);
/// Whether the file holds elements as memory does.
bool stored_as_in_memory(DType dtype);

/// Fills `out` (stored_bytes of it) with a constant's content.
void store(const Constant& constant, std::span<std::byte> out);
/// Unpacks `count` elements into `out` (element_bytes each).
void unpack(DType dtype, std::span<const std::byte> stored, std::span<std::byte> out);

/// Id of field `index` of a table in its vtable.
constexpr flatbuffers::voffset_t field_id(size_t index) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * index);
}

}  // namespace tosaic::tosa
