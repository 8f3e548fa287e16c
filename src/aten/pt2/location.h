// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aten/pt2/json.h"
#include "ir/graph.h"

namespace tosaic::aten::pt2 {

/// Where a node of model.json comes from, by its metadata; nothing is decoded before a message
/// asks. nullptr when the metadata tell nothing. The views live as long as the document's text.
Loc make_loc(const Json& node, Arena& arena);

/// The user's innermost frame of a `stack_trace`: the last one that is not in PyTorch itself. File,
/// line and source line.
void decode_stack(std::string_view stack, Location& to);

/// "Net.stem.pool" of an `nn_module_stack`: "KEY,PATH,TYPE;…", outermost first.
std::string decode_modules(std::string_view modules);

}  // namespace tosaic::aten::pt2
