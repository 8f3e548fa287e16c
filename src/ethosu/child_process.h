// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/expected.h"
#include "support/regular_file.h"
#include "support/signal_cleanup.h"

namespace tosaic {

struct ChildCommand {
  std::vector<std::string> argv;  ///< argv[0] is a path, or a name that is looked up on the PATH
  std::vector<std::string> environment;  ///< "NAME=value", in front of our own environment
  double timeout_seconds = 300;          ///< of wall-clock time, from the start
  uint64_t memory_limit = 0;             ///< bytes of address space; 0 = none
  bool keep_log_only = false;  ///< stdout goes to the log; else it is what exchange() reads
};

/// How a child process ended.
struct ChildEnd {
  bool timed_out = false;  ///< killed by us at the limit
  int exit_code = -1;      ///< -1 when it was ended by a signal
  int signal = 0;
};

/// A child process in its own process group. It dies with us; its whole group is killed at the time
/// limit, by the destructor, and when a signal that we can handle ends us. It cannot dump core.
class ChildProcess {
 public:
  /// Error kVelaMissing when the program cannot be run at all.
  static Expected<std::unique_ptr<ChildProcess>> start(const ChildCommand& command);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Sends `request`, and receives until `response` is full. False when the child closed its end or
  /// ran out of time first.
  bool exchange(std::span<const std::byte> request, std::span<std::byte> response);
  /// Closes our ends and waits; kills the group at the time limit.
  ChildEnd wait();
  /// The last 64 KB of stderr.
  std::string_view log() const { return log_; }

 private:
  ChildProcess() = default;
  bool poll_once(std::span<const std::byte>& request, std::span<std::byte>& response);
  void read_log();
  int remaining_ms() const;
  void kill_group();
  bool reap(bool block);

  pid_t pid_ = -1;
  std::optional<ProcessGroupRecord> group_;  // a signal that ends us ends the group
  FileDescriptor in_;                        // our end of the child's stdin, a socket
  FileDescriptor out_;                       // of its stdout; none when that goes to the log
  FileDescriptor err_;
  std::chrono::steady_clock::time_point deadline_;
  std::string log_;
  bool reaped_ = false;
  ChildEnd end_;
};

}  // namespace tosaic
