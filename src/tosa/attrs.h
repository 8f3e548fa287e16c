// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "ir/attr.h"
#include "ir/graph.h"

namespace tosaic::tosa {

/// Enumerations of the specification with its 1.0 numbers.
enum class NanMode : uint8_t { kUnknown = 0, kPropagate = 1, kIgnore = 2 };
enum class RoundingMode : uint8_t { kUnknown = 0, kSingle = 1, kInexact = 2, kDouble = 3 };
enum class ResizeMode : uint8_t { kUnknown = 0, kNearest = 1, kBilinear = 2 };

/// Spellings in text IR ("propagate", "single", "bilinear", …).
std::string_view name(NanMode mode);
std::string_view name(RoundingMode mode);
std::string_view name(ResizeMode mode);
/// The enumerator of that spelling; kUnknown when there is none.
NanMode parse_nan_mode(std::string_view text);
RoundingMode parse_rounding_mode(std::string_view text);
ResizeMode parse_resize_mode(std::string_view text);

/// How a field lies in the flatbuffer. Fields stand in the order of the table's ids (1.0).
enum class FieldKind : uint8_t {
  kInt32,
  kBool,
  kDType,
  kNanMode,
  kRoundingMode,
  kResizeMode,
  kInts32,  ///< [int32], with a fixed length
  kScalar,  ///< [ubyte] holding one value of the operand's element type (CLAMP)
  kGraph,   ///< string that names a region
  kString,
  kBytes,  ///< [ubyte], any content (CUSTOM): held as a string
  // In tables of TOSA 0.80 only, never of an operator's definition.
  kInts16,       ///< [int16]
  kIntScalar,    ///< int32: the number when its type is an integer, else 0
  kFloatScalar,  ///< [ubyte] holding one f32: the number when its type is a float, else 0
  kDoubleRound,  ///< bool: whether the rounding mode is "double"
  kResultShape,  ///< [int32]: sizes of the result
};

struct AttrField {
  std::string_view name;
  FieldKind kind;
  uint8_t length = 0;  ///< of kInts32; 0: any
};

/// A number whose kind follows the operand's: CLAMP's limits.
struct Scalar {
  bool is_float = false;
  int64_t i = 0;
  double f = 0;
  static Scalar of(int64_t v) { return {false, v, 0}; }
  static Scalar of(double v) { return {true, 0, v}; }
  bool operator==(const Scalar&) const = default;
};

// One struct per attribute table. `for_each` names the members once, in the order of the table's
// field ids; reading, writing, printing, checking and serialising follow from it.

struct NoAttrs {
  template <typename F>
  static constexpr void for_each(F&&) {}
};

struct ArgMaxAttrs {
  int32_t axis = 0;
  NanMode nan_mode = NanMode::kPropagate;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("axis", &ArgMaxAttrs::axis);
    f("nan_mode", &ArgMaxAttrs::nan_mode);
  }
};

struct AvgPool2dAttrs {
  std::array<int32_t, 2> kernel{1, 1};
  std::array<int32_t, 2> stride{1, 1};
  std::array<int32_t, 4> pad{};  ///< top, bottom, left, right
  DType acc_type = DType::kI32;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("kernel", &AvgPool2dAttrs::kernel);
    f("stride", &AvgPool2dAttrs::stride);
    f("pad", &AvgPool2dAttrs::pad);
    f("acc_type", &AvgPool2dAttrs::acc_type);
  }
};

struct MaxPool2dAttrs {
  std::array<int32_t, 2> kernel{1, 1};
  std::array<int32_t, 2> stride{1, 1};
  std::array<int32_t, 4> pad{};
  NanMode nan_mode = NanMode::kPropagate;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("kernel", &MaxPool2dAttrs::kernel);
    f("stride", &MaxPool2dAttrs::stride);
    f("pad", &MaxPool2dAttrs::pad);
    f("nan_mode", &MaxPool2dAttrs::nan_mode);
  }
};

