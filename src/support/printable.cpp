// SPDX-License-Identifier: Apache-2.0
#include "support/printable.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <algorithm>

namespace tosaic {
namespace {

std::string escaped(std::string_view text, bool keep_line_breaks) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t size = utf8_character_bytes(text);
    const auto byte = static_cast<unsigned char>(text[0]);
    const bool is_control = byte < 0x20 || byte == 0x7f;
    const bool stays = text[0] == '\t' || (text[0] == '\n' && keep_line_breaks);
    if (size == 0 || (is_control && !stays)) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += text.substr(0, size);
    }
    text.remove_prefix(std::max<size_t>(size, 1));
  }
  return out;
}

}  // namespace

size_t utf8_character_bytes(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  if (first < 0x80) return 1;
  const size_t size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (size > text.size() || !simdjson::validate_utf8(text.data(), size)) return 0;
  return size;
}

std::string printable(std::string_view text) {
  return escaped(text, true);
}

std::string printable_line(std::string_view text) {
  return escaped(text, false);
}

}  // namespace tosaic
