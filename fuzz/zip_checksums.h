// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tosaic::fuzz {

/// A copy of a zip archive whose STORED members have the checksums of their bytes, so that a change
/// reaches what lies behind the check. Anything else stays as it is.
std::vector<std::byte> with_right_checksums(std::span<const std::byte> bytes);

}  // namespace tosaic::fuzz
