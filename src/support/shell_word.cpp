// SPDX-License-Identifier: Apache-2.0
#include "support/shell_word.h"

#include <fmt/format.h>

#include "support/printable.h"

namespace tosaic {
namespace {

constexpr std::string_view kSafe =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";

std::string with_escapes(std::string_view text) {
  std::string word = "$'";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\'' || c == '\\') {
      word += '\\';
      word += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      word += fmt::format("\\x{:02x}", byte);
    } else {
      word += c;
    }
  }
  return word + '\'';
}

}  // namespace

std::string shell_word(std::string_view text) {
  if (!text.empty() && text.find_first_not_of(kSafe) == std::string_view::npos) {
    return std::string(text);
  }
  if (printable_line(text) != text || text.find('\t') != std::string_view::npos) {
    return with_escapes(text);
  }
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + '\'';
}

}  // namespace tosaic
