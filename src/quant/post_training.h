// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "ir/graph.h"
#include "quant/apply_params.h"
#include "quant/choose_params.h"
#include "quant/observe.h"
#include "support/expected.h"
#include "tosa/spec.h"

namespace tosaic {

/// Flags of our own post-training quantisation.
struct CalibrationOptions {
  std::string path;   ///< .npz file, or folder of such files; empty: none
  int64_t limit = 0;  ///< most samples to use; 0: all
  Observer observer = Observer::kMinMax;
  Precision precision = Precision::kInt8;
};

struct QuantisationResult {
  FloatNodes float_nodes;  ///< with the reason of their quantised form
  int64_t num_samples = 0;
  /// Of the outputs, against float, over the first few samples; nothing when it cannot be told.
  std::optional<double> sqnr_db;
  int64_t num_infinite = 0;  ///< as in Sqnr
};

/// Quantises a float program for `target` (DESIGN §6, docs/quantisation.md): runs it on samples,
/// chooses parameters, and gives them to the nodes that the target takes. Warnings W0003, W0004,
/// W0007, W0008 and W0009 go to `diagnostics`.
Expected<QuantisationResult> quantise_program(Graph& graph, const CalibrationOptions& options,
                                              const Target& target, DiagnosticSink& diagnostics,
                                              const Progress& progress = {});

}  // namespace tosaic
