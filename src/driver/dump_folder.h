// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/expected.h"

namespace tosaic {

/// Makes the folder of `--dump`, and takes away what an earlier run left in it: files named as we
/// name ours (NN_PASS.tir, partN.tosa, partN.payload, main.tosa). Others stay.
Status prepare_dump_folder(const std::string& path);

}  // namespace tosaic
