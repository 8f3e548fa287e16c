// SPDX-License-Identifier: Apache-2.0
#include "ir/scanner.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "ir/text.h"

namespace tosaic {
namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_name_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '.';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// What follows, cut to a length that fits into a message and free of control characters.
std::string excerpt(std::string_view text) {
  constexpr size_t kMaxExcerpt = 24;
  const size_t end = std::min({text.find_first_of("\r\n"), text.size(), kMaxExcerpt});
  std::string result(text.substr(0, end));
  std::ranges::replace_if(
      result, [](char c) { return static_cast<unsigned char>(c) < 0x20; }, '?');
  return result;
}

}  // namespace

bool is_integer_text(std::string_view number) {
  return number.find_first_of(".eEfn") == std::string_view::npos;
}

void Scanner::skip_space() {
  while (pos_ < text_.size()) {
    if (is_space(text_[pos_])) {
      ++pos_;
    } else if (text_.substr(pos_).starts_with("//")) {
      pos_ = std::min(text_.find('\n', pos_), text_.size());
    } else {
      return;
    }
  }
}

char Scanner::peek() {
  skip_space();
  return pos_ < text_.size() ? text_[pos_] : '\0';
}

bool Scanner::at_end() {
  skip_space();
  return pos_ == text_.size();
}

size_t Scanner::mark() {
  skip_space();
  return pos_;
}

bool Scanner::accept(std::string_view punctuation) {
  skip_space();
  if (!text_.substr(pos_).starts_with(punctuation)) return false;
  pos_ += punctuation.size();
  return true;
}

bool Scanner::accept_word(std::string_view word) {
  skip_space();
  if (!text_.substr(pos_).starts_with(word)) return false;
  const size_t end = pos_ + word.size();
  if (end < text_.size() && is_name_char(text_[end])) return false;
  pos_ = end;
  return true;
}

Status Scanner::expect(std::string_view punctuation, std::string_view context) {
  if (accept(punctuation)) return ok();
  return expected(fmt::format("'{}' {}", punctuation, context));
}

std::string_view Scanner::word() {
  skip_space();
  if (pos_ == text_.size() || is_digit(text_[pos_]) || text_[pos_] == '.') return {};
  return tail_of_name();
}

std::string_view Scanner::tail_of_name() {
  const size_t begin = pos_;
  while (pos_ < text_.size() && is_name_char(text_[pos_]))
    ++pos_;
  return text_.substr(begin, pos_ - begin);
}

Expected<std::string_view> Scanner::raw_string() {
  const size_t begin = mark();
  if (!accept("\"")) return expected("a string");
  while (pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n') {
    pos_ += text_[pos_] == '\\' ? 2 : 1;
  }
  if (pos_ >= text_.size() || text_[pos_] != '"') {
    pos_ = std::min(pos_, text_.size());
    return error_at(begin, "the string has no end on its line");
  }
  return text_.substr(begin + 1, pos_++ - begin - 1);
}

Expected<std::string> Scanner::string() {
  const size_t begin = mark();
  TOSAIC_TRY(const std::string_view raw, raw_string());
  std::string result;
  result.reserve(raw.size());
  for (size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '\\') {
      result.push_back(raw[i]);
      continue;
    }
    ++i;  // raw_string() takes two characters for a backslash, so there is one
    const char c = raw[i];
    if (c == '"' || c == '\\') {
      result.push_back(c);
    } else if (c == 'n') {
      result.push_back('\n');
    } else if (c == 't') {
      result.push_back('\t');
    } else if (c == 'x' && i + 2 < raw.size() && hex_digit(raw[i + 1]) >= 0 &&
               hex_digit(raw[i + 2]) >= 0) {
      result.push_back(static_cast<char>(hex_digit(raw[i + 1]) * 16 + hex_digit(raw[i + 2])));
      i += 2;
    } else {
      return error_at(begin,
                      "unknown escape in a string; known are \\\", \\\\, \\n, \\t and \\xHH");
    }
  }
  return result;
}

std::string_view Scanner::number() {
  skip_space();
  const size_t begin = pos_;
  size_t at = pos_;
  const auto digits = [&] {
    const size_t first = at;
    while (at < text_.size() && is_digit(text_[at]))
      ++at;
    return at > first;
  };
  const auto is_at = [&](size_t i, std::string_view set) {
    return i < text_.size() && set.find(text_[i]) != std::string_view::npos;
  };
  if (is_at(at, "-")) ++at;
  if (const std::string_view rest = text_.substr(at, 3); rest == "inf" || rest == "nan") {
    if (at + 3 < text_.size() && is_name_char(text_[at + 3])) return {};
    at += 3;
  } else {
    if (!digits()) return {};
    if (is_at(at, ".") && is_at(at + 1, "0123456789")) {
      ++at;
      digits();
    }
    const size_t sign = is_at(at + 1, "+-") ? 1 : 0;
    if (is_at(at, "eE") && is_at(at + 1 + sign, "0123456789")) {
      at += 1 + sign;
      digits();
    }
  }
  pos_ = at;
  return text_.substr(begin, at - begin);
}

Expected<int64_t> Scanner::integer(std::string_view what, int64_t least, int64_t greatest) {
  const size_t begin = mark();
  const std::string_view text = number();
  if (text.empty()) return expected(what);
  if (!is_integer_text(text)) {
    return error_at(begin, fmt::format("{} must be an integer, found {}", what, excerpt(text)));
  }
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || value < least || value > greatest) {
    return error_at(
        begin, fmt::format("{} is {}, outside {} to {}", what, excerpt(text), least, greatest));
  }
  return value;
}

Expected<double> Scanner::real(std::string_view what) {
  const size_t begin = mark();
  const std::string_view text = number();
  if (text.empty()) return expected(what);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc() || end != text.data() + text.size()) {
    return error_at(begin,
                    fmt::format("{} is {}, outside the range of a double", what, excerpt(text)));
  }
  return value;
}

Diagnostic Scanner::error_at(size_t mark, std::string message) const {
  constexpr size_t kMaxSourceLine = 200;
  Diagnostic d = tosaic::error(Code::kTirSyntax, "{}", message);
  const std::string_view before = text_.substr(0, mark);
  d.where.file = std::string(file_);
  d.where.line = static_cast<uint32_t>(1 + std::ranges::count(before, '\n'));
  const size_t newline = before.rfind('\n');
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  std::string_view line = text_.substr(begin);
  line = line.substr(0, std::min({line.find_first_of("\r\n"), line.size(), kMaxSourceLine}));
  d.where.source = std::string(line);
  return d;
}

Diagnostic Scanner::expected(std::string_view what) {
  if (at_end()) return error("expected {}, found the end of the text", what);
  return error("expected {}, found '{}'", what, excerpt(text_.substr(pos_)));
}

}  // namespace tosaic
