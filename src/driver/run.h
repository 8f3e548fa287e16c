// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/compile.h"
#include "support/expected.h"

namespace tosaic {

struct RunOptions {
  std::string program;  ///< .tosa or .pt2
  std::string input;    ///< .npz: arrays by input name, or in the program's order when unnamed
  std::string output;   ///< .npz to write, arrays by output name
  /// How a .pt2 is lowered (lower_for_host); of `io` only the dtype counts. For a .tosa all must be
  /// as it is by default.
  CompileOptions compile = {};
};

/// `tosaic run`: executes a .tosa, or the TOSA of a .pt2, by the scalar reference. Arrays may have
/// a first axis more than the input: then they are samples, all inputs have as many, and outputs
/// get that axis too. A .pt2 takes and gives the dtypes of the user's program, which are quantised
/// and dequantised as PyTorch does it; with an integer `compile.io.dtype`, the codes. Errors: E0310
/// when an array is missing, of another dtype or shape; those of lower_for_host. Returns warnings:
/// those of the lowering, and E0311 for a result that the specification leaves open, with the node.
/// `summary` receives a line per output: its shape and the range of its numbers. Without an output
/// file none is written.
Expected<std::vector<Diagnostic>> run_program(const RunOptions& options,
                                              std::string* summary = nullptr);

}  // namespace tosaic
