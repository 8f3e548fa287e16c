// SPDX-License-Identifier: Apache-2.0
#include "support/npy_header.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "support/little_endian.h"

namespace tosaic {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kMaxHeaderBytes = size_t{1} << 16;
constexpr size_t kMaxRank = 64;  // NumPy's own limit
constexpr size_t kAlignment = 64;

struct Dtype {
  std::string_view name;
  size_t num_bytes;
  std::string_view long_name;
};
constexpr Dtype kDtypes[] = {{"b1", 1, "bool"},    {"i1", 1, "int8"},    {"i2", 2, "int16"},
                             {"i4", 4, "int32"},   {"i8", 8, "int64"},   {"u1", 1, "uint8"},
                             {"u2", 2, "uint16"},  {"u4", 4, "uint32"},  {"u8", 8, "uint64"},
                             {"f2", 2, "float16"}, {"f4", 4, "float32"}, {"f8", 8, "float64"}};

Diagnostic damaged(std::string_view what) {
  return error(Code::kNpy, "damaged array header: {}", what);
}

// Reads the one form that NumPy writes, a Python dictionary of three keys:
// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Expected<NpyHeader> parse() {
    NpyHeader header;
    if (!take('{')) return damaged("'{' expected");
    while (!take('}')) {
      std::string_view key;
      if (!take_string(key) || !take(':')) return damaged("a key and ':' expected");
      TOSAIC_CHECK_OK(parse_value(key, header));
      if (take(',')) continue;
      if (!take('}')) return damaged("',' or '}' expected");
      break;
    }
    skip_space();
    if (at_ != text_.size()) return damaged("text after '}'");
    if (!text_.ends_with('\n')) return damaged("no line end");
    if (!has_dtype_ || !has_order_ || !has_shape_) {
      return damaged("'descr', 'fortran_order' and 'shape' are needed");
    }
    return header;
  }

 private:
  Status parse_value(std::string_view key, NpyHeader& header) {
    if (key == "descr" && !has_dtype_) {
      has_dtype_ = true;
      return parse_dtype(header);
    }
    if (key == "fortran_order" && !has_order_) {
      has_order_ = true;
      header.fortran_order = take_word("True");
      if (!header.fortran_order && !take_word("False")) return damaged("True or False expected");
      return ok();
    }
    if (key == "shape" && !has_shape_) {
      has_shape_ = true;
      return parse_shape(header.shape);
    }
    return damaged("a key is not known or occurs twice");
  }

  Status parse_dtype(NpyHeader& header) {
    std::string_view text;
    skip_space();
    if (at_ < text_.size() && text_[at_] == '[') {
      return error(Code::kNpy, "structured arrays are not supported");
    }
    if (!take_string(text)) return damaged("a dtype string expected");
    if (text.ends_with('O')) {
      return error(Code::kNpy, "it holds Python objects (a pickle), which are never loaded");
    }
    const std::string_view name = text.substr(std::min<size_t>(1, text.size()));
    const size_t num_bytes = npy_element_bytes(name);
    if (num_bytes == 0) {
      return error(Code::kNpy, "dtype '{}' is not supported; booleans, integers and floats are",
                   text);
    }
    const bool ordered = text[0] == '<' || text[0] == '>';
    if (!ordered && !(text[0] == '|' && num_bytes == 1)) {
      return error(Code::kNpy, "dtype '{}' has no valid byte order", text);
    }
    header.dtype = name;
    header.big_endian = text[0] == '>';
    return ok();
  }

  Status parse_shape(std::vector<int64_t>& shape) {
    if (!take('(')) return damaged("a tuple expected");
    bool comma = true;  // since the last number
    while (!take(')')) {
      int64_t size = 0;
      if (!comma || !take_number(size)) return damaged("a size expected");
      if (shape.size() == kMaxRank) return error(Code::kNpy, "more than {} dimensions", kMaxRank);
      shape.push_back(size);
      comma = take(',');
    }
    // "(3)" is a number in Python and not a tuple, "(,)" does not exist.
    if (shape.size() == 1 && !comma) return damaged("a tuple expected");
    return ok();
  }

  void skip_space() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n'))
      ++at_;
  }

  bool take(char c) {
    skip_space();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  bool take_word(std::string_view word) {
    skip_space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool take_string(std::string_view& value) {
    skip_space();
    if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"')) return false;
    const size_t begin = at_ + 1;
    const size_t end = text_.find(text_[at_], begin);
    if (end == std::string_view::npos) return false;
    value = text_.substr(begin, end - begin);
    at_ = end + 1;
    return value.find('\\') == std::string_view::npos;
  }

  bool take_number(int64_t& value) {
    skip_space();
    const char* begin = text_.data() + at_;
    const auto [end, failed] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (failed != std::errc{} || *begin == '-') return false;
    at_ += static_cast<size_t>(end - begin);
    return true;
  }

  std::string_view text_;
  size_t at_ = 0;
  bool has_dtype_ = false, has_order_ = false, has_shape_ = false;
};

}  // namespace

