// SPDX-License-Identifier: Apache-2.0
#pragma once

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

/// Unlinks every file named by a live TemporaryName. Async-signal-safe.
void remove_temporary_files();

}  // namespace tosaic
