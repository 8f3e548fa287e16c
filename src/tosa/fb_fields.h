// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "ir/graph.h"
#include "support/expected.h"
#include "tosa/fb_version.h"
#include "tosa/schema_generated.h"

/// Attribute tables of operators, field by field as their kinds say.
namespace tosaic::tosa {

/// Reads fields of a file whose containers have been verified; tables have not.
class FieldReader {
 public:
  /// `file` is aligned; lists are copied into the module.
  FieldReader(std::span<const std::byte> file, const FileVersion& version, Module& module)
      : file_(file), version_(version), module_(module) {}

  /// The value of field `index`. `dtype` is that of the first operand, whose values a number has.
  /// None where a field is not the one that holds such a number, or tells nothing at all.
  Expected<Attr> read(const flatbuffers::Table& table, size_t index, FieldKind kind,
                      DType dtype) const;

 private:
  template <typename T>
  Expected<T> number(const flatbuffers::Table& table, flatbuffers::voffset_t id) const;
  template <typename T>
  Expected<const flatbuffers::Vector<T>*> vector(const flatbuffers::Table& table,
                                                 flatbuffers::voffset_t id) const;
  template <typename T>
  Expected<Attr> ints(const flatbuffers::Table& table, flatbuffers::voffset_t id) const;
  template <typename Mode>
  Expected<Attr> mode(const flatbuffers::Table& table, flatbuffers::voffset_t id, Mode last) const;
  Expected<Attr> scalar(const flatbuffers::Table& table, flatbuffers::voffset_t id,
                        DType dtype) const;
  Expected<Attr> text(const flatbuffers::Table& table, flatbuffers::voffset_t id,
                      Attr (*make)(std::string_view)) const;

  std::span<const std::byte> file_;
  const FileVersion& version_;
  Module& module_;
};

/// Writes the attribute table of a node; 0 when the version has none for it. E0304 names what the
/// version cannot say of this node.
Expected<flatbuffers::Offset<fb::Attributes>> write_fields(const Node& node, const StoredOp& stored,
                                                           const FileVersion& version,
                                                           flatbuffers::FlatBufferBuilder& fbb);

/// Whether a zero point is one of unsigned values: RESCALE's, of the side that is so marked. As a
/// field it is then a number of 0 or more, as an operand the same bits with a sign.
bool is_unsigned_zero_point(AttrList attrs, std::string_view operand);

}  // namespace tosaic::tosa
