// SPDX-License-Identifier: Apache-2.0
#include "ethosu/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "support/regular_file.h"

namespace tosaic {
namespace {

constexpr size_t kMaxLogBytes = size_t{64} << 10;

struct ChildSetup {
  char* const* argv;
  char* const* environment;
  int in, out, err;  // what becomes 0, 1, 2
  int failure;       // receives errno when the program cannot be run
  uint64_t memory_limit;
  pid_t parent;
};

/// Between fork and exec only async-signal-safe calls are allowed: other threads may hold locks.
[[noreturn]] void run_child(const ChildSetup& setup) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != setup.parent) _exit(127);
  rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (setup.memory_limit != 0) {
    rlimit memory{setup.memory_limit, setup.memory_limit};
    setrlimit(RLIMIT_AS, &memory);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  if (dup2(setup.in, 0) >= 0 && dup2(setup.out, 1) >= 0 && dup2(setup.err, 2) >= 0) {
    execvpe(setup.argv[0], setup.argv, setup.environment);
  }
  int code = errno;
  [[maybe_unused]] ssize_t written = write(setup.failure, &code, sizeof code);
  _exit(127);
}

/// A descriptor above 2, so that dup2 in the child never overwrites one that it still needs.
void lift(int& fd) {
  if (fd > 2) return;
  int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  fd = higher;
}

struct Channel {
  FileDescriptor ours, childs;
  bool take(std::array<int, 2> ends) {
    lift(ends[0]);
    lift(ends[1]);
    ours = FileDescriptor(ends[0]);
    childs = FileDescriptor(ends[1]);
    return ends[0] >= 0 && ends[1] >= 0;
  }
  bool make_pipe() {
    std::array<int, 2> ends;
    return pipe2(ends.data(), O_CLOEXEC) == 0 && take(ends);
  }
  /// A socket, since writing to it can be told not to raise SIGPIPE.
  bool make_socket() {
    std::array<int, 2> ends;
    return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) == 0 && take(ends);
  }
};

}  // namespace

Expected<std::unique_ptr<ChildProcess>> ChildProcess::start(const ChildCommand& command) {
  auto system_error = [&](int number) {
    return error(Code::kVelaMissing, "'{}' cannot be run: {}", command.argv[0],
                 system_message(number));
  };
  Channel in, out, err, failure;
  if (!in.make_socket() || !out.make_pipe() || !err.make_pipe() || !failure.make_pipe()) {
    return system_error(errno);
  }
  std::vector<char*> argv, environment;
  for (const std::string& arg : command.argv)
    argv.push_back(const_cast<char*>(arg.c_str()));
  argv.push_back(nullptr);
  for (const std::string& variable : command.environment) {
    environment.push_back(const_cast<char*>(variable.c_str()));
  }
  for (char** variable = environ; *variable != nullptr; variable++)
    environment.push_back(*variable);
  environment.push_back(nullptr);
  const Channel& stdout_channel = command.keep_log_only ? err : out;
  ChildSetup setup{.argv = argv.data(),
                   .environment = environment.data(),
                   .in = in.childs.number(),
                   .out = stdout_channel.childs.number(),
                   .err = err.childs.number(),
                   .failure = failure.childs.number(),
                   .memory_limit = command.memory_limit,
                   .parent = getpid()};
  auto child = std::unique_ptr<ChildProcess>(new ChildProcess);
  auto limit = std::chrono::duration<double>(std::clamp(command.timeout_seconds, 0.0, 1e6));
  child->deadline_ = std::chrono::steady_clock::now() +
                     std::chrono::duration_cast<std::chrono::steady_clock::duration>(limit);
  child->pid_ = fork();
  if (child->pid_ < 0) return system_error(errno);
  if (child->pid_ == 0) run_child(setup);
  setpgid(child->pid_, child->pid_);  // both sides do it: neither may come second
  child->group_.emplace(child->pid_);
  for (Channel* channel : {&in, &out, &err, &failure})
    channel->childs.close();
  int code = 0;
  ssize_t got;
  do {
    got = read(failure.ours.number(), &code, sizeof code);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof code) return system_error(code);
  child->in_ = std::move(in.ours);
  if (!command.keep_log_only) child->out_ = std::move(out.ours);
  child->err_ = std::move(err.ours);
  for (const FileDescriptor* fd : {&child->in_, &child->out_, &child->err_}) {
    if (fd->number() >= 0) fcntl(fd->number(), F_SETFL, O_NONBLOCK);
  }
  return child;
}

