// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include "support/expected.h"

namespace tosaic {

/// An open file that is closed at the end of the scope.
class FileDescriptor {
 public:
  FileDescriptor() = default;
  explicit FileDescriptor(int number) : number_(number) {}
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~FileDescriptor();

  int number() const { return number_; }
  /// Closes now; false (and errno) when the system reports a delayed write error.
  bool close();

 private:
  int number_ = -1;
};

struct RegularFile {
  FileDescriptor descriptor;
  uint64_t num_bytes = 0;
};

/// Opens a regular file for reading. A directory, FIFO or device is an error and never blocks.
Expected<RegularFile> open_regular_file(const std::string& path);

/// The system's text for an error number.
std::string system_message(int error_number);

}  // namespace tosaic