std::string_view npy_dtype_name(std::string_view dtype) {
  const auto* const it = std::ranges::find(kDtypes, dtype, &Dtype::name);
  return it == std::end(kDtypes) ? dtype : it->long_name;
}

std::string astype_hint(std::string_view dtype) {
  return fmt::format("convert it before numpy.savez: array.astype(numpy.{})",
                     dtype == "b1" ? "bool_" : npy_dtype_name(dtype));
}

size_t npy_element_bytes(std::string_view dtype) {
  for (const Dtype& known : kDtypes) {
    if (known.name == dtype) return known.num_bytes;
  }
  return 0;
}

std::optional<uint64_t> npy_data_bytes(size_t element_bytes, std::span<const int64_t> shape) {
  int64_t product = static_cast<int64_t>(element_bytes);
  bool empty = false;
  for (const int64_t size : shape) {
    if (size < 0) return std::nullopt;
    if (size == 0) {
      empty = true;
    } else if (__builtin_mul_overflow(product, size, &product)) {
      return std::nullopt;
    }
  }
  return empty ? 0 : static_cast<uint64_t>(product);
}

Expected<NpyHeader> parse_npy_header(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (!text.starts_with(kMagic)) return error(Code::kNpy, "this is no .npy array");
  size_t begin = kMagic.size() + 2;
  if (text.size() < begin + 4) return damaged("it is cut off");
  const char major = text[kMagic.size()], minor = text[kMagic.size() + 1];
  if (major < 1 || major > 3 || minor != 0) {
    return error(Code::kNpy, "version {}.{} of the .npy format is not supported",
                 static_cast<uint8_t>(major), static_cast<uint8_t>(minor));
  }
  size_t num_bytes = load_le<uint16_t>(file.data() + begin);
  if (major > 1) num_bytes = load_le<uint32_t>(file.data() + begin);
  begin += major > 1 ? 4 : 2;
  if (num_bytes > kMaxHeaderBytes) return damaged("it is too long");
  if (num_bytes > text.size() - begin) return damaged("it is cut off");
  TOSAIC_TRY(NpyHeader header, HeaderParser(text.substr(begin, num_bytes)).parse());
  header.header_bytes = begin + num_bytes;
  const auto data_bytes = npy_data_bytes(npy_element_bytes(header.dtype), header.shape);
  if (!data_bytes) return damaged("the shape is too large");
  header.data_bytes = *data_bytes;
  return header;
}

std::string make_npy_header(std::string_view dtype, std::span<const int64_t> shape) {
  std::string text = fmt::format("{{'descr': '{}{}', 'fortran_order': False, 'shape': (",
                                 npy_element_bytes(dtype) == 1 ? '|' : '<', dtype);
  for (size_t i = 0; i < shape.size(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : " ", shape[i]);
    if (i + 1 < shape.size() || shape.size() == 1) text += ',';
  }
  text += "), }";
  const size_t fixed_bytes = kMagic.size() + 4;  // magic, version, length
  while ((fixed_bytes + text.size() + 1) % kAlignment != 0)
    text += ' ';
  text += '\n';
  std::string header(kMagic);
  header += {'\x01', '\x00'};
  header += static_cast<char>(text.size() & 0xff);
  header += static_cast<char>(text.size() >> 8);
  return header + text;
}

}  // namespace tosaic
