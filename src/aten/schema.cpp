// SPDX-License-Identifier: Apache-2.0
#include "aten/schema.h"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace tosaic::aten {

namespace {

/// A cursor over the text of one schema.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  void skip_blanks() {
    while (pos_ < text_.size() && text_[pos_] == ' ')
      ++pos_;
  }
  bool take(std::string_view token) {
    skip_blanks();
    if (text_.substr(pos_, token.size()) != token) return false;
    pos_ += token.size();
    return true;
  }
  bool done() {
    skip_blanks();
    return pos_ == text_.size();
  }
  char peek() {
    skip_blanks();
    return pos_ < text_.size() ? text_[pos_] : '\0';
  }
  std::string_view word() {
    skip_blanks();
    const size_t begin = pos_;
    while (pos_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[pos_])) ||
                                   text_[pos_] == '_' || text_[pos_] == '.')) {
      ++pos_;
    }
    return text_.substr(begin, pos_ - begin);
  }
  /// Up to (not including) the first of the characters in `ends`.
  std::string_view until(std::string_view ends) {
    skip_blanks();
    const size_t begin = pos_;
    while (pos_ < text_.size() && ends.find(text_[pos_]) == std::string_view::npos)
      ++pos_;
    std::string_view result = text_.substr(begin, pos_ - begin);
    while (!result.empty() && result.back() == ' ')
      result.remove_suffix(1);
    return result;
  }
  Diagnostic fail(std::string_view what) const {
    return error(Code::kInternal, "schema \"{}\", column {}: {}", text_, pos_ + 1, what);
  }

 private:
  std::string_view text_;
  size_t pos_ = 0;
};

ArgKind element_kind(std::string_view type) {
  if (type == "Tensor") return ArgKind::kTensor;
  if (type == "int" || type == "SymInt") return ArgKind::kInt;
  if (type == "float") return ArgKind::kFloat;
  if (type == "bool") return ArgKind::kBool;
  if (type == "Scalar") return ArgKind::kScalar;
  if (type == "str") return ArgKind::kString;
  if (type == "ScalarType") return ArgKind::kDType;
  return ArgKind::kOther;
}

ArgKind list_kind(ArgKind element, bool optional_element) {
  switch (element) {
    case ArgKind::kTensor:
      return optional_element ? ArgKind::kOptionalTensorList : ArgKind::kTensorList;
    case ArgKind::kInt:
      return ArgKind::kInts;
    case ArgKind::kFloat:
    case ArgKind::kScalar:
      return ArgKind::kFloats;
    case ArgKind::kBool:
      return ArgKind::kBools;
    default:
      return ArgKind::kOther;
  }
}

struct Type {
  ArgKind kind = ArgKind::kOther;
  bool optional = false;
  bool is_list = false;
  bool alias = false;    // "(a!)" or "(a)"
  bool written = false;  // "(a!)"
  uint8_t fixed_length = 0;
};

/// A type with its suffixes: Tensor(a!)?, SymInt[2], Tensor?[].
Expected<Type> parse_type(Cursor& c) {
  Type type;
  const std::string_view name = c.word();
  if (name.empty()) return c.fail("a type is missing");
  type.kind = element_kind(name);
  bool optional = false;
  for (;;) {
    if (c.take("?")) {
      optional = true;
    } else if (c.take("(")) {
      type.alias = true;
      type.written = c.until(")").find('!') != std::string_view::npos;
      if (!c.take(")")) return c.fail("')' is missing");
    } else if (c.take("[")) {
      const std::string_view length = c.until("]");
      if (!c.take("]")) return c.fail("']' is missing");
      type.is_list = true;
      type.kind = list_kind(type.kind, optional);
      optional = false;
      int n = 0;
      std::from_chars(length.data(), length.data() + length.size(), n);
      type.fixed_length = static_cast<uint8_t>(n);
    } else {
      break;
    }
  }
  type.optional = optional;
  if (type.kind == ArgKind::kTensor && optional) type.kind = ArgKind::kOptionalTensor;
  return type;
}

/// Lists of small numbers as defaults need storage that lives as long as the process.
Attr repeated_int(int64_t value, uint8_t length) {
  static constexpr int64_t kZeros[8] = {0, 0, 0, 0, 0, 0, 0, 0};
  static constexpr int64_t kOnes[8] = {1, 1, 1, 1, 1, 1, 1, 1};
  if (value == 0) return Attr::ints(std::span(kZeros, length));
  if (value == 1) return Attr::ints(std::span(kOnes, length));
  return Attr::integer(value);
}

