// SPDX-License-Identifier: Apache-2.0
// Calls the `vela` command, which reads and writes files: they lie in a folder that is always
// removed.
#include <algorithm>
#include <charconv>
#include <filesystem>

#include "ethosu/temporary_folder.h"
#include "ethosu/vela_call.h"
#include "ethosu/vela_config.h"
#include "ethosu/vela_npz.h"
#include "support/output_file.h"

namespace tosaic {
namespace {

namespace fs = std::filesystem;

/// The Arm/vela.ini that belongs to a command PREFIX/bin/vela; empty when it is somewhere else, and
/// Vela then reads it itself.
std::string default_ini(const std::vector<std::string>& command) {
  std::error_code ec;
  fs::path lib = fs::path(command[0]).parent_path().parent_path() / "lib";
  for (fs::directory_iterator it(lib, ec), end; !ec && it != end; it.increment(ec)) {
    fs::path ini = it->path() / "site-packages/ethosu/config_files/Arm/vela.ini";
    if (it->path().filename().string().starts_with("python") && fs::is_regular_file(ini, ec))
      return ini;
  }
  return {};
}

/// The configuration flags. With a file that we can read, Vela gets what the binding would get.
Expected<std::vector<std::string>> config_flags(const VelaOptions& options,
                                                const std::vector<std::string>& command,
                                                const std::string& folder) {
  std::string file = options.config_file.empty() ? default_ini(command) : options.config_file;
  if (file.empty()) {
    TOSAIC_TRY(VelaAccelerator a, parse_accelerator(options.accelerator));
    std::vector<std::string> flags = {
        "--config",
        "Arm/vela.ini",
        "--system-config",
        options.system_config.empty() ? std::string(a.default_system_config)
                                      : options.system_config,
        "--memory-mode",
        options.memory_mode.empty() ? std::string(a.default_memory_mode) : options.memory_mode};
    if (options.arena_cache_size != 0) {
      flags.insert(flags.end(), {"--arena-cache-size", std::to_string(options.arena_cache_size)});
    }
    return flags;
  }
  TOSAIC_TRY(std::string text, read_text_file(file));
  TOSAIC_TRY(VelaConfig config, resolve_vela_config(text, file, options));
  std::string written = folder + "/config.ini";
  TOSAIC_CHECK_OK(write_file(written, config.ini));
  return std::vector<std::string>{"--config",           written,
                                  "--system-config",    config.system_config,
                                  "--memory-mode",      config.memory_mode,
                                  "--arena-cache-size", std::to_string(config.arena_cache_size)};
}

/// What Vela wanted to say: the last exception of a Python traceback, or the message of its option
/// parser. Empty when the log holds neither.
std::string python_error(std::string_view log) {
  size_t begin = std::string_view::npos;
  size_t message = 0;
  for (size_t line = 0; line < log.size();) {
    size_t end = std::min(log.find('\n', line), log.size());
    std::string_view text = log.substr(line, end - line);
    size_t colon = text.find(": ");
    std::string_view head = text.substr(0, colon);
    bool is_exception = head.ends_with("Error") || head.ends_with("Exception");
    if (colon != std::string_view::npos && head.find(' ') == std::string_view::npos &&
        is_exception) {
      begin = line;
      message = line + colon + 2;
    }
    if (size_t at = text.find(": error: "); at != std::string_view::npos) {
      begin = line;
      message = line + at + 9;
    }
    line = end + 1;
  }
  return begin == std::string_view::npos ? std::string() : one_line(log.substr(message));
}

Diagnostic command_failed(const ChildEnd& end, const VelaOptions& options,
                          const std::string& program, std::string_view log) {
  if (end.timed_out || end.signal != 0 || log.find("MemoryError") != std::string_view::npos) {
    return child_failed(end, options, log);
  }
  if (log.find("No module named") != std::string_view::npos) {
    return error(Code::kVelaMissing, "'{}' cannot start Vela: {}", program, python_error(log));
  }
  const std::string message = python_error(log);
  // A full disk says nothing of the program: the partition must not be searched for its cause.
  if (message.starts_with("[Errno ")) {
    return error(Code::kVelaCrash, "'{}' failed: {}", program, message)
        .with_hint("its files lie below $TMPDIR, else /tmp");
  }
  if (!message.empty()) {
    return error(Code::kVelaRefused, "Vela refuses the program for {}: {}", options.accelerator,
                 message);
  }
  return child_failed(end, options, log);
}

}  // namespace

Expected<VelaResult> call_vela_command(std::span<const std::byte> tosa, const VelaOptions& options,
                                       const std::vector<std::string>& command) {
  TOSAIC_TRY(auto folder, TemporaryFolder::make());
  const std::string network = folder->path() + "/network.tosa";
  TOSAIC_CHECK_OK(write_file(network, tosa));
  TOSAIC_TRY(std::vector<std::string> config, config_flags(options, command, folder->path()));
  ChildCommand run;
  run.argv = command;
  // Numpy's OpenBLAS reserves memory for each core, and tries for ever where that is limited.
  run.environment = {"OPENBLAS_NUM_THREADS=1"};
  run.timeout_seconds = options.timeout_seconds;
  run.memory_limit = options.memory_limit;
  run.keep_log_only = true;
  run.argv.insert(run.argv.end(),
                  {network, "--output-dir", folder->path(), "--output-format", "raw",
                   "--accelerator-config", options.accelerator, "--optimise",
                   options.optimise == VelaOptimise::kSize ? "Size" : "Performance"});
  run.argv.insert(run.argv.end(), config.begin(), config.end());
  run.argv.insert(run.argv.end(), options.extra_flags.begin(), options.extra_flags.end());
  TOSAIC_TRY(auto child, ChildProcess::start(run));
  ChildEnd end = child->wait();
  if (end.timed_out || end.exit_code != 0) {
    return command_failed(end, options, command[0], child->log());
  }
  const std::string output = folder->path() + "/network_vela.npz";
  std::error_code ec;
  if (!fs::is_regular_file(output, ec)) {
    return error(Code::kVelaOutput, "'{}' ended well but wrote no result", command[0])
        .with_hint("is this the vela command of ethos-u-vela?");
  }
  // A damaged archive is Vela's fault: its path in our temporary folder would tell the user
  // nothing.
  Expected<VelaResult> result = read_vela_npz(output);
  if (!result) {
    return error(Code::kVelaOutput, "Vela's result file cannot be used: {}",
                 result.error().message);
  }
  result->called = command[0];
  TOSAIC_CHECK_OK(check_vela_result(*result));
  return result;
}

}  // namespace tosaic
