// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/constant.h"
#include "ir/dtype.h"
#include "tosa/schema_generated.h"

/// How a .tosa file stores values. In memory an i4 takes a byte and an i48 eight; in the file two
/// i4 share a byte (the first in the low nibble) and an i48 takes six bytes.
namespace tosaic::tosa {

/// Bytes that `count` elements take in the file.
size_t stored_bytes(DType dtype, size_t count);
/// Whether the file holds elements as memory does.
bool stored_as_in_memory(DType dtype);

/// Fills `out` (stored_bytes of it) with a constant's content.
void store(const Constant& constant, std::span<std::byte> out);
/// Appends a constant's content to a flatbuffer, aligned for every element type.
flatbuffers::Offset<flatbuffers::Vector<uint8_t>> store(const Constant& constant,
                                                        flatbuffers::FlatBufferBuilder& fbb);
/// Unpacks `count` elements into `out` (element_bytes each).
void unpack(DType dtype, std::span<const std::byte> stored, std::span<std::byte> out);

/// What `store` aligns data to.
inline constexpr size_t kDataAlignment = 16;

/// Id of field `index` of a table in its vtable.
constexpr flatbuffers::voffset_t field_id(size_t index) {
  return static_cast<flatbuffers::voffset_t>(4 + 2 * index);
}

}  // namespace tosaic::tosa
