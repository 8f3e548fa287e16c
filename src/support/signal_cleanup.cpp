// SPDX-License-Identifier: Apache-2.0
// What has to be tidied when a signal ends the process.
//
// A handler may interrupt any instruction and may not lock or allocate. So all registries are
// lists that only grow: a slot is pushed once, never freed, and is free for reuse when its atomic
// says so.
#include "support/signal_cleanup.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include <cstdlib>

#include "support/mapped_file.h"

namespace tosaic {

struct TemporaryName::Slot {
  std::atomic<char*> path{nullptr};  // nullptr: not in use; who takes it out owns the string
  Slot* next = nullptr;
};

struct MappingRecord::Slot {
  std::atomic<bool> used{false};
  std::atomic<uintptr_t> begin{0};
  std::atomic<uintptr_t> end{0};  // 0 while the other fields are being changed
  std::atomic<const char*> path{nullptr};
  Slot* next = nullptr;
};

struct ProcessGroupRecord::Slot {
  std::atomic<pid_t> leader{0};  // 0: not in use
  Slot* next = nullptr;
};

namespace {

std::atomic<TemporaryName::Slot*> temporary_names{nullptr};
std::atomic<ProcessGroupRecord::Slot*> process_groups{nullptr};
std::atomic<MappingRecord::Slot*> mappings{nullptr};

static_assert(std::atomic<char*>::is_always_lock_free);
static_assert(std::atomic<uintptr_t>::is_always_lock_free);
static_assert(std::atomic<pid_t>::is_always_lock_free);

template <typename Slot>
void push(std::atomic<Slot*>& head, Slot* slot) {
  slot->next = head.load();
  while (!head.compare_exchange_weak(slot->next, slot)) {
  }
}

void print_error(const char* text) {
  // Nothing can be done when standard error is closed.
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, text, strlen(text));
}

void on_bus_error(int signal_number, siginfo_t* info, void*) {
  const auto address = reinterpret_cast<uintptr_t>(info->si_addr);
  for (auto* slot = mappings.load(); slot != nullptr; slot = slot->next) {
    const uintptr_t end = slot->end.load();
    if (end == 0 || address < slot->begin.load() || address >= end) continue;
    // The thread that faulted uses this mapping, hence nobody is about to change its slot.
    remove_temporary_files();
    print_error(slot->path.load());
    print_error(": error[E0101]: the file became shorter, or its disk failed, while it was read\n");
    ::_exit(1);
  }
  // Not one of our files: the default action (a core dump) follows when the instruction repeats.
  ::signal(signal_number, SIG_DFL);
}

void on_termination(int signal_number) {
  for (auto* slot = process_groups.load(); slot != nullptr; slot = slot->next) {
    if (const pid_t leader = slot->leader.exchange(0); leader != 0) ::kill(-leader, SIGKILL);
  }
  remove_temporary_files();
  // SA_RESETHAND restored the default action, so the parent sees which signal ended the process.
  ::raise(signal_number);
}

}  // namespace

TemporaryName::TemporaryName(const std::string& path) {
  char* copy = ::strdup(path.c_str());
  for (slot_ = temporary_names.load(); slot_ != nullptr; slot_ = slot_->next) {
    char* expected = nullptr;
    if (slot_->path.compare_exchange_strong(expected, copy)) return;
  }
  slot_ = new Slot;
  slot_->path = copy;
  push(temporary_names, slot_);
}

TemporaryName::~TemporaryName() {
  std::free(slot_->path.exchange(nullptr));
}

MappingRecord::MappingRecord(const void* data, size_t num_bytes, const char* path) {
  for (slot_ = mappings.load(); slot_ != nullptr; slot_ = slot_->next) {
    if (!slot_->used.exchange(true)) break;
  }
  const bool fresh = slot_ == nullptr;
  if (fresh) {
    slot_ = new Slot;
    slot_->used = true;
  }
  slot_->path = path;
  slot_->begin = reinterpret_cast<uintptr_t>(data);
  slot_->end = reinterpret_cast<uintptr_t>(data) + num_bytes;
  if (fresh) push(mappings, slot_);
}

MappingRecord::~MappingRecord() {
  slot_->end = 0;
  slot_->used = false;
}

ProcessGroupRecord::ProcessGroupRecord(pid_t leader) {
  for (slot_ = process_groups.load(); slot_ != nullptr; slot_ = slot_->next) {
    pid_t expected = 0;
    if (slot_->leader.compare_exchange_strong(expected, leader)) return;
  }
  slot_ = new Slot;
  slot_->leader = leader;
  push(process_groups, slot_);
}

ProcessGroupRecord::~ProcessGroupRecord() {
  slot_->leader = 0;
}

void remove_temporary_files() {
  for (auto* slot = temporary_names.load(); slot != nullptr; slot = slot->next) {
    // The string is not freed: free() is not safe here, and the process ends.
    if (const char* path = slot->path.exchange(nullptr)) ::unlink(path);
  }
}

void install_signal_handlers() {
  struct sigaction action = {};
  action.sa_sigaction = on_bus_error;
  action.sa_flags = SA_SIGINFO;
  ::sigaction(SIGBUS, &action, nullptr);

  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    ::sigaction(signal_number, nullptr, &before);
    // A parent that had the signal ignored (nohup, a background job) wants it to stay so.
    if (before.sa_handler == SIG_IGN) continue;
    action = {};
    action.sa_handler = on_termination;
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(signal_number, &action, nullptr);
  }
  // A file above the size limit of the process is then an error of write() and not a crash.
  ::signal(SIGXFSZ, SIG_IGN);
}

}  // namespace tosaic
