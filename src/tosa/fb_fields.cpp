// SPDX-License-Identifier: Apache-2.0
#include "tosa/fb_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>

#include "support/check.h"
#include "tosa/fb_storage.h"
#include "tosa/op.h"

namespace tosaic::tosa {
namespace {

using Builder = flatbuffers::FlatBufferBuilder;
using Outside = Expected<flatbuffers::uoffset_t>;

/// The reader of the file says where.
template <typename... Args>
Diagnostic content_error(fmt::format_string<Args...> format, Args&&... args) {
  return error(Code::kTosaContent, format, std::forward<Args>(args)...);
}

Diagnostic damaged() {
  return error(Code::kFlatbuffer, "leads out of the file");
}

}  // namespace

// Reading.

template <typename T>
Expected<T> FieldReader::number(const flatbuffers::Table& table, flatbuffers::voffset_t id) const {
  const flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(file_.data()),
                                       file_.size());
  if (!table.VerifyField<T>(verifier, id, sizeof(T))) return damaged();
  return table.GetField<T>(id, 0);
}

/// nullptr when the field is absent.
template <typename T>
Expected<const flatbuffers::Vector<T>*> FieldReader::vector(const flatbuffers::Table& table,
                                                            flatbuffers::voffset_t id) const {
  const flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t*>(file_.data()),
                                       file_.size());
  if (!table.VerifyOffset(verifier, id)) return damaged();
  const auto* list = table.GetPointer<const flatbuffers::Vector<T>*>(id);
  if (!verifier.VerifyVector(list)) return damaged();
  return list;
}

template <typename T>
Expected<Attr> FieldReader::ints(const flatbuffers::Table& table, flatbuffers::voffset_t id) const {
  TOSAIC_TRY(const auto* list, vector<T>(table, id));
  if (list == nullptr) return Attr::ints({});
  const std::span<int64_t> values = module_.arena().make_span<int64_t>(list->size());
  std::copy(list->begin(), list->end(), values.begin());
  return Attr::ints(values);
}

template <typename Mode>
Expected<Attr> FieldReader::mode(const flatbuffers::Table& table, flatbuffers::voffset_t id,
                                 Mode last) const {
  TOSAIC_TRY(const uint32_t value, number<uint32_t>(table, id));
  if (value == 0 || value > static_cast<uint32_t>(last)) {
    return content_error("has the value {}, and 1 to {} are known", value,
                         static_cast<uint32_t>(last));
  }
  return Attr::string(name(static_cast<Mode>(value)));
}

Expected<Attr> FieldReader::scalar(const flatbuffers::Table& table, flatbuffers::voffset_t id,
                                   DType dtype) const {
  if (!is_integer(dtype) && !is_float(dtype)) {
    return content_error("a {} operand has no such numbers", dtype_name(dtype));
  }
  TOSAIC_TRY(const auto* bytes, vector<uint8_t>(table, id));
  const size_t size = bytes == nullptr ? 0 : bytes->size();
  const size_t num_bytes = stored_bytes(dtype, 1);
  if (size < num_bytes) {
    return content_error("has {} bytes of data, and {} needs {}", size, dtype_name(dtype),
                         num_bytes);
  }
  const auto stored = std::as_bytes(std::span(bytes->data(), num_bytes));
  std::vector<std::byte> value(stored.begin(), stored.end());
  if (!stored_as_in_memory(dtype)) {
    value.resize(element_bytes(dtype));
    unpack(dtype, stored, value);
  }
  const Constant& constant = module_.constant(dtype, Shape{}, value);
  if (is_float(dtype)) return Attr::real(float_values(constant)[0]);
  return Attr::integer(int_values(constant)[0]);
}

Expected<Attr> FieldReader::text(const flatbuffers::Table& table, flatbuffers::voffset_t id,
                                 Attr (*make)(std::string_view)) const {
  TOSAIC_TRY(const auto* bytes, vector<char>(table, id));
  if (bytes == nullptr) return make({});
  return make({bytes->data(), bytes->size()});
}