/// "0, 0, 0", "1, 1", or axes from 0 on: "0, 1". PyTorch has no other lists as defaults.
Expected<Attr> parse_int_list(Cursor& c, std::string_view items) {
  static constexpr int64_t kAxes[2] = {0, 1};
  if (items == "0, 1") return Attr::ints(kAxes);
  const auto count = static_cast<uint8_t>(1 + std::count(items.begin(), items.end(), ','));
  const std::string_view first = items.substr(0, items.find(','));
  for (size_t at = 0; at < items.size(); at += first.size() + 2) {
    if (items.substr(at, first.size()) != first || first.size() != 1 || count > 8) {
      return c.fail("a list of different numbers as default");
    }
  }
  return repeated_int(first[0] - '0', count);
}

Expected<Attr> parse_default(Cursor& c, const Type& type) {
  if (c.take("[")) {
    const std::string_view items = c.until("]");
    if (!c.take("]")) return c.fail("']' is missing");
    if (type.kind != ArgKind::kInts) return Attr::ints({});
    if (items.empty()) return Attr::ints({});
    return parse_int_list(c, items);
  }
  if (c.peek() == '\'' || c.peek() == '"') {
    const char quote = c.peek();
    c.take(std::string_view(&quote, 1));
    const std::string_view text = c.until(std::string_view(&quote, 1));
    c.take(std::string_view(&quote, 1));
    return Attr::string(text);
  }
  const std::string_view text = c.until(",)");
  if (text == "None") return Attr();
  if (text == "True" || text == "False") return Attr::boolean(text == "True");
  int64_t integer = 0;
  const char* end = text.data() + text.size();
  if (auto r = std::from_chars(text.data(), end, integer); r.ec == std::errc() && r.ptr == end) {
    if (type.kind == ArgKind::kFloat) return Attr::real(static_cast<double>(integer));
    if (type.kind == ArgKind::kInts && type.fixed_length > 0) {
      return repeated_int(integer, type.fixed_length);
    }
    return Attr::integer(integer);
  }
  double real = 0;
  if (auto r = std::from_chars(text.data(), end, real); r.ec == std::errc() && r.ptr == end) {
    return Attr::real(real);
  }
  return Attr::string(text);  // an enumerator: contiguous_format, Mean
}

Status parse_args(Cursor& c, Schema& schema) {
  bool keyword_only = false;
  while (!c.take(")")) {
    if (c.take("*")) {
      keyword_only = true;
      c.take(",");
      continue;
    }
    TOSAIC_TRY(const Type type, parse_type(c));
    SchemaArg arg;
    arg.kind = type.kind;
    arg.optional = type.optional;
    arg.written = type.written;
    arg.fixed_length = type.fixed_length;
    arg.keyword_only = keyword_only;
    arg.name = c.word();
    if (arg.name.empty()) return c.fail("a name is missing");
    arg.is_out = type.written && keyword_only;
    if (c.take("=")) {
      TOSAIC_TRY(arg.value, parse_default(c, type));
    }
    schema.args.push_back(arg);
    if (!c.take(",") && c.peek() != ')') return c.fail("',' or ')' is missing");
  }
  return ok();
}

Status parse_returns(Cursor& c, Schema& schema) {
  if (!c.take("->")) return c.fail("'->' is missing");
  const bool in_parentheses = c.take("(");
  if (in_parentheses && c.take(")")) return ok();
  do {
    TOSAIC_TRY(const Type type, parse_type(c));
    schema.returns_list = schema.returns_list || type.is_list;
    ++schema.num_returns;
    if (in_parentheses) c.word();  // a name
  } while (in_parentheses && c.take(","));
  if (in_parentheses && !c.take(")")) return c.fail("')' is missing");
  return c.done() ? ok() : Status(c.fail("unexpected text"));
}

}  // namespace

const SchemaArg* Schema::find(std::string_view name) const {
  for (const SchemaArg& arg : args) {
    if (arg.name == name) return &arg;
  }
  return nullptr;
}

bool Schema::is_tensor_arg(size_t i) const {
  const ArgKind kind = args[i].kind;
  return kind == ArgKind::kTensor || kind == ArgKind::kOptionalTensor ||
         kind == ArgKind::kTensorList || kind == ArgKind::kOptionalTensorList;
}

Expected<Schema> parse_schema(std::string_view text) {
  Cursor c(text);
  Schema schema;
  const std::string_view space = c.word();
  if (space.empty() || !c.take("::")) return c.fail("\"namespace::\" is missing");
  const std::string_view name = c.word();
  if (name.empty() || !c.take("(")) return c.fail("a name and '(' are missing");
  schema.full_name = fmt::format("{}.{}", space, name);
  if (name.find('.') == std::string_view::npos) schema.full_name += ".default";
  TOSAIC_CHECK_OK(parse_args(c, schema));
  TOSAIC_CHECK_OK(parse_returns(c, schema));
  schema.in_place = !schema.args.empty() && schema.args[0].written && !schema.args[0].is_out;
  return schema;
}

}  // namespace tosaic::aten
