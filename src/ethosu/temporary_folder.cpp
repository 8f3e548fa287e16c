// SPDX-License-Identifier: Apache-2.0
#include "ethosu/temporary_folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>

#include "support/output_file.h"

namespace tosaic {
namespace {

/// Runs in the remover, between fork and exec: only async-signal-safe calls.
[[noreturn]] void remove_when_closed(int alive, int ours, const char* path) {
  setsid();  // Ctrl-C in the terminal is not for this process
  close(ours);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  // Streams of the caller must not stay open because of this process.
  int null = open("/dev/null", O_RDWR);
  for (int fd : {0, 1, 2})
    dup2(null, fd);
  // Another thread's folder: with its end of the pipe open here, that remover would never end.
  close_range(static_cast<unsigned>(alive) + 1, ~0u, 0);
  if (alive > 3) close_range(3, static_cast<unsigned>(alive) - 1, 0);
  char byte;
  while (true) {
    ssize_t got = read(alive, &byte, 1);
    if (got == 0 || (got < 0 && errno != EINTR)) break;
  }
  execlp("rm", "rm", "-rf", "--", path, static_cast<char*>(nullptr));
  _exit(127);
}

}  // namespace

Expected<std::unique_ptr<TemporaryFolder>> TemporaryFolder::make() {
  std::string path = temporary_directory() + "/tosaic-XXXXXX";
  std::array<int, 2> ends;
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return error(Code::kFileWrite, "no pipe can be made: {}", system_message(errno));
  }
  FileDescriptor waiting(ends[0]);
  auto folder = std::unique_ptr<TemporaryFolder>(new TemporaryFolder);
  folder->alive_ = FileDescriptor(ends[1]);
  if (mkdtemp(path.data()) == nullptr) {
    return error(Code::kFileWrite, "a temporary folder '{}' cannot be made: {}", path,
                 system_message(errno));
  }
  folder->path_ = path;
  folder->remover_ = fork();
  if (folder->remover_ == 0) remove_when_closed(ends[0], ends[1], path.c_str());
  return folder;
}

TemporaryFolder::~TemporaryFolder() {
  alive_.close();
  int status = -1;
  if (remover_ > 0) {
    while (waitpid(remover_, &status, 0) < 0 && errno == EINTR) {
    }
  }
  std::error_code ec;
  if (status != 0 && !path_.empty()) std::filesystem::remove_all(path_, ec);
}

}  // namespace tosaic
