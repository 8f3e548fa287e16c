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
/// specification leaves open gives the returned text, which names the node.
Expected<std::string> run_program(const RunOptions& options);

/// `tosaic run --batch`: many programs in one process. `path` is a JSON list of objects with the
/// members program, input and output; one without input is only read and verified. Gives a JSON
/// list in the same order: {"ok": true, "warning": text or null} or {"ok": false, "code",
/// "message"}. A program that fails does not end the work; a list that cannot be read does.
Expected<std::string> run_batch(const std::string& path);

}  // namespace tosaic
