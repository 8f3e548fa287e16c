// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ethosu/vela.h"
#include "ir/graph.h"
#include "support/diagnostic.h"

namespace tosaic {

/// One input or output of the compiled program.
struct IoReport {
  std::string name;
  std::vector<int64_t> shape;
  std::string dtype;
  std::optional<double> scale;
  std::optional<int64_t> zero_point;
  std::string layout = "contiguous";
};

/// One node of the user's program.
struct NodeReport {
  std::string name;  ///< of its first result, "conv2d_1"
  std::string op;    ///< "aten.conv2d.default"
  std::string type;  ///< of its first result
  Location where;
  std::string device;            ///< "npu", "cpu", "tosa" for targets without an NPU, "none"
  std::string delegate;          ///< "part0"; empty on the CPU
  std::optional<Reject> reason;  ///< why it is on the CPU
  std::string command;           ///< that shows this reason alone; empty without a reason
};

/// What Vela estimates for one module of the user's program (or one line, outside of modules).
struct LayerReport {
  Location where;
  std::vector<std::string> kinds{};  ///< of Vela's operations, "Conv2D"
  size_t num_ops = 0;                ///< on the NPU
  uint64_t cycles = 0;
  uint64_t macs = 0;
  uint64_t sram_bytes = 0;  ///< in use while its costliest operation runs
};

/// Operations that only bring elements into another order.
struct LayoutCopies {
  size_t num_ops = 0;
  uint64_t cycles = 0;
};

/// One partition.
struct DelegateReport {
  std::string name;
  size_t num_nodes = 0;  ///< of the user's program
  size_t num_tosa_ops = 0;
  size_t tosa_bytes = 0;
  uint64_t command_bytes = 0;
  uint64_t weight_bytes = 0;
  uint64_t scratch_bytes = 0;
  VelaPerformance performance;  ///< Vela's estimate
  std::string vela_version;
  std::vector<LayerReport> layers;  ///< in order of execution; empty where Vela gives no list
  LayoutCopies layout_copies;
  std::optional<size_t> peak_layer;  ///< of `layers`: the one that needs most SRAM
  double seconds = 0;                ///< of one inference by Vela's estimate; 0: not known
};

struct StageTime {
  std::string name;
  double seconds = 0;
};

/// Everything a user is told about a compilation.
struct CompileReport {
  std::string target;
  std::string output;
  std::string header;     ///< the C header of --io-dtype; empty: none
  std::string only_node;  ///< explain: the one that was asked for; empty: all
  std::vector<IoReport> inputs;
  std::vector<IoReport> outputs;
  std::vector<NodeReport> nodes;
  std::vector<DelegateReport> delegates;
  std::vector<Diagnostic> diagnostics;  ///< warnings and remarks
  std::vector<StageTime> times;
  std::vector<StageTime> pass_times;  ///< filled with --time-passes
  std::vector<std::string> kernels;   ///< ExecuTorch kernels that the program calls, sorted
  int64_t num_samples = 0;            ///< that our own quantisation used; 0: none
  /// Of the quantised program against float over the first of these; nothing when not measured.
  std::optional<double> sqnr_db;
  int64_t num_infinite = 0;  ///< values that `sqnr_db` cannot count: infinite in one of both only
  uint64_t output_bytes = 0;
  uint64_t planned_bytes = 0;  ///< memory for values outside the delegates
  uint64_t sram_bytes = 0;     ///< that, and the greatest scratch of a delegate
  uint64_t sram_limit = 0;     ///< of --sram-limit; 0: none
};

/// For people: a table of delegates, what is on the CPU and why, inputs and outputs, times.
std::string to_text(const CompileReport& report, bool color);
/// `explain`: every node that is not on the target, in the form of STYLE "Errors", then a summary.
std::string explain_text(const CompileReport& report, bool color);
/// For programs; the fields are documented in docs/report.md.
std::string to_json(const CompileReport& report);

}  // namespace tosaic
