// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

namespace tosaic::fuzz {

/// A reader under test. `run` gives the bytes to it, looks at all that comes out, and ends the
/// process when a property is broken. It returns whether the bytes were taken.
struct Target {
  std::string_view name;
  bool (*run)(std::span<const std::byte> bytes);
};

std::span<const Target> targets();

/// Nullptr when there is none of that name.
const Target* find_target(std::string_view name);

}  // namespace tosaic::fuzz
