// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "support/diagnostic.h"

namespace tosaic {

/// Where a node comes from in the user's program. Made once per place by a reader and never copied:
/// nodes hold its address. Text that is costly to decode stays raw until a message needs it.
struct LocInfo {
  std::string_view file;
  uint32_t line = 0;
  std::string_view source;
  std::string_view scope;
  /// When set, makes the Location out of `raw_stack` and `raw_modules` (views into the mapped
  /// file).
  Location (*decode)(const LocInfo&) = nullptr;
  std::string_view raw_stack;
  std::string_view raw_modules;
};

/// nullptr: not known.
using Loc = const LocInfo*;

/// The place as text. An empty Location for nullptr.
Location resolve(Loc loc);

}  // namespace tosaic
