// SPDX-License-Identifier: Apache-2.0
#include "driver/command.h"

#include "support/shell_word.h"

namespace tosaic {
namespace {

std::string calibration_flags(const CalibrationOptions& o) {
  std::string flags = " --calibrate " + shell_word(o.path);
  if (o.limit != 0) flags += fmt::format(" --calibrate-limit {}", o.limit);
  if (o.observer != CalibrationOptions().observer) {
    flags += fmt::format(" --observer {}", observer_name(o.observer));
  }
  if (o.precision == Precision::kInt16x8) flags += " --precision int16x8";
  return flags;
}

/// A name that begins with a dash would be read as a flag.
std::string file_word(const std::string& path) {
  return shell_word(path.starts_with('-') ? "./" + path : path);
}

}  // namespace

std::string explain_command(const CompileOptions& options, std::string_view node) {
  std::string command = fmt::format("{} explain {} --target {}", shell_word(options.tool),
                                    file_word(options.input), shell_word(options.target.name));
  if (!options.model.empty()) command += " --model-name=" + shell_word(options.model);
  for (const aten::InputSizes& s : options.sizes) {
    command += " --shape=" + shell_word(fmt::format("{}={}", s.input, fmt::join(s.sizes, ",")));
  }
  if (!options.calibration.path.empty()) command += calibration_flags(options.calibration);
  if (!node.empty()) command += " --node=" + shell_word(node);
  return command;
}

}  // namespace tosaic
