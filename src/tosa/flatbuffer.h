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

struct WriteOptions {
  /// Writes the place of each node ("net.py:41/Net.stem") as the operator's location. Off, so that
  /// the bytes do not depend on where the program was exported.
  bool locations = false;
  /// When set, gets the number of constants' operators, which stand in front of those of the nodes.
  size_t* num_constant_operators = nullptr;
};

/// Writes a verified TOSA graph as a .tosa file of `version` (0.80, 1.0 or 1.1; 1.1 is marked as a
/// draft, since its specification is one): one region, one block. Names of inputs and outputs are
/// those of the graph's values (made unique). Constant data is 16-byte aligned and read from where
/// it lies, materialised straight into the buffer. Equal constants are written once. An output that
/// is an input, a constant or an earlier output gets an IDENTITY, since the format needs a tensor
/// of its own there. The bytes depend on nothing but the graph. An operation, type or attribute
/// that the version lacks is an error that names it (E0304).
Expected<std::vector<std::byte>> write_flatbuffer(const Graph& graph, const TosaVersion& version,
                                                  const WriteOptions& options = {});

/// Reads a .tosa file into a module whose graph "main" has dialect tosa. Every count, name, size
/// and enumeration is checked (E0205, E0307); the graph is verified. `owner` keeps `bytes` alive:
/// the constants are views into them. Inputs and outputs keep their names. Operators may stand in
/// any order. Files of 0.80, 1.0 and 1.1 are read, drafts too; the graph is one of 1.0, whatever
/// the file's version, which `version` gets when it is set.
Expected<std::unique_ptr<Module>> read_flatbuffer(std::span<const std::byte> bytes,
                                                  std::shared_ptr<const void> owner,
                                                  const std::string& file_name,
                                                  TosaVersion* version = nullptr);

}  // namespace tosaic::tosa
