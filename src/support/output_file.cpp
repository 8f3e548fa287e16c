// SPDX-License-Identifier: Apache-2.0
#include "support/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>

#include "support/regular_file.h"
#include "support/signal_cleanup.h"

namespace tosaic {
namespace {

Diagnostic write_error(const std::string& path, std::string_view what, int error_number) {
  return error(Code::kFileWrite, "cannot {}: {}", what, system_message(error_number)).at({path});
}

// Returns 0 or an error number.
int write_all(int descriptor, std::span<const std::byte> content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    content = content.subspan(static_cast<size_t>(written));
  }
  return 0;
}

int write_pieces(FileDescriptor& file, std::span<const std::span<const std::byte>> pieces) {
  for (const auto piece : pieces) {
    if (const int failed = write_all(file.number(), piece); failed != 0) return failed;
  }
  // Quotas and network file systems may report a full disk only here.
  return file.close() ? 0 : errno;
}

// A new name in the same folder, since rename() does not cross file systems.
std::string temporary_name_beside(const std::string& path) {
  static std::atomic<uint32_t> counter{0};
  const size_t slash = path.rfind('/');
  const std::string folder = slash == std::string::npos ? "" : path.substr(0, slash + 1);
  // Process numbers repeat between containers that share a folder; random numbers do not.
  return fmt::format("{}.tosaic-{}-{}-{:08x}.tmp", folder, ::getpid(), ++counter,
                     std::random_device{}());
}

// The file that a symbolic link points to, so that the link stays a link.
std::string through_link(const std::string& path) {
  struct stat status = {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);
  return result;
}

// FIFOs, terminals and /dev/null are written in place: a rename would replace the device.
Status write_device(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (file.number() < 0) return write_error(path, "open for writing", errno);
  if (const int failed = write_pieces(file, pieces); failed != 0) {
    return write_error(path, "write", failed);
  }
  return ok();
}

Status replace_file(const std::string& path, std::optional<mode_t> old_mode,
                    std::span<const std::span<const std::byte>> pieces) {
  const std::string temporary = temporary_name_beside(path);
  // Registered before it exists, so that no moment is left in which a signal would forget it.
  const TemporaryName registered(temporary);
  FileDescriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666));
  if (file.number() < 0) return write_error(path, "create a file in this folder", errno);
  int failed = 0;
  if (old_mode && ::fchmod(file.number(), *old_mode) != 0) failed = errno;
  if (failed == 0) failed = write_pieces(file, pieces);
  if (failed == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    ::unlink(temporary.c_str());
    return write_error(path, "write", failed);
  }
  return ok();
}

}  // namespace

Status write_file(const std::string& path, std::span<const std::span<const std::byte>> pieces) {
  if (path.empty() || path.find('\0') != std::string::npos) {
    return error(Code::kFileWrite, "cannot write to a file name that is empty or holds a NUL byte")
        .at({path});
  }
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0) return replace_file(through_link(path), {}, pieces);
  if (S_ISCHR(status.st_mode) || S_ISFIFO(status.st_mode)) return write_device(path, pieces);
  if (S_ISDIR(status.st_mode)) return write_error(path, "write", EISDIR);
  if (!S_ISREG(status.st_mode)) {
    return error(Code::kFileWrite, "cannot write to a socket or a block device").at({path});
  }
  // rename() would also replace a file that its owner has made read-only.
  if (::access(path.c_str(), W_OK) != 0) return write_error(path, "write", errno);
  return replace_file(through_link(path), status.st_mode & 0777, pieces);
}

Status write_file(const std::string& path, std::span<const std::byte> content) {
  return write_file(path, std::span<const std::span<const std::byte>>(&content, 1));
}

Status write_file(const std::string& path, std::string_view text) {
  return write_file(path, std::as_bytes(std::span<const char>(text.data(), text.size())));
}

Status refuse_overwriting(std::string_view flag, const std::string& path, const std::string& read) {
  std::error_code none;
  if (!std::filesystem::equivalent(path, read, none)) return ok();
  return error(Code::kOption, "{} {}: it would overwrite {}, which is read", flag, path, read);
}

Status check_folder_of(const std::string& path) {
  const std::string file = through_link(path);
  std::error_code failure;
  if (std::filesystem::exists(file, failure) && !std::filesystem::is_regular_file(file, failure)) {
    return ok();  // a device
  }
  const size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return ok();
  return write_error(path, "write in its folder", errno);
}

std::string temporary_directory() {
  const char* directory = std::getenv("TMPDIR");
  return directory != nullptr && *directory != '\0' ? directory : "/tmp";
}

Expected<std::string> write_temporary_file(std::string_view stem, std::string_view suffix,
                                           std::string_view text) {
  std::string path = fmt::format("{}/{}-XXXXXX.{}", temporary_directory(), stem, suffix);
  FileDescriptor file(::mkostemps(path.data(), static_cast<int>(suffix.size()) + 1, O_CLOEXEC));
  if (file.number() < 0) return write_error(path, "create a file in this folder", errno);
  const auto bytes = std::as_bytes(std::span<const char>(text.data(), text.size()));
  if (const int failed = write_pieces(file, {&bytes, 1}); failed != 0) {
    ::unlink(path.c_str());
    return write_error(path, "write", failed);
  }
  return path;
}

Expected<std::string> read_text_file(const std::string& path) {
  constexpr uint64_t kMaxBytes = uint64_t{1} << 31;
  TOSAIC_TRY(const RegularFile file, open_regular_file(path));
  std::string text;
  size_t num_read = 0;
  // Reads to the end and not just `num_bytes`, which is 0 for the files of /proc.
  for (;;) {
    if (std::max<uint64_t>(file.num_bytes, num_read) > kMaxBytes) {
      return error(Code::kFileOpen, "the file has more than {} bytes, too many for text", kMaxBytes)
          .at({path});
    }
    if (num_read == text.size()) {
      text.resize(std::max<size_t>(num_read + num_read / 2, file.num_bytes) + 4096);
    }
    const ssize_t got =
        ::read(file.descriptor.number(), text.data() + num_read, text.size() - num_read);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return error(Code::kFileOpen, "cannot read the file: {}", system_message(errno)).at({path});
    }
    if (got == 0) break;
    num_read += static_cast<size_t>(got);
  }
  text.resize(num_read);
  return text;
}

Status make_directories(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  // libstdc++ reports no error for an empty name, nor in every version for a file of that name.
  if (!failed && !std::filesystem::is_directory(path, failed) && !failed) {
    failed = std::make_error_code(std::errc::not_a_directory);
  }
  if (failed) {
    return error(Code::kFileWrite, "cannot make the folder: {}", failed.message()).at({path});
  }
  return ok();
}

}  // namespace tosaic
