// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "support/expected.h"

namespace tosaic {

/// Tokens of text IR, taken on demand from text that nobody trusts. White space and comments before
/// a token are skipped; one pass, no copies except of strings with escapes.
class Scanner {
 public:
  Scanner(std::string_view text, std::string_view file_name) : text_(text), file_(file_name) {}

  /// First character of the next token, '\0' at the end of the text.
  char peek();
  bool at_end();
  /// Where the next token begins, and the text between there and here.
  size_t mark();
  std::string_view since(size_t mark) const { return text_.substr(mark, pos_ - mark); }

  bool accept(std::string_view punctuation);
  /// The next token is that word (not only its beginning): takes it.
  bool accept_word(std::string_view word);
  /// `context` ends "expected ')' …".
  Status expect(std::string_view punctuation, std::string_view context);
  /// An identifier, or "" (nothing is taken).
  std::string_view word();
  /// Letters, digits, '_' and '.' directly here, or "".
  std::string_view tail_of_name();
  /// A quoted string without its quotes, escapes replaced.
  Expected<std::string> string();
  /// The characters between quotes as they are; for hexadecimal bytes.
  Expected<std::string_view> raw_string();

  /// The text of a number: [-]digits[.digits][e[+-]digits], [-]inf or [-]nan; "" when there is
  /// none.
  std::string_view number();
  Expected<int64_t> integer(std::string_view what, int64_t least, int64_t greatest);
  Expected<double> real(std::string_view what);

  /// E0204 at the next token, or at a mark.
  template <typename... Args>
  Diagnostic error(fmt::format_string<Args...> format, Args&&... args) {
    return error_at(mark(), fmt::format(format, std::forward<Args>(args)...));
  }
  Diagnostic error_at(size_t mark, std::string message) const;
  /// "expected WHAT, found …" at the next token.
  Diagnostic expected(std::string_view what);

 private:
  void skip_space();

  std::string_view text_;
  std::string_view file_;
  size_t pos_ = 0;
};

/// Whether the text of a number is that of an integer.
bool is_integer_text(std::string_view number);

}  // namespace tosaic
