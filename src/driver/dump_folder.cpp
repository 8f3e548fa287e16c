// SPDX-License-Identifier: Apache-2.0
#include "driver/dump_folder.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "support/output_file.h"

namespace tosaic {
namespace {

size_t num_digits(std::string_view text) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return static_cast<size_t>(std::ranges::find_if_not(text, is_digit) - text.begin());
}

bool is_of_a_dump(std::string_view name) {
  if (name == "main.tosa") return true;
  if (name.starts_with("part")) {
    name.remove_prefix(4);
    const size_t digits = num_digits(name);
    name.remove_prefix(digits);
    return digits > 0 && (name == ".tosa" || name == ".payload");
  }
  const size_t digits = num_digits(name);
  return digits >= 2 && name.substr(digits).starts_with('_') && name.ends_with(".tir");
}

}  // namespace

Status prepare_dump_folder(const std::string& path) {
  TOSAIC_CHECK_OK(make_directories(path));
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(path, none)) {
    if (entry.is_regular_file(none) && is_of_a_dump(entry.path().filename().string())) {
      std::filesystem::remove(entry.path(), none);
    }
  }
  return ok();
}

}  // namespace tosaic
