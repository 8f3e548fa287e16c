// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "support/expected.h"

namespace tosaic {

class MappingRecord;

/// A file mapped read-only for as long as the object lives. Only regular files are taken (a
/// directory, FIFO or device is an error). When the file shrinks while it is mapped, the process
/// ends with one error line and status 1 instead of a crash (see install_signal_handlers).
class MappedFile {
 public:
  static Expected<std::shared_ptr<const MappedFile>> open(const std::string& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  std::span<const std::byte> bytes() const { return {data_, num_bytes_}; }
  const std::string& path() const { return path_; }

 private:
  MappedFile();
  std::string path_;
  const std::byte* data_ = nullptr;
  size_t num_bytes_ = 0;
  std::unique_ptr<MappingRecord> record_;  // for the SIGBUS handler
};

/// Turns SIGBUS (a mapped file that shrank) into one error line and exit status 1, after the
/// temporary files of OutputFile are removed. SIGINT and SIGTERM remove them too. For main().
void install_signal_handlers();

}  // namespace tosaic
