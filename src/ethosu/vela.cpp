// SPDX-License-Identifier: Apache-2.0
#include "ethosu/vela.h"

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstring>
#include <optional>

#include "ethosu/vela_call.h"
#include "ethosu/vela_config.h"
#include "ethosu/vela_find.h"
#include "support/parallel.h"

namespace tosaic {
namespace {

constexpr size_t kMaxMessage = 500;

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

std::string_view last_line(std::string_view log) {
  log = trim(log);
  size_t end = log.rfind('\n');
  return end == std::string_view::npos ? log : trim(log.substr(end + 1));
}

Status check_tensors(const std::vector<VelaTensor>& tensors, std::string_view what,
                     uint64_t scratch_bytes) {
  for (const VelaTensor& t : tensors) {
    uint64_t num_bytes = static_cast<uint64_t>(t.element_size);
    bool good = t.element_size > 0 && t.element_size <= 8;
    for (int32_t dim : t.shape) {
      good = good && dim > 0 && num_bytes <= scratch_bytes / static_cast<uint64_t>(dim);
      if (good) num_bytes *= static_cast<uint64_t>(dim);
    }
    if (!good || t.address > scratch_bytes - num_bytes) {
      return error(Code::kVelaOutput,
                   "Vela reports an {} of shape [{}] with elements of {} bytes at {}, which is not "
                   "within the "
                   "scratch buffer of {} bytes",
                   what, fmt::join(t.shape, ","), t.element_size, t.address, scratch_bytes);
    }
  }
  return ok();
}

}  // namespace

std::string one_line(std::string_view message) {
  std::string out;
  while (!message.empty()) {
    size_t end = message.find('\n');
    std::string_view line = trim(message.substr(0, end));
    message.remove_prefix(end == std::string_view::npos ? message.size() : end + 1);
    bool item = line.starts_with("- ");
    if (item) line = trim(line.substr(2));
    if (line.empty()) continue;
    if (!out.empty()) out += item && !out.ends_with(':') ? "; " : " ";
    out += line;
  }
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < 0x20) c = ' ';
  }
  if (out.size() > kMaxMessage) out = out.substr(0, kMaxMessage) + " …";
  constexpr std::string_view kPrefix = "Compilation failed: ";
  if (out.starts_with(kPrefix)) out.erase(0, kPrefix.size());
  return out;
}

Diagnostic out_of_memory(const VelaOptions& options) {
  return error(Code::kVelaCrash, "Vela needs more than its limit of {} MB of memory",
               options.memory_limit >> 20);
}

/// A signal that a program gets for a fault of its own.
bool is_crash(int signal) {
  return signal == SIGSEGV || signal == SIGABRT || signal == SIGFPE || signal == SIGILL ||
         signal == SIGBUS;
}

Diagnostic child_failed(const ChildEnd& end, const VelaOptions& options, std::string_view log) {
  if (end.timed_out) {
    return error(Code::kVelaTimeout, "Vela did not end within {} s and was stopped",
                 options.timeout_seconds)
        .with_hint("raise --vela-timeout");
  }
  if (log.find("MemoryError") != std::string_view::npos ||
      log.find("bad_alloc") != std::string_view::npos) {
    return out_of_memory(options);
  }
  Diagnostic d;
  if (end.signal != 0) {
    const char* name = sigabbrev_np(end.signal);
    d = error(is_crash(end.signal) ? Code::kVelaSignal : Code::kVelaCrash,
              "Vela was ended by signal {} (SIG{})", end.signal, name == nullptr ? "?" : name);
  } else {
    d = error(Code::kVelaCrash, "Vela ended with status {} and without a result", end.exit_code);
  }
  if (std::string line = one_line(last_line(log)); !line.empty())
    d.notes.push_back("its last words: " + line);
  return d;
}

Status check_vela_result(const VelaResult& result) {
  if (result.command_stream.size() < 4 ||
      std::memcmp(result.command_stream.data(), "COP1", 4) != 0) {
    return error(Code::kVelaOutput, "Vela's command stream does not begin with 'COP1'");
  }
  if (result.outputs.empty()) return error(Code::kVelaOutput, "Vela reports no output");
  if (result.scratch_bytes > UINT32_MAX || result.command_stream.size() > UINT32_MAX ||
      result.read_only.size() > UINT32_MAX) {
    return error(Code::kVelaOutput, "Vela reports a buffer of more than 4 GB");
  }
  TOSAIC_CHECK_OK(check_tensors(result.inputs, "input", result.scratch_bytes));
  return check_tensors(result.outputs, "output", result.scratch_bytes);
}

Expected<VelaResult> run_vela(std::span<const std::byte> tosa, const VelaOptions& options) {
  TOSAIC_CHECK_OK(parse_accelerator(options.accelerator));
  // Flags are the command's: the binding has no parser for them.
  bool binding = options.method != VelaMethod::kCommand && options.extra_flags.empty();
  bool command = options.method != VelaMethod::kBinding;
  if (!binding && !command) {
    return error(Code::kOption,
                 "--vela-flags are for the vela command, not for its Python binding");
  }
  std::vector<std::string> notes;
  auto unusable = [&notes](const VelaCandidate& candidate, const Diagnostic& why) {
    notes.push_back(fmt::format("{}: {}", candidate.origin, why.message));
  };
  for (const VelaCandidate& candidate : find_vela(options)) {
    if (candidate.interpreter.empty() && candidate.command.empty()) {
      notes.push_back(
          fmt::format("{}: no bin/python and no bin/vela in that folder", candidate.origin));
    }
    if (binding && !candidate.interpreter.empty()) {
      auto result = call_vela_binding(tosa, options, candidate.interpreter);
      if (result || result.error().code != Code::kVelaMissing) return result;
      unusable(candidate, result.error());
    }
    if (command && !candidate.command.empty()) {
      auto result = call_vela_command(tosa, options, candidate.command);
      if (result || result.error().code != Code::kVelaMissing) return result;
      unusable(candidate, result.error());
    }
  }
  Diagnostic d = error(Code::kVelaMissing, "Vela, Arm's compiler for Ethos-U, cannot be found");
  d.notes = std::move(notes);
  d.hint =
      "install the Python package ethos-u-vela, or name an interpreter that has it with --vela";
  return d;
}

std::vector<Expected<VelaResult>> run_vela_on_each(std::span<const std::vector<std::byte>> graphs,
                                                   const VelaOptions& options) {
  std::vector<std::optional<Expected<VelaResult>>> slots(graphs.size());
  std::atomic<size_t> failed = graphs.size();
  parallel_for(graphs.size(), [&](size_t, size_t i) {
    if (i > failed) return;
    slots[i] = run_vela(graphs[i], options);
    if (!*slots[i]) failed = std::min(i, failed.load());
  });
  std::vector<Expected<VelaResult>> results;
  for (std::optional<Expected<VelaResult>>& slot : slots) {
    if (!slot) break;
    results.push_back(*std::move(slot));
    if (!results.back()) break;
  }
  return results;
}

}  // namespace tosaic
