// SPDX-License-Identifier: Apache-2.0
#include "tosa/attrs.h"

#include <algorithm>
#include <limits>

#include "support/check.h"

namespace tosaic::tosa {
namespace {

constexpr std::array<std::string_view, 3> kNanModes = {"unknown", "propagate", "ignore"};
constexpr std::array<std::string_view, 4> kRoundingModes = {"unknown", "single", "inexact",
                                                            "double"};
constexpr std::array<std::string_view, 3> kResizeModes = {"unknown", "nearest", "bilinear"};

template <typename Mode, size_t N>
Mode parse_mode(const std::array<std::string_view, N>& names, std::string_view text) {
  const auto it = std::find(names.begin(), names.end(), text);
  return it == names.end() ? Mode::kUnknown : static_cast<Mode>(it - names.begin());
}

bool fits_int32(int64_t v) {
  return v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
}

bool is_mode(FieldKind kind, const Attr& attr) {
  if (attr.kind() != Attr::Kind::kString) return false;
  const std::string_view text = attr.as_string();
  if (kind == FieldKind::kNanMode) return parse_nan_mode(text) != NanMode::kUnknown;
  if (kind == FieldKind::kRoundingMode) return parse_rounding_mode(text) != RoundingMode::kUnknown;
  return parse_resize_mode(text) != ResizeMode::kUnknown;
}

bool is_list_of(size_t length, const Attr& attr) {
  if (attr.kind() != Attr::Kind::kInts) return false;
  const auto values = attr.as_ints();
  return (length == 0 || values.size() == length) &&
         std::all_of(values.begin(), values.end(), fits_int32);
}

}  // namespace

std::string_view name(NanMode mode) {
  return kNanModes[static_cast<size_t>(mode)];
}
std::string_view name(RoundingMode mode) {
  return kRoundingModes[static_cast<size_t>(mode)];
}
std::string_view name(ResizeMode mode) {
  return kResizeModes[static_cast<size_t>(mode)];
}

NanMode parse_nan_mode(std::string_view text) {
  return parse_mode<NanMode>(kNanModes, text);
}
RoundingMode parse_rounding_mode(std::string_view text) {
  return parse_mode<RoundingMode>(kRoundingModes, text);
}
ResizeMode parse_resize_mode(std::string_view text) {
  return parse_mode<ResizeMode>(kResizeModes, text);
}

std::string_view field_needs(const AttrField& field, const Attr& attr) {
  const Attr::Kind kind = attr.kind();
  switch (field.kind) {
    case FieldKind::kInt32:
      return kind == Attr::Kind::kInt && fits_int32(attr.as_int()) ? "" : "a 32-bit integer";
    case FieldKind::kBool:
      return kind == Attr::Kind::kBool ? "" : "true or false";
    case FieldKind::kDType:
      return kind == Attr::Kind::kDType ? "" : "a dtype";
    case FieldKind::kNanMode:
      return is_mode(field.kind, attr) ? "" : "\"propagate\" or \"ignore\"";
    case FieldKind::kRoundingMode:
      return is_mode(field.kind, attr) ? "" : "\"single\", \"inexact\" or \"double\"";
    case FieldKind::kResizeMode:
      return is_mode(field.kind, attr) ? "" : "\"nearest\" or \"bilinear\"";
    case FieldKind::kInts32:
      return is_list_of(field.length, attr) ? "" : "a list of 32-bit integers of the right length";
    case FieldKind::kScalar:
      return kind == Attr::Kind::kInt || kind == Attr::Kind::kFloat ? "" : "a number";
    case FieldKind::kGraph:
      return kind == Attr::Kind::kGraph ? "" : "a graph";
    case FieldKind::kString:
    case FieldKind::kBytes:
      return kind == Attr::Kind::kString ? "" : "a string";
    default:
      return "of a kind that definitions have";
  }
}

namespace detail {

Attr to_attr(int32_t v, Arena&) {
  return Attr::integer(v);
}
Attr to_attr(bool v, Arena&) {
  return Attr::boolean(v);
}
Attr to_attr(DType v, Arena&) {
  return Attr::dtype(v);
}
Attr to_attr(NanMode v, Arena&) {
  return Attr::string(name(v));
}
Attr to_attr(RoundingMode v, Arena&) {
  return Attr::string(name(v));
}
Attr to_attr(ResizeMode v, Arena&) {
  return Attr::string(name(v));
}
Attr to_attr(const Scalar& v, Arena&) {
  return v.is_float ? Attr::real(v.f) : Attr::integer(v.i);
}
Attr to_attr(std::span<const int64_t> v, Arena& arena) {
  return Attr::ints(arena.copy(v));
}

Attr ints_to_attr(std::span<const int32_t> v, Arena& arena) {
  const std::span<int64_t> values = arena.make_span<int64_t>(v.size());
  std::copy(v.begin(), v.end(), values.begin());
  return Attr::ints(values);
}

void from_attr(const Attr& a, int32_t& v) {
  v = static_cast<int32_t>(a.as_int());
}
void from_attr(const Attr& a, bool& v) {
  v = a.as_bool();
}
void from_attr(const Attr& a, DType& v) {
  v = a.as_dtype();
}
void from_attr(const Attr& a, NanMode& v) {
  v = parse_nan_mode(a.as_string());
}
void from_attr(const Attr& a, RoundingMode& v) {
  v = parse_rounding_mode(a.as_string());
}
void from_attr(const Attr& a, ResizeMode& v) {
  v = parse_resize_mode(a.as_string());
}
void from_attr(const Attr& a, Scalar& v) {
  v = a.kind() == Attr::Kind::kFloat ? Scalar::of(a.as_real()) : Scalar::of(a.as_int());
}
void from_attr(const Attr& a, std::span<const int64_t>& v) {
  v = a.as_ints();
}

void ints_from_attr(const Attr& a, std::span<int32_t> v) {
  const auto values = a.as_ints();
  TOSAIC_CHECK(values.size() == v.size(), "a list attribute has the wrong length");
  std::transform(values.begin(), values.end(), v.begin(),
                 [](int64_t value) { return static_cast<int32_t>(value); });
}

}  // namespace detail
}  // namespace tosaic::tosa
