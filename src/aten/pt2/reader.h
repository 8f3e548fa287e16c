// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"

namespace tosaic::aten {

/// The shape that an input shall have.
struct InputSizes {
  std::string input;
  std::vector<int64_t> sizes;
};

/// Reads a .pt2 archive (torch.export.save, schema major 8) into a module: graph "main" of dialect
/// aten (facts/executorch_formats.md §2).
///
/// Parameters, buffers and lifted constants become constants, views of the mapped file. User inputs
/// become graph inputs and user outputs its outputs, in the signature's order and with its names.
/// In-place operators are made functional. An operator without a row gets a node of the operator
/// aten::unknown, which keeps its name, operands and result types, so that it can be reported.
/// `model` picks one of several programs in the archive; empty: the only one.
/// `sizes` gives inputs with symbolic sizes (dynamic_shapes) their shapes; every size that follows
/// from them becomes a number. E0306 for one that contradicts the program, its ranges or another.
Expected<std::unique_ptr<Module>> read_pt2(const std::string& path, std::string_view model = {},
                                           std::span<const InputSizes> sizes = {});

/// Everything about the archive that `inspect` shows, without reading the weights.
Expected<std::string> describe_pt2(const std::string& path, bool json);

}  // namespace tosaic::aten
