// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "driver/compile.h"

namespace tosaic {

/// The command line that explains the program of `options` again, with all that decides where nodes
/// run; only the node called `node` when there is such a name. To be copied into a shell.
std::string explain_command(const CompileOptions& options, std::string_view node = {});

}  // namespace tosaic