Expected<Attr> FieldReader::read(const flatbuffers::Table& table, size_t index, FieldKind kind,
                                 DType dtype) const {
  const flatbuffers::voffset_t id = field_id(index);
  switch (kind) {
    case FieldKind::kInt32: {
      TOSAIC_TRY(const int32_t value, number<int32_t>(table, id));
      return Attr::integer(value);
    }
    case FieldKind::kBool: {
      TOSAIC_TRY(const uint8_t value, number<uint8_t>(table, id));
      return Attr::boolean(value != 0);
    }
    case FieldKind::kDType: {
      TOSAIC_TRY(const uint32_t value, number<uint32_t>(table, id));
      const DType type = version_.dtype(value);
      if (type == DType::kUnknown) {
        return content_error("{} is no type number of {}", value, version_.name());
      }
      return Attr::dtype(type);
    }
    case FieldKind::kNanMode:
      return mode<NanMode>(table, id, NanMode::kIgnore);
    case FieldKind::kRoundingMode:
      return mode<RoundingMode>(table, id, RoundingMode::kDouble);
    case FieldKind::kResizeMode:
      return mode<ResizeMode>(table, id, ResizeMode::kBilinear);
    case FieldKind::kInts32:
      return ints<int32_t>(table, id);
    case FieldKind::kInts16:
      return ints<int16_t>(table, id);
    case FieldKind::kScalar:
      return scalar(table, id, dtype);
    case FieldKind::kString:
    case FieldKind::kBytes:
      return text(table, id, [](std::string_view t) { return Attr::string(t); });
    case FieldKind::kGraph:
      return text(table, id, [](std::string_view t) { return Attr::graph(t); });
    case FieldKind::kIntScalar: {
      if (is_float(dtype)) return Attr();
      TOSAIC_TRY(const int32_t value, number<int32_t>(table, id));
      return Attr::integer(value);
    }
    case FieldKind::kFloatScalar:
      if (!is_float(dtype)) return Attr();
      return scalar(table, id, DType::kF32);
    case FieldKind::kDoubleRound: {
      TOSAIC_TRY(const uint8_t value, number<uint8_t>(table, id));
      return Attr::string(name(value != 0 ? RoundingMode::kDouble : RoundingMode::kSingle));
    }
    case FieldKind::kResultShape:
      return Attr();  // the result's tensor says the same
  }
  return content_error("has a kind that is not read");
}

// Writing.

bool is_unsigned_zero_point(AttrList attrs, std::string_view operand) {
  const Attr* attr = operand == "input_zp"    ? find_attr(attrs, "input_unsigned")
                     : operand == "output_zp" ? find_attr(attrs, "output_unsigned")
                                              : nullptr;
  return attr != nullptr && attr->as_bool();
}

namespace {

/// Writes one table. What lies outside of it (lists, strings) comes first.
class FieldWriter {
 public:
  FieldWriter(const Node& node, const StoredOp& stored, const FileVersion& version, Builder& fbb)
      : node_(node), stored_(stored), version_(version), fbb_(fbb) {}

  Expected<flatbuffers::Offset<fb::Attributes>> run() {
    TOSAIC_CHECK_OK(check_unsaid());
    if (stored_.table == 0) return flatbuffers::Offset<fb::Attributes>(0);
    std::vector<Attr> values;
    std::vector<flatbuffers::uoffset_t> outside;
    for (const AttrField& field : stored_.fields) {
      TOSAIC_TRY(values.emplace_back(), value_of(field));
      TOSAIC_TRY(outside.emplace_back(), add_outside(field, values.back()));
    }
    const auto start = fbb_.StartTable();
    for (size_t i = 0; i < values.size(); ++i) {
      if (outside[i] != 0) {
        fbb_.AddOffset(field_id(i), flatbuffers::Offset<void>(outside[i]));
      } else if (!values[i].is_none()) {
        add_number(field_id(i), stored_.fields[i].kind, values[i]);
      }
    }
    return flatbuffers::Offset<fb::Attributes>(fbb_.EndTable(start));
  }

 private:
  template <typename... Args>
  Diagnostic fail(fmt::format_string<Args...> format, Args&&... args) const {
    return error(Code::kUnsupportedFeature, "{}: {}", node_.full_name(),
                 fmt::format(format, std::forward<Args>(args)...));
  }

  /// Attributes that the version's table lacks must have the value that it means.
  Status check_unsaid() const {
    for (const AttrField& field : spec(node_.op()).attrs) {
      if (stored_.has_field(field.name)) continue;
      const Attr& attr = *node_.attr(field.name);
      const Attr unsaid = unsaid_value(field, node_.result().dtype());
      const bool is_without_nan =
          field.kind == FieldKind::kNanMode && !is_float(node_.operand(0)->dtype());
      if (attr == unsaid || is_without_nan) continue;
      return fail("{} is {}, which {} cannot say: there it is {}", field.name, to_string(attr),
                  version_.name(), to_string(unsaid));
    }
    return ok();
  }

  /// None where neither an attribute nor an operand has the field's name.
  Expected<Attr> value_of(const AttrField& field) {
    if (field.kind == FieldKind::kResultShape) {
      const Shape& shape = node_.result().shape();
      return list({shape.begin(), shape.end()});
    }
    if (const Attr* attr = node_.attr(field.name)) return *attr;
    const ArgList& operands = spec(node_.op()).operands;
    for (size_t i = 0; i < operands.count; ++i) {
      if (operands[i].name == field.name)
        return content_of(*node_.operand(static_cast<int>(i)), field);
    }
    return Attr();
  }

  /// An operand that the version has as a field.
  Expected<Attr> content_of(const Value& operand, const AttrField& field) {
    if (!operand.is_constant()) {
      return fail("{} is no constant, and in {} it must be one", field.name, version_.name());
    }
    const Constant& constant = *operand.constant();
    const bool is_list = field.kind == FieldKind::kInts32 || field.kind == FieldKind::kInts16;
    if (!is_list && constant.shape.num_elements() != 1) {
      return fail("{} has sizes {}, and in {} it is one number", field.name,
                  to_string(constant.shape), version_.name());
    }
    if (is_float(constant.dtype)) {
      const double value = float_values(constant)[0];
      // A zero point: of floats it is always 0.
      return field.kind == FieldKind::kInt32 ? Attr::integer(static_cast<int64_t>(value))
                                             : Attr::real(value);
    }
    std::vector<int64_t> values = int_values(constant);
    if (is_list) return list(std::move(values));
    if (values[0] < 0 && is_unsigned_zero_point(node_.attrs(), field.name)) {
      values[0] += integer_max(constant.dtype) - integer_min(constant.dtype) + 1;
    }
    return Attr::integer(values[0]);
  }

