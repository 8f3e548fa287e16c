// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic {

struct PrintOptions {
  bool locs = true;
  /// Constants with more elements than this are printed as `elided #hash` (such text cannot be
  /// parsed again). 0: print everything.
  size_t max_constant_elements = 0;
};

/// Text IR, as docs/ir.md describes it. print(parse(s)) == s for text that print made.
std::string print(const Module& module, const PrintOptions& options = {});
std::string print(const Graph& graph, const PrintOptions& options = {});
/// One node on one line, without its end of line: for messages.
std::string print(const Node& node);

/// Parses text IR. Errors carry `file_name` and the line. Every constant, attribute and name is
/// checked; the graphs are not verified.
Expected<std::unique_ptr<Module>> parse_module(std::string_view text, std::string_view file_name);

}  // namespace tosaic
