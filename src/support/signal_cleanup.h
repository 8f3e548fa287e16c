// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

namespace tosaic {

/// Names a temporary file that a signal handler removes while this object lives. Forgetting the
/// name (by destruction) does not remove the file.
class TemporaryName {
 public:
  explicit TemporaryName(const std::string& path);
  ~TemporaryName();
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

  struct Slot;

 private:
  Slot* slot_;
};

/// Tells the SIGBUS handler which file lies at an address, for as long as this object lives. `path`
/// must live as long.
class MappingRecord {
 public:
  MappingRecord(const void* data, size_t num_bytes, const char* path);
  ~MappingRecord();
  MappingRecord(const MappingRecord&) = delete;
  MappingRecord& operator=(const MappingRecord&) = delete;

  struct Slot;

 private:
  Slot* slot_;
};

/// A process group that is killed when a signal ends this process while this object lives. End its
/// life before the leader is reaped: afterwards the number could be someone else's.
class ProcessGroupRecord {
 public:
  explicit ProcessGroupRecord(pid_t leader);
  ~ProcessGroupRecord();
  ProcessGroupRecord(const ProcessGroupRecord&) = delete;
  ProcessGroupRecord& operator=(const ProcessGroupRecord&) = delete;

  struct Slot;

 private:
  Slot* slot_;
};

/// Unlinks every file named by a live TemporaryName. Async-signal-safe.
void remove_temporary_files();

}  // namespace tosaic
