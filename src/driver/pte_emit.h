// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <unordered_set>
#include <vector>

#include "ir/graph.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

/// A compiled partition.
struct Delegate {
  std::string graph;               ///< name that `call` nodes use
  std::vector<std::byte> payload;  ///< vela_bin_stream
};

struct EmittedPte {
  std::vector<std::byte> bytes;
  uint64_t planned_bytes = 0;        ///< of the one arena, borders included
  std::vector<std::string> kernels;  ///< "aten::convolution.out", sorted, each once
};

/// Makes the .pte of a mixed graph: a delegate call per `call`, an ExecuTorch kernel call per other
/// node (Row::cpu), planned memory. The graph has been through prepare_cpu. The bytes depend only
/// on the arguments. Values in `nhwc` are declared as NCHW tensors whose memory is channels_last.
Expected<EmittedPte> emit_pte(const Graph& graph, const std::vector<Delegate>& delegates,
                              const Target& target, const std::unordered_set<const Value*>& nhwc);

}  // namespace tosaic
