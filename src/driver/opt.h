// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "ir/pass.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

struct OptOptions {
  std::string input;                ///< .tir or .tosa
  std::string output;               ///< .tir, or .tosa for a module whose main graph is TOSA
  std::vector<std::string> passes;  ///< names, in order
  Target target;
  TosaVersion tosa_version;  ///< of a .tosa that is written
  PassOptions pass_options;
};

/// E0312 for a name in the options that is no pass's, with the nearest one.
Status check_pass_names(const PassOptions& options);

/// `tosaic opt`: runs passes over every graph of a text module (or of a .tosa), in which they make
/// sense, and writes the module, or gives it as text when there is no output file. E0312 for an
/// unknown pass, with the nearest name.
Expected<std::string> run_opt(const OptOptions& options);

}  // namespace tosaic
