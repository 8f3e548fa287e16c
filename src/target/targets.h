// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

/// The target of that name: "tosa-fp", "tosa-int", "ethos-u55-{32,64,128,256}",
/// "ethos-u65-{256,512}", "ethos-u85-{128,256,512,1024,2048}", "cpu"; dashes and underscores are
/// the same. ExecuTorch's spellings ("TOSA-1.0+INT+int16+u55") are taken too. E0105 otherwise, with
/// the nearest name and all names.
Expected<Target> find_target(std::string_view name);

/// Every name in the order above.
std::vector<std::string_view> target_names();

/// The reference on this machine, which computes integers and floats alike.
Target host_target();

}  // namespace tosaic
