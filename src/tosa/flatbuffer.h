// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic::tosa {

/// Writes a verified TOSA graph as a .tosa file of `version` (1.0.x today; draft flag off): one region,
/// one block. Names of inputs and outputs are those of the graph's values (made unique). Constant data
/// is 16-byte aligned and read from where it lies, materialised straight into the buffer. The bytes
/// depend on nothing but the graph. An operation or type the version lacks is an error that names it.
Expected<std::vector<std::byte>> write_flatbuffer(const Graph& graph, const TosaVersion& version);

/// Reads a .tosa file into a module whose graph "main" has dialect tosa. Every count, name, size and
/// enumeration is checked (E0205, E0307); the graph is verified. `owner` keeps `bytes` alive.
Expected<std::unique_ptr<Module>> read_flatbuffer(std::span<const std::byte> bytes,
                                                  std::shared_ptr<const void> owner,
                                                  const std::string& file_name);

}  // namespace tosaic::tosa
