// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace tosaic {

/// Bytes of the UTF-8 character that `text`, which is not empty, begins with; 0 when it begins with
/// none.
size_t utf8_character_bytes(std::string_view text);

/// `text` for a terminal, or for a file that must be UTF-8. Names come from files that nobody has
/// checked: control characters, tabs and line breaks aside, and bytes that are no UTF-8 become
/// "\xHH".
std::string printable(std::string_view text);

/// The same on one line: line breaks are escaped too.
std::string printable_line(std::string_view text);

}  // namespace tosaic
