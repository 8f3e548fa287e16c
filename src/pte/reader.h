// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>

#include "pte/program.h"
#include "support/expected.h"

namespace tosaic {

/// Reads and checks a .pte file, of tosaic or of ExecuTorch's exporter. Constants and payloads are
/// spans into `bytes`, which must be 16-byte aligned in memory (a mapped file is). Nothing in the
/// file is trusted; what is allocated is proportional to the file. Errors: kFileKind (no .pte),
/// kFlatbuffer (damaged), kUnsupportedFeature.
Expected<PteProgram> read_pte(std::span<const std::byte> bytes);

}  // namespace tosaic
