// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/expected.h"

namespace tosaic {

/// `tosaic inspect`: what a .pt2, .tosa, .pte, .npz or .npy holds, readable or as JSON.
Expected<std::string> inspect(const std::string& path, bool json);

}  // namespace tosaic
