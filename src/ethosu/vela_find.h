// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ethosu/vela.h"

namespace tosaic {

/// A way to reach Vela that is worth a try.
struct VelaCandidate {
  std::string origin;       ///< "--vela", "$TOSAIC_VELA", "the project's environment", "PATH"
  std::string interpreter;  ///< Python for the binding; empty = none
  std::vector<std::string> command;  ///< argv prefix of the command; empty = none
};

/// Where Vela is looked for, best first: `options.vela_path`, $TOSAIC_VELA, a .venv in the
/// executable's folder or one above it, then `python3` and `vela` on the PATH. The first two, when
/// set, are the only candidate: what the user names is not replaced by something else.
std::vector<VelaCandidate> find_vela(const VelaOptions& options);

}  // namespace tosaic
