// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/dtype.h"
#include "support/arena.h"

namespace tosaic {

/// A value of an attribute: a small tagged union. Lists and strings are views into an arena (or
/// static storage) that outlives the node.
class Attr {
 public:
  enum class Kind : uint8_t {
    kNone,
    kBool,
    kInt,
    kFloat,
    kString,
    kDType,
    kInts,
    kFloats,
    kBools,
    kGraph,
  };

  Attr() = default;  ///< none: Python's None
  static Attr boolean(bool v) {
    Attr a(Kind::kBool);
    a.int_ = v;
    return a;
  }
  static Attr integer(int64_t v) {
    Attr a(Kind::kInt);
    a.int_ = v;
    return a;
  }
  static Attr real(double v) {
    Attr a(Kind::kFloat);
    a.real_ = v;
    return a;
  }
  static Attr dtype(DType v) {
    Attr a(Kind::kDType);
    a.int_ = static_cast<int64_t>(v);
    return a;
  }
  static Attr string(std::string_view v) { return Attr(Kind::kString, v.data(), v.size()); }
  /// Name of a graph of the same module.
  static Attr graph(std::string_view v) { return Attr(Kind::kGraph, v.data(), v.size()); }
  static Attr ints(std::span<const int64_t> v) { return Attr(Kind::kInts, v.data(), v.size()); }
  static Attr reals(std::span<const double> v) { return Attr(Kind::kFloats, v.data(), v.size()); }
  static Attr bools(std::span<const bool> v) { return Attr(Kind::kBools, v.data(), v.size()); }

  Kind kind() const { return kind_; }
  bool is_none() const { return kind_ == Kind::kNone; }
  /// The accessors require the kind they name (checked); `as_real` takes an int as well, and
  /// `as_int` a bool.
  bool as_bool() const;
  int64_t as_int() const;
  double as_real() const;
  DType as_dtype() const;
  std::string_view as_string() const;  ///< kString and kGraph
  std::span<const int64_t> as_ints() const;
  std::span<const double> as_reals() const;
  std::span<const bool> as_bools() const;

  bool operator==(const Attr& other) const;
  /// The same value with its list or string copied into `arena`.
  Attr copy_to(Arena& arena) const;

 private:
  explicit Attr(Kind kind) : kind_(kind) {}
  Attr(Kind kind, const void* data, size_t size)
      : kind_(kind), size_(static_cast<uint32_t>(size)), data_(data) {}

  Kind kind_ = Kind::kNone;
  uint32_t size_ = 0;
  union {
    int64_t int_ = 0;
    double real_;
    const void* data_;
  };
};

/// "true", "3", "0.5", "\"text\"", "i8", "[1, 2]", "@graph", "none": the form of text IR.
std::string to_string(const Attr& attr);

struct NamedAttr {
  std::string_view name;
  Attr value;
  bool operator==(const NamedAttr&) const = default;
};

/// Attributes of a node in the order of its operator's definition.
using AttrList = std::span<const NamedAttr>;

/// The attribute of that name, or nullptr.
const Attr* find_attr(AttrList attrs, std::string_view name);

}  // namespace tosaic
