// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "support/expected.h"

namespace tosaic {

/// Writes a whole file: under a temporary name beside it, flushed, then renamed over `path`. On any
/// error nothing is left behind and an older file of that name is untouched.
Status write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces);
Status write_file(const std::string& path, std::span<const std::byte> content);
Status write_file(const std::string& path, std::string_view text);

/// An error when a file to be written, `flag` and `path`, is one that is read.
Status refuse_overwriting(std::string_view flag, const std::string& path, const std::string& read);

/// An error, before long work, when the folder of a file to be written is not there or not
/// writable.
Status check_folder_of(const std::string& path);

/// $TMPDIR, else /tmp.
std::string temporary_directory();

/// Writes a new file STEM-XXXXXX.SUFFIX in the temporary directory and returns its path. Nobody
/// else has a file of this name, and only the user may read it.
Expected<std::string> write_temporary_file(std::string_view stem, std::string_view suffix,
                                           std::string_view text);

/// Reads a whole regular file into a string.
Expected<std::string> read_text_file(const std::string& path);

/// Makes a directory and its parents; it may exist already.
Status make_directories(const std::string& path);

}  // namespace tosaic
