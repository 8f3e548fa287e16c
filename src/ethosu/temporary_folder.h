// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <memory>
#include <string>

#include "support/expected.h"
#include "support/regular_file.h"

namespace tosaic {

/// A fresh folder under $TMPDIR that is removed, with what is in it, when this object dies, however
/// it dies: a small process waits for the end of this one, be it by return, Ctrl-C or SIGKILL.
class TemporaryFolder {
 public:
  /// Error kFileWrite.
  static Expected<std::unique_ptr<TemporaryFolder>> make();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  TemporaryFolder() = default;
  std::string path_;
  FileDescriptor alive_;  // its closing tells the remover to start
  pid_t remover_ = -1;
};

}  // namespace tosaic