/// CONV2D and DEPTHWISE_CONV2D.
struct Conv2dAttrs {
  std::array<int32_t, 4> pad{};  ///< top, bottom, left, right
  std::array<int32_t, 2> stride{1, 1};
  std::array<int32_t, 2> dilation{1, 1};
  bool local_bound = false;
  DType acc_type = DType::kI32;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("pad", &Conv2dAttrs::pad);
    f("stride", &Conv2dAttrs::stride);
    f("dilation", &Conv2dAttrs::dilation);
    f("local_bound", &Conv2dAttrs::local_bound);
    f("acc_type", &Conv2dAttrs::acc_type);
  }
};

struct Conv3dAttrs {
  std::array<int32_t, 6> pad{};  ///< front, back, top, bottom, left, right
  std::array<int32_t, 3> stride{1, 1, 1};
  std::array<int32_t, 3> dilation{1, 1, 1};
  bool local_bound = false;
  DType acc_type = DType::kI32;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("pad", &Conv3dAttrs::pad);
    f("stride", &Conv3dAttrs::stride);
    f("dilation", &Conv3dAttrs::dilation);
    f("local_bound", &Conv3dAttrs::local_bound);
    f("acc_type", &Conv3dAttrs::acc_type);
  }
};

struct TransposeConv2dAttrs {
  std::array<int32_t, 4> out_pad{};  ///< top, bottom, left, right; may be negative
  std::array<int32_t, 2> stride{1, 1};
  bool local_bound = false;
  DType acc_type = DType::kI32;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("out_pad", &TransposeConv2dAttrs::out_pad);
    f("stride", &TransposeConv2dAttrs::stride);
    f("local_bound", &TransposeConv2dAttrs::local_bound);
    f("acc_type", &TransposeConv2dAttrs::acc_type);
  }
};

struct FftAttrs {
  bool inverse = false;
  bool local_bound = false;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("inverse", &FftAttrs::inverse);
    f("local_bound", &FftAttrs::local_bound);
  }
};

struct RfftAttrs {
  bool local_bound = false;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("local_bound", &RfftAttrs::local_bound);
  }
};

struct ResizeAttrs {
  ResizeMode mode = ResizeMode::kNearest;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("mode", &ResizeAttrs::mode);
  }
};

struct ClampAttrs {
  Scalar min_val;
  Scalar max_val;
  NanMode nan_mode = NanMode::kPropagate;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("min_val", &ClampAttrs::min_val);
    f("max_val", &ClampAttrs::max_val);
    f("nan_mode", &ClampAttrs::nan_mode);
  }
};

/// MAXIMUM and MINIMUM.
struct NanModeAttrs {
  NanMode nan_mode = NanMode::kPropagate;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("nan_mode", &NanModeAttrs::nan_mode);
  }
};

/// CONCAT, REVERSE, REDUCE_SUM, REDUCE_ALL, REDUCE_ANY, REDUCE_PRODUCT.
struct AxisAttrs {
  int32_t axis = 0;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("axis", &AxisAttrs::axis);
  }
};

/// REDUCE_MAX and REDUCE_MIN.
struct AxisNanAttrs {
  int32_t axis = 0;
  NanMode nan_mode = NanMode::kPropagate;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("axis", &AxisNanAttrs::axis);
    f("nan_mode", &AxisNanAttrs::nan_mode);
  }
};

struct ArithmeticRightShiftAttrs {
  bool round = false;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("round", &ArithmeticRightShiftAttrs::round);
  }
};

/// TRANSPOSE: perms has as many entries as the operand's rank, so it is a list and not an array.
struct TransposeAttrs {
  std::span<const int64_t> perms;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("perms", &TransposeAttrs::perms);
  }
};

struct RescaleAttrs {
  bool scale32 = true;
  RoundingMode rounding_mode = RoundingMode::kSingle;
  bool per_channel = false;
  bool input_unsigned = false;
  bool output_unsigned = false;
  template <typename F>
  static constexpr void for_each(F&& f) {
    f("scale32", &RescaleAttrs::scale32);
    f("rounding_mode", &RescaleAttrs::rounding_mode);
    f("per_channel", &RescaleAttrs::per_channel);
    f("input_unsigned", &RescaleAttrs::input_unsigned);
    f("output_unsigned", &RescaleAttrs::output_unsigned);
  }
};