ChildProcess::~ChildProcess() {
  if (pid_ > 0 && !reaped_) {
    kill_group();
    reap(true);
  }
}

void ChildProcess::kill_group() {
  if (!reaped_) kill(-pid_, SIGKILL);
}

/// Before the leader is reaped its group is killed: afterwards the number could be someone else's.
bool ChildProcess::reap(bool block) {
  if (reaped_) return true;
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOWAIT | (block ? 0 : WNOHANG)) !=
      0) {
    if (errno == EINTR) return block ? reap(block) : false;
    reaped_ = true;  // someone else waited for it
    group_.reset();
    return true;
  }
  if (info.si_pid == 0) return false;
  kill_group();
  group_.reset();
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  reaped_ = true;
  if (WIFEXITED(status)) end_.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) end_.signal = WTERMSIG(status);
  return true;
}

int ChildProcess::remaining_ms() const {
  auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
      deadline_ - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<int64_t>(left.count(), 0, 1'000'000'000));
}

void ChildProcess::read_log() {
  std::array<char, 4096> buffer;
  while (true) {
    ssize_t got = read(err_.number(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) err_.close();
    if (got <= 0) return;
    log_.append(buffer.data(), static_cast<size_t>(got));
    if (log_.size() > 2 * kMaxLogBytes) log_.erase(0, log_.size() - kMaxLogBytes);
  }
}

/// Waits for one event. False when no progress is possible any more.
bool ChildProcess::poll_once(std::span<const std::byte>& request, std::span<std::byte>& response) {
  std::array<pollfd, 3> fds = {pollfd{request.empty() ? -1 : in_.number(), POLLOUT, 0},
                               pollfd{response.empty() ? -1 : out_.number(), POLLIN, 0},
                               pollfd{err_.number(), POLLIN, 0}};
  int ready = poll(fds.data(), fds.size(), remaining_ms());
  if (ready < 0) return errno == EINTR;
  if (ready == 0) {
    end_.timed_out = true;
    return false;
  }
  if (fds[2].revents != 0) read_log();
  if (fds[0].revents != 0) {
    ssize_t sent = send(in_.number(), request.data(), request.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) request = request.subspan(static_cast<size_t>(sent));
    if (sent < 0 && errno != EAGAIN && errno != EINTR) return false;
  }
  if (fds[1].revents != 0) {
    ssize_t got = read(out_.number(), response.data(), response.size());
    if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) return false;
    if (got > 0) response = response.subspan(static_cast<size_t>(got));
  }
  return true;
}

bool ChildProcess::exchange(std::span<const std::byte> request, std::span<std::byte> response) {
  while (!request.empty() || !response.empty()) {
    if (!poll_once(request, response)) return false;
  }
  return true;
}

ChildEnd ChildProcess::wait() {
  in_.close();
  out_.close();
  std::span<const std::byte> nothing;
  std::span<std::byte> nowhere;
  while (!reap(false)) {
    if (end_.timed_out || remaining_ms() == 0) {
      end_.timed_out = true;
      kill_group();
      reap(true);
      break;
    }
    // The log ends with the child; a child that closed it early is looked at every millisecond.
    if (err_.number() < 0) {
      poll(nullptr, 0, 1);
    } else if (!poll_once(nothing, nowhere)) {
      continue;
    }
  }
  if (err_.number() >= 0) read_log();
  if (log_.size() > kMaxLogBytes) log_.erase(0, log_.size() - kMaxLogBytes);
  ChildEnd end = end_;
  if (end.timed_out) end.signal = 0;
  return end;
}

}  // namespace tosaic
