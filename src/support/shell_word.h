// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace tosaic {

/// `text` as one word of a command line that a user copies into a POSIX shell: as it is where that
/// is safe, else in quotes. What no terminal shows (control characters, bytes that are no UTF-8)
/// becomes "\xHH" inside $'…', which bash and zsh read.
std::string shell_word(std::string_view text);

}  // namespace tosaic
