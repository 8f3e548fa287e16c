// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
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
/// One node on one line, without its end of line: for messages. Takes time linear in the graph,
/// since names depend on the whole of it.
std::string print(const Node& node);

/// Parses text IR. Errors (E0204) carry `file_name`, the line and its text. Every constant,
/// attribute and name is checked; the graphs are not verified.
Expected<std::unique_ptr<Module>> parse_module(std::string_view text, std::string_view file_name);

/// A word of text IR, `[A-Za-z_][A-Za-z0-9_.]*`; names that are none are quoted.
bool is_identifier(std::string_view text);

}  // namespace tosaic
