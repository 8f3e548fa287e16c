// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "support/expected.h"

namespace tosaic {

/// How Vela is called. Both ways give the same bytes: the binding starts in 25 ms, the command in
/// 400.
enum class VelaMethod : uint8_t {
  kAuto,     ///< the binding where it can be had, else the command
  kBinding,  ///< a Python interpreter runs our script over `ethosu.regor`
  kCommand,  ///< the `vela` command writes a .npz into a temporary folder
};

enum class VelaOptimise : uint8_t { kPerformance, kSize };

struct VelaOptions {
  std::string accelerator = "ethos-u55-128";  ///< ethos-u{55,65,85}-MACS
  std::string system_config;                  ///< empty = the family's default
  std::string memory_mode;                    ///< empty = the family's default
  std::string config_file;                    ///< a vendor's .ini; empty = the Arm/vela.ini of Vela
  VelaOptimise optimise = VelaOptimise::kPerformance;
  uint64_t arena_cache_size = 0;  ///< bytes; 0 = of the memory mode, else the address space
  std::string vela_path;          ///< --vela: an interpreter, a `vela` command, or a venv
  std::vector<std::string>
      extra_flags;  ///< of the `vela` command, which is then the way to call it
  double timeout_seconds = 300;
  uint64_t memory_limit = uint64_t{8} << 30;  ///< bytes of address space; 0 = none
  VelaMethod method = VelaMethod::kAuto;
  bool enable_db = false;  ///< fill VelaResult::ops (binding only)
};

/// One input or output of a command stream.
struct VelaTensor {
  int32_t region = 0;              ///< 1 = scratch
  uint64_t address = 0;            ///< bytes from the start of the region
  uint64_t num_bytes = 0;          ///< 0 when the command was used, which does not report it
  int32_t element_size = 0;        ///< bytes
  std::array<int32_t, 6> shape{};  ///< padded with 1 in front
};

struct VelaMemoryAccess {
  std::string kind;  ///< FeatureMap, Weights, Scales, …
  uint64_t bytes_read = 0;
  uint64_t bytes_written = 0;
  uint64_t cycles = 0;
};

struct VelaMemory {
  std::string name;  ///< Sram, Dram, OffChipFlash, …
  uint64_t peak_bytes = 0;
  uint64_t access_cycles = 0;
  std::vector<VelaMemoryAccess> accesses;
};

/// Vela's estimate; all zero when the command was used.
struct VelaPerformance {
  uint64_t total_cycles = 0;
  uint64_t npu_cycles = 0;
  uint64_t cpu_cycles = 0;
  uint64_t macs = 0;
  uint64_t npu_ops = 0;
  uint64_t cpu_ops = 0;
  std::vector<VelaMemory> memories;
};

/// One operation of the command stream.
struct VelaOp {
  std::string name;        ///< name of the tensor that it writes
  std::string kind;        ///< Vela's internal operator, "Conv2D"
  int64_t source_op = -1;  ///< index of the TOSA operator in its block; -1 = not known
  uint64_t cycles = 0;
  uint64_t macs = 0;
  uint64_t staging_bytes = 0;
};

struct VelaResult {
  std::vector<std::byte> command_stream;  ///< begins with "COP1"
  std::vector<std::byte> read_only;       ///< encoded weights and scales
  uint64_t scratch_bytes = 0;
  uint64_t scratch_fast_bytes = 0;
  std::vector<VelaTensor> inputs;
  std::vector<VelaTensor> outputs;
  VelaPerformance performance;
  std::vector<VelaOp> ops;   ///< filled with VelaOptions::enable_db
  double core_clock_hz = 0;  ///< of the system configuration
  std::string version;       ///< of Vela, where known
  std::string called;        ///< interpreter or command that did the work
};

/// Compiles a serialised TOSA graph. Vela runs in a process of its own, with limits of time and
/// memory, in its own process group, and leaves no file behind.
/// Errors: kVelaMissing, kVelaConfig, kVelaRefused, kVelaTimeout, kVelaCrash, kVelaSignal,
/// kVelaOutput.
Expected<VelaResult> run_vela(std::span<const std::byte> tosa, const VelaOptions& options);

/// Compiles several graphs at the same time, as many as there are cores. Results are in the order
/// of the graphs and end with the first error, whose index is that of the graph.
std::vector<Expected<VelaResult>> run_vela_on_each(std::span<const std::vector<std::byte>> graphs,
                                                   const VelaOptions& options);

/// Whether an error of run_vela tells of the program, not of the machine: parts of it may be taken.
inline bool blames_program(const Diagnostic& d) {
  return d.code == Code::kVelaRefused || d.code == Code::kVelaSignal;
}

}  // namespace tosaic
