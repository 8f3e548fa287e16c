// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "pte/program.h"
#include "support/expected.h"

namespace tosaic {

/// A file as the pieces that it is made of: constants and payloads stay where they are.
struct PtePieces {
  std::vector<std::byte> head;                     ///< flatbuffer with the extended header
  std::vector<std::span<const std::byte>> pieces;  ///< all of the file, `head` first
};

/// Lays out a program whose memory is planned. The form is that of ExecuTorch's exporter: constants
/// and payloads follow the flatbuffer in segments aligned to 128 bytes, constants first; equal
/// constants, and equal payloads, are stored once. A program without any has neither segments nor
/// extended header. The bytes depend on the program alone.
/// Errors: kFlatbuffer (check_pte), kUnsupportedFeature (tensors with an initial state).
Expected<PtePieces> lay_out_pte(const PteProgram& program);

/// The whole file in memory.
Expected<std::vector<std::byte>> write_pte(const PteProgram& program);

/// Writes the file; on an error none is left behind.
Status write_pte(const PteProgram& program, const std::string& path);

}  // namespace tosaic
