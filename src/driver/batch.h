// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "driver/compile.h"
#include "support/expected.h"

namespace tosaic {

// Many programs in one process. `path` is a JSON list of objects; the answer is a JSON list in the
// same order. A program that fails does not end the work: its object is {"ok": false, "code",
// "message"}. A list that cannot be read does.

/// `tosaic run --batch`: members program, input and output as of RunOptions; a program without
/// input is only read and verified. Gives {"ok": true, "warning": text or null}.
Expected<std::string> run_batch(const std::string& path);

/// `tosaic explain --batch`: member program, a .pt2 or .tosa; everything else is that of `options`.
/// Gives {"ok": true, "reasons": [{"op", "code", "message"}, …]} with the nodes that the target
/// does not take.
Expected<std::string> explain_batch(const std::string& path, const CompileOptions& options);

}  // namespace tosaic
