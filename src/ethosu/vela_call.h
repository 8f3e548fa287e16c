// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ethosu/child_process.h"
#include "ethosu/vela.h"

namespace tosaic {

/// The two ways of calling Vela. Both return kVelaMissing, and only then, when this interpreter or
/// command is none that has Vela, so that the caller can try another.
Expected<VelaResult> call_vela_binding(std::span<const std::byte> tosa, const VelaOptions& options,
                                       const std::string& interpreter);
Expected<VelaResult> call_vela_command(std::span<const std::byte> tosa, const VelaOptions& options,
                                       const std::vector<std::string>& command);

/// Vela's messages are lists over several lines: "Conv2d:\n - A\n - B" becomes "Conv2d: A; B".
std::string one_line(std::string_view message);

/// The error for a child that was ended: by our time limit, by a signal, or with a status that
/// should not be. `log` is what it wrote to stderr.
Diagnostic child_failed(const ChildEnd& end, const VelaOptions& options, std::string_view log);

/// The error for a child that ran into the memory limit.
Diagnostic out_of_memory(const VelaOptions& options);

/// Everything a payload is built from is there and consistent. Errors: kVelaOutput.
Status check_vela_result(const VelaResult& result);

}  // namespace tosaic