// Kinds from member types.
template <typename T>
struct FieldOf;
template <>
struct FieldOf<int32_t> {
  static constexpr FieldKind kind = FieldKind::kInt32;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<bool> {
  static constexpr FieldKind kind = FieldKind::kBool;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<DType> {
  static constexpr FieldKind kind = FieldKind::kDType;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<NanMode> {
  static constexpr FieldKind kind = FieldKind::kNanMode;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<RoundingMode> {
  static constexpr FieldKind kind = FieldKind::kRoundingMode;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<ResizeMode> {
  static constexpr FieldKind kind = FieldKind::kResizeMode;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<Scalar> {
  static constexpr FieldKind kind = FieldKind::kScalar;
  static constexpr uint8_t length = 0;
};
template <>
struct FieldOf<std::span<const int64_t>> {
  static constexpr FieldKind kind = FieldKind::kInts32;
  static constexpr uint8_t length = 0;
};
template <size_t N>
struct FieldOf<std::array<int32_t, N>> {
  static constexpr FieldKind kind = FieldKind::kInts32;
  static constexpr uint8_t length = N;
};

/// At most this many fields in one table.
inline constexpr size_t kMaxFields = 6;
struct FieldList {
  std::array<AttrField, kMaxFields> fields{};
  uint8_t count = 0;
  constexpr auto begin() const { return fields.begin(); }
  constexpr auto end() const { return fields.begin() + count; }
};

/// The fields of an attribute struct, at compile time.
template <typename A>
constexpr FieldList fields_of() {
  FieldList list;
  A::for_each([&list]<typename T>(std::string_view name, T A::*) {
    list.fields[list.count++] = {name, FieldOf<T>::kind, FieldOf<T>::length};
  });
  return list;
}

namespace detail {
Attr to_attr(int32_t v, Arena&);
Attr to_attr(bool v, Arena&);
Attr to_attr(DType v, Arena&);
Attr to_attr(NanMode v, Arena&);
Attr to_attr(RoundingMode v, Arena&);
Attr to_attr(ResizeMode v, Arena&);
Attr to_attr(const Scalar& v, Arena&);
Attr to_attr(std::span<const int64_t> v, Arena&);
Attr ints_to_attr(std::span<const int32_t> v, Arena&);
template <size_t N>
Attr to_attr(const std::array<int32_t, N>& v, Arena& arena) {
  return ints_to_attr(v, arena);
}
void from_attr(const Attr& a, int32_t& v);
void from_attr(const Attr& a, bool& v);
void from_attr(const Attr& a, DType& v);
void from_attr(const Attr& a, NanMode& v);
void from_attr(const Attr& a, RoundingMode& v);
void from_attr(const Attr& a, ResizeMode& v);
void from_attr(const Attr& a, Scalar& v);
void from_attr(const Attr& a, std::span<const int64_t>& v);
void ints_from_attr(const Attr& a, std::span<int32_t> v);
template <size_t N>
void from_attr(const Attr& a, std::array<int32_t, N>& v) {
  ints_from_attr(a, v);
}
}  // namespace detail

/// Why `attr` is not a value of this field: "an integer"; empty when it is one.
std::string_view field_needs(const AttrField& field, const Attr& attr);

/// The struct as a list in `arena` / from a node that has been verified.
template <typename A>
AttrList write_attrs(const A& a, Arena& arena) {
  constexpr FieldList kFields = fields_of<A>();
  auto list = arena.make_span<NamedAttr>(kFields.count);
  size_t i = 0;
  A::for_each([&](std::string_view name, auto member) {
    list[i++] = {name, detail::to_attr(a.*member, arena)};
  });
  return list;
}
template <typename A>
A read_attrs(AttrList attrs) {
  A a;
  A::for_each([&](std::string_view name, auto member) {
    if (const Attr* attr = find_attr(attrs, name)) detail::from_attr(*attr, a.*member);
  });
  return a;
}
template <typename A>
A read_attrs(const Node& node) {
  return read_attrs<A>(node.attrs());
}

}  // namespace tosaic::tosa
