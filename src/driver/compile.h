// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aten/pt2/reader.h"
#include "driver/io.h"
#include "driver/report.h"
#include "ethosu/vela.h"
#include "ir/graph.h"
#include "ir/pass.h"
#include "numeric/quantize.h"
#include "quant/post_training.h"
#include "support/expected.h"
#include "support/log.h"
#include "tosa/spec.h"

namespace tosaic {

struct CompileOptions {
  std::string input;   ///< .pt2, or .tir
  std::string output;  ///< .tosa, .pte or .tir; the suffix decides
  std::string model;   ///< which program of an archive with several; empty: the only one
  std::vector<aten::InputSizes> sizes;  ///< of inputs with symbolic sizes
  Target target;
  TosaVersion tosa_version;
  VelaOptions vela;  ///< accelerator and defaults are filled from the target
  PassOptions passes;
  CalibrationOptions calibration;
  Progress calibration_progress;  ///< may be empty
  Log log;                        ///< may be empty
  IoOptions io;
  uint64_t sram_limit = 0;  ///< bytes; 0: none
  bool strict = false;      ///< a node left on the CPU is an error
  std::string dump_dir;     ///< TOSA and payload per partition, IR per pass; empty: none
  std::string node;         ///< explain: the only node to tell of, by the name of its first result
  std::string tool = "tosaic";  ///< how the user called us, for the commands that messages show
};

/// `tosaic compile`: reads, quantises (folds), partitions, lowers, calls Vela, writes the output
/// and the dump. A broken invariant anywhere inside becomes the error E0001 with a reproducing
/// .tir.
Expected<CompileReport> compile(const CompileOptions& options);

/// An input or output of a program that runs on this machine.
struct HostBorder {
  DType dtype = DType::kUnknown;  ///< in the user's program
  /// Of its codes, where the program has float32 and the TOSA graph integers.
  std::optional<numeric::AffineParams> codes;
};

/// A program of the user as `tosaic run` executes it.
struct HostProgram {
  std::unique_ptr<Module> module;  ///< @main is TOSA
  std::vector<HostBorder> inputs;  ///< of @main, in order
  std::vector<HostBorder> outputs;
  std::vector<Diagnostic> diagnostics;  ///< warnings
};

/// The whole program as one TOSA graph, by the rows of the target; without a name of a target by
/// those of tosa-int when it is quantised, is to be (`calibration`) or has no float, else of
/// tosa-fp. Errors: those of `compile` with `strict`, also for programs that Ethos-U would share
/// with the CPU.
Expected<HostProgram> lower_for_host(const CompileOptions& options);

/// `tosaic explain`: where each node would run, and why. Takes a .pt2, a .tosa whose operations are
/// checked against the target's rows one by one, or text IR of either. Writes nothing.
Expected<CompileReport> explain(const CompileOptions& options);

}  // namespace tosaic
