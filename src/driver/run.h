// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "support/expected.h"

namespace tosaic {

struct RunOptions {
  std::string program;  ///< .tosa
  std::string input;    ///< .npz: arrays by input name, or in the program's order when unnamed
  std::string output;   ///< .npz to write, arrays by output name
};

/// `tosaic run`: executes a .tosa by the scalar reference. Arrays may have a first axis more than
/// the input: then they are samples, all inputs have as many, and outputs get that axis too.
/// Errors: E0310 when an array is missing, of another dtype or shape. A result that the
/// specification leaves open gives the returned text, which names the node. `summary` receives a
/// line per output: its shape and the range of its numbers. Without an output file none is written.
Expected<std::string> run_program(const RunOptions& options, std::string* summary = nullptr);

}  // namespace tosaic
