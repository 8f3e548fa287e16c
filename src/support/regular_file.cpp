// SPDX-License-Identifier: Apache-2.0
#include "support/regular_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>

namespace tosaic {
namespace {

std::string_view kind_name(mode_t mode) {
  if (S_ISDIR(mode)) return "a directory";
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  return "a device";
}

}  // namespace

FileDescriptor::~FileDescriptor() {
  if (number_ >= 0) ::close(number_);
}

bool FileDescriptor::close() {
  return ::close(std::exchange(number_, -1)) == 0;
}

std::string system_message(int error_number) {
  return std::generic_category().message(error_number);
}

Expected<RegularFile> open_regular_file(const std::string& path) {
  if (path.find('\0') != std::string::npos) {
    return error(Code::kFileOpen, "cannot open a file whose name holds a NUL byte").at({path});
  }
  struct stat status = {};
  // Looked at before it is opened: opening a FIFO or a device can have effects of its own.
  if (::stat(path.c_str(), &status) != 0) {
    return error(Code::kFileOpen, "cannot open the file: {}", system_message(errno)).at({path});
  }
  RegularFile file;
  if (S_ISREG(status.st_mode)) {
    file.descriptor = FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.descriptor.number() < 0 || ::fstat(file.descriptor.number(), &status) != 0) {
      return error(Code::kFileOpen, "cannot open the file: {}", system_message(errno)).at({path});
    }
  }
  if (!S_ISREG(status.st_mode)) {
    return error(Code::kFileKind, "this is {}, and a regular file is needed",
                 kind_name(status.st_mode))
        .at({path});
  }
  file.num_bytes = static_cast<uint64_t>(status.st_size);
  return file;
}

}  // namespace tosaic
