// SPDX-License-Identifier: Apache-2.0
#include "ir/attr.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <iterator>

#include "ir/text.h"
#include "support/check.h"
#include "support/printable.h"

namespace tosaic {
namespace {

using Kind = Attr::Kind;

template <typename T>
std::span<const T> list_of(const void* data, uint32_t size) {
  return {static_cast<const T*>(data), size};
}

/// Bit patterns, so that equality is an equivalence for NaN and tells 0.0 from -0.0, as text does.
bool same_real(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

/// Shortest text that reads back as the same double and is not that of an integer.
void append_real(fmt::memory_buffer& out, double value) {
  const std::string text = fmt::format("{}", value);
  out.append(text);
  if (text.find_first_of(".eni") == std::string::npos) out.append(std::string_view(".0"));
}

void append_quoted(fmt::memory_buffer& out, std::string_view text) {
  out.push_back('"');
  while (!text.empty()) {
    const char c = text[0];
    const size_t size = utf8_character_bytes(text);
    if (c == '"' || c == '\\') {
      out.push_back('\\');
      out.push_back(c);
    } else if (c == '\n') {
      out.append(std::string_view("\\n"));
    } else if (c == '\t') {
      out.append(std::string_view("\\t"));
    } else if (size == 0 || static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      out.append(text.substr(0, size));
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  out.push_back('"');
}

template <typename T, typename Append>
void append_list(fmt::memory_buffer& out, std::span<const T> list, Append append) {
  out.push_back('[');
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) out.append(std::string_view(", "));
    append(list[i]);
  }
  out.push_back(']');
}

}  // namespace

bool Attr::as_bool() const {
  TOSAIC_CHECK(kind_ == Kind::kBool, "the attribute is a bool");
  return int_ != 0;
}

int64_t Attr::as_int() const {
  TOSAIC_CHECK(kind_ == Kind::kInt || kind_ == Kind::kBool, "the attribute is an integer");
  return int_;
}

double Attr::as_real() const {
  if (kind_ == Kind::kInt) return static_cast<double>(int_);
  TOSAIC_CHECK(kind_ == Kind::kFloat, "the attribute is a number");
  return real_;
}

DType Attr::as_dtype() const {
  TOSAIC_CHECK(kind_ == Kind::kDType, "the attribute is a dtype");
  return static_cast<DType>(int_);
}

std::string_view Attr::as_string() const {
  TOSAIC_CHECK(kind_ == Kind::kString || kind_ == Kind::kGraph, "the attribute is a string");
  return {static_cast<const char*>(data_), size_};
}

std::span<const int64_t> Attr::as_ints() const {
  TOSAIC_CHECK(kind_ == Kind::kInts, "the attribute is a list of integers");
  return list_of<int64_t>(data_, size_);
}

std::span<const double> Attr::as_reals() const {
  TOSAIC_CHECK(kind_ == Kind::kFloats, "the attribute is a list of numbers");
  return list_of<double>(data_, size_);
}

std::span<const bool> Attr::as_bools() const {
  TOSAIC_CHECK(kind_ == Kind::kBools, "the attribute is a list of bools");
  return list_of<bool>(data_, size_);
}

bool Attr::operator==(const Attr& other) const {
  if (kind_ != other.kind_) return false;
  switch (kind_) {
    case Kind::kNone:
      return true;
    case Kind::kBool:
    case Kind::kInt:
    case Kind::kDType:
      return int_ == other.int_;
    case Kind::kFloat:
      return same_real(real_, other.real_);
    case Kind::kString:
    case Kind::kGraph:
      return as_string() == other.as_string();
    case Kind::kInts:
      return std::ranges::equal(as_ints(), other.as_ints());
    case Kind::kFloats:
      return std::ranges::equal(as_reals(), other.as_reals(), same_real);
    case Kind::kBools:
      return std::ranges::equal(as_bools(), other.as_bools());
  }
  return false;
}

Attr Attr::copy_to(Arena& arena) const {
  Attr to = *this;
  switch (kind_) {
    case Kind::kString:
    case Kind::kGraph:
      to.data_ = arena.copy(as_string()).data();
      break;
    case Kind::kInts:
      to.data_ = arena.copy(as_ints()).data();
      break;
    case Kind::kFloats:
      to.data_ = arena.copy(as_reals()).data();
      break;
    case Kind::kBools:
      to.data_ = arena.copy(as_bools()).data();
      break;
    default:
      break;
  }
  return to;
}

std::string to_string(const Attr& attr) {
  fmt::memory_buffer out;
  auto end = std::back_inserter(out);
  switch (attr.kind()) {
    case Kind::kNone:
      return "none";
    case Kind::kBool:
      return attr.as_bool() ? "true" : "false";
    case Kind::kInt:
      return fmt::format("{}", attr.as_int());
    case Kind::kFloat:
      append_real(out, attr.as_real());
      break;
    case Kind::kString:
      append_quoted(out, attr.as_string());
      break;
    case Kind::kDType:
      return std::string(dtype_name(attr.as_dtype()));
    case Kind::kInts:
      append_list(out, attr.as_ints(), [&](int64_t v) { fmt::format_to(end, "{}", v); });
      break;
    case Kind::kFloats:
      // An empty list without a word is one of integers.
      if (attr.as_reals().empty()) return "floats []";
      append_list(out, attr.as_reals(), [&](double v) { append_real(out, v); });
      break;
    case Kind::kBools:
      if (attr.as_bools().empty()) return "bools []";
      append_list(out, attr.as_bools(), [&](bool v) { fmt::format_to(end, "{}", v); });
      break;
    case Kind::kGraph:
      out.push_back('@');
      if (is_identifier(attr.as_string())) {
        out.append(attr.as_string());
      } else {
        append_quoted(out, attr.as_string());
      }
      break;
  }
  return fmt::to_string(out);
}

const Attr* find_attr(AttrList attrs, std::string_view name) {
  for (const NamedAttr& attr : attrs) {
    if (attr.name == name) return &attr.value;
  }
  return nullptr;
}

}  // namespace tosaic
