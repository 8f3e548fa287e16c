// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "ethosu/vela.h"

namespace tosaic {

/// Reads the .npz that `vela --output-format raw` writes. Its byte strings ("S" arrays) and pickled
/// members are not what support/npz.h takes, so the few members that are needed are read here;
/// pickles are never looked at. Errors: kVelaOutput, kZip.
Expected<VelaResult> read_vela_npz(const std::string& path);

}  // namespace tosaic