  /// Kept for as long as the table is written.
  Attr list(std::vector<int64_t> values) {
    return Attr::ints(lists_.emplace_back(std::move(values)));
  }

  /// 0 for fields that are numbers.
  Outside add_outside(const AttrField& field, const Attr& value) {
    if (value.is_none()) return flatbuffers::uoffset_t{0};
    switch (field.kind) {
      case FieldKind::kInts32:
      case FieldKind::kResultShape:
        return add_list<int32_t>(field, value.as_ints());
      case FieldKind::kInts16:
        return add_list<int16_t>(field, value.as_ints());
      case FieldKind::kScalar:
        return add_scalar(value, node_.operand(0)->dtype());
      case FieldKind::kFloatScalar:
        return add_scalar(is_float(node_.operand(0)->dtype()) ? value : Attr::real(0), DType::kF32);
      case FieldKind::kString:
      case FieldKind::kGraph:
        return fbb_.CreateString(value.as_string()).o;
      case FieldKind::kBytes: {
        const std::string_view text = value.as_string();
        return fbb_.CreateVector(reinterpret_cast<const uint8_t*>(text.data()), text.size()).o;
      }
      case FieldKind::kDType:
        if (version_.number_of(value.as_dtype())) return flatbuffers::uoffset_t{0};
        return fail("{} is {}, which {} lacks", field.name, dtype_name(value.as_dtype()),
                    version_.name());
      default:
        return flatbuffers::uoffset_t{0};
    }
  }

  template <typename T>
  Outside add_list(const AttrField& field, std::span<const int64_t> values) {
    std::vector<T> narrow;
    for (const int64_t v : values) {
      if (v < std::numeric_limits<T>::min() || v > std::numeric_limits<T>::max()) {
        return fail("{} has the number {}, and {} stores {} bits", field.name, v, version_.name(),
                    8 * sizeof(T));
      }
      narrow.push_back(static_cast<T>(v));
    }
    return fbb_.CreateVector(narrow).o;
  }

  flatbuffers::uoffset_t add_scalar(const Attr& attr, DType dtype) {
    Module module;
    if (attr.kind() == Attr::Kind::kInt && !is_float(dtype)) {
      const int64_t value = attr.as_int();
      return store(module.constant_ints(dtype, Shape{}, {&value, 1}), fbb_).o;
    }
    const double value = attr.as_real();
    return store(module.constant_floats(dtype, Shape{}, {&value, 1}), fbb_).o;
  }

  void add_number(flatbuffers::voffset_t id, FieldKind kind, const Attr& attr) {
    switch (kind) {
      case FieldKind::kInt32:
        return fbb_.AddElement(id, static_cast<int32_t>(attr.as_int()), 0);
      case FieldKind::kIntScalar:
        if (is_float(node_.operand(0)->dtype())) return;
        return fbb_.AddElement(id, static_cast<int32_t>(attr.as_int()), 0);
      case FieldKind::kBool:
        return add_bool(id, attr.as_bool());
      case FieldKind::kDoubleRound:
        // INEXACT allows every rounding, so also the single one.
        return add_bool(id, parse_rounding_mode(attr.as_string()) == RoundingMode::kDouble);
      case FieldKind::kDType:
        return add_enum(id, *version_.number_of(attr.as_dtype()));
      case FieldKind::kNanMode:
        return add_enum(id, parse_nan_mode(attr.as_string()));
      case FieldKind::kRoundingMode:
        return add_enum(id, parse_rounding_mode(attr.as_string()));
      case FieldKind::kResizeMode:
        return add_enum(id, parse_resize_mode(attr.as_string()));
      default:
        TOSAIC_CHECK(false, "a field that lies outside of the table");
    }
  }

  void add_bool(flatbuffers::voffset_t id, bool value) {
    fbb_.AddElement<uint8_t>(id, value ? 1 : 0, 0);
  }

  template <typename Enum>
  void add_enum(flatbuffers::voffset_t id, Enum value) {
    fbb_.AddElement(id, static_cast<uint32_t>(value), uint32_t{0});
  }

  const Node& node_;
  const StoredOp& stored_;
  const FileVersion& version_;
  Builder& fbb_;
  std::deque<std::vector<int64_t>> lists_;
};

}  // namespace

Expected<flatbuffers::Offset<fb::Attributes>> write_fields(const Node& node, const StoredOp& stored,
                                                           const FileVersion& version,
                                                           Builder& fbb) {
  return FieldWriter(node, stored, version, fbb).run();
}

}  // namespace tosaic::tosa
