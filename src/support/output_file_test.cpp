// SPDX-License-Identifier: Apache-2.0
#include "support/output_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <thread>

#include "support/mapped_file.h"
#include "support/signal_cleanup.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

using Names = std::vector<std::string>;

mode_t mode_of(const std::string& path) {
  struct stat status = {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0);
  return status.st_mode & 07777;
}

// Runs `body` in a child process and gives its wait status.
template <typename Body>
int in_child(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(99);
  }
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

TEST(WriteFile, writes_all_pieces_and_leaves_no_other_file) {
  const TestFolder folder;
  const std::string a = "first ", b(300000, 'x');
  const std::span<const std::byte> pieces[] = {
      std::as_bytes(std::span(a)), {}, std::as_bytes(std::span(b))};
  ASSERT_TRUE(write_file(folder.file("out"), pieces).ok());
  EXPECT_EQ(folder.get("out"), a + b);
  EXPECT_EQ(folder.list(), Names{"out"});
}

TEST(WriteFile, takes_names_of_utf8_and_a_dash_as_they_are) {
  const TestFolder folder;
  ASSERT_TRUE(write_file(folder.file("größe 模型.pte"), std::string_view("x")).ok());
  ASSERT_TRUE(write_file(folder.file("-"), std::string_view("y")).ok());
  EXPECT_EQ(folder.list(), (Names{"-", "größe 模型.pte"}));
}

TEST(WriteFile, takes_the_longest_name_of_the_file_system) {
  const TestFolder folder;
  const std::string name(255, 'n');
  ASSERT_TRUE(write_file(folder.file(name), std::string_view("x")).ok());
  EXPECT_EQ(folder.list(), Names{name});
}

TEST(WriteFile, keeps_the_mode_of_an_older_file_and_obeys_umask_for_a_new_one) {
  const TestFolder folder;
  folder.put("old", std::string("old"));
  ASSERT_EQ(::chmod(folder.file("old").c_str(), 0640), 0);
  ASSERT_TRUE(write_file(folder.file("old"), std::string_view("new")).ok());
  EXPECT_EQ(folder.get("old"), "new");
  EXPECT_EQ(mode_of(folder.file("old")), mode_t{0640});
  const mode_t before = ::umask(027);
  ASSERT_TRUE(write_file(folder.file("fresh"), std::string_view("new")).ok());
  ::umask(before);
  EXPECT_EQ(mode_of(folder.file("fresh")), mode_t{0640});
}

TEST(WriteFile, writes_through_a_symbolic_link) {
  const TestFolder folder;
  folder.put("real", std::string("old"));
  std::filesystem::create_symlink("real", folder.file("link"));
  ASSERT_TRUE(write_file(folder.file("link"), std::string_view("new")).ok());
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(folder.get("real"), "new");
}

TEST(WriteFile, does_not_replace_a_device) {
  ASSERT_TRUE(write_file("/dev/null", std::string_view("x")).ok());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
  const Status full = write_file("/dev/full", std::string_view("x"));
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.error().code, Code::kFileWrite);
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/full"));
}

TEST(WriteFile, writes_into_a_fifo) {
  const TestFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = folder.get("fifo"); });
  EXPECT_TRUE(write_file(folder.file("fifo"), std::string_view("through")).ok());
  reader.join();
  EXPECT_EQ(got, "through");
  EXPECT_TRUE(std::filesystem::is_fifo(folder.file("fifo")));
}

TEST(WriteFile, names_the_file_and_the_reason_of_an_error) {
  const TestFolder folder;
  for (const std::string& path : {folder.file("no/such/out"), folder.file(""), std::string(),
                                  std::string("a\0b", 3), folder.file(std::string(256, 'n'))}) {
    const Status status = write_file(path, std::string_view("x"));
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_EQ(status.error().code, Code::kFileWrite);
    EXPECT_EQ(status.error().where.file, path);
  }
  EXPECT_EQ(folder.list(), Names{});
}

// RLIMIT_FSIZE makes write() fail half-way, as a full disk does.
TEST(WriteFile, leaves_the_older_file_alone_when_the_disk_is_full) {
  const TestFolder folder;
  folder.put("out", std::string("old"));
  const int status = in_child([&] {
    install_signal_handlers();
    const rlimit limit = {100000, 100000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status written = write_file(folder.file("out"), std::string(300000, 'x'));
    ::_exit(!written.ok() && written.error().code == Code::kFileWrite ? 7 : 8);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  EXPECT_EQ(folder.get("out"), "old");
  EXPECT_EQ(folder.list(), Names{"out"});
}

TEST(Signals, interrupt_and_termination_remove_temporary_files) {
  for (const int signal_number : {SIGINT, SIGTERM, SIGHUP}) {
    const TestFolder folder;
    const int status = in_child([&] {
      ::signal(signal_number, SIG_DFL);
      install_signal_handlers();
      { const TemporaryName forgotten(folder.file("kept")); }
      const TemporaryName first(folder.file("first.tmp"));
      const TemporaryName second(folder.file("second.tmp"));
      for (const char* name : {"kept", "first.tmp", "second.tmp"}) {
        folder.put(name, std::string("x"));
      }
      ::raise(signal_number);
    });
    EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == signal_number) << status;
    EXPECT_EQ(folder.list(), Names{"kept"});
  }
}

TEST(Signals, an_ignored_signal_stays_ignored) {
  const int status = in_child([] {
    ::signal(SIGHUP, SIG_IGN);
    install_signal_handlers();
    ::raise(SIGHUP);
    ::_exit(5);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
}

// The child writes without end; whenever the signal comes, no temporary file is left.
TEST(Signals, termination_during_a_write_leaves_the_older_or_the_newer_file) {
  const TestFolder folder;
  folder.put("out", std::string(200000, 'x'));
  for (int round = 0; round < 20; ++round) {
    const pid_t child = ::fork();
    if (child == 0) {
      install_signal_handlers();
      for (;;) {
        if (!write_file(folder.file("out"), std::string(200000, 'x')).ok()) ::_exit(3);
      }
    }
    ::usleep(static_cast<useconds_t>(3000 + 711 * round));
    ::kill(child, SIGTERM);
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFSIGNALED(status)) << status;
    EXPECT_EQ(folder.get("out"), std::string(200000, 'x'));
    ASSERT_EQ(folder.list(), Names{"out"});
  }
}

TEST(Signals, a_mapped_file_that_shrinks_is_one_error_line_and_status_1) {
  const TestFolder folder;
  folder.put("model", std::string(100000, 'x'));
  const int status = in_child([&] {
    const int log = ::open(folder.file("log").c_str(), O_WRONLY | O_CREAT, 0600);
    ::dup2(log, STDERR_FILENO);
    install_signal_handlers();
    const auto mapped = MappedFile::open(folder.file("model"));
    const TemporaryName temporary(folder.file("half.tmp"));
    folder.put("half.tmp", std::string("x"));
    if (::truncate(folder.file("model").c_str(), 10) != 0) ::_exit(98);
    volatile std::byte last = (*mapped)->bytes()[99999];
    static_cast<void>(last);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
  const std::string log = folder.get("log");
  EXPECT_TRUE(log.starts_with(folder.file("model") + ": error[E0101]: ")) << log;
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 1) << log;
  EXPECT_EQ(folder.list(), (Names{"log", "model"}));
}

TEST(MappedFile, shows_the_bytes_of_the_file) {
  const TestFolder folder;
  const auto mapped = MappedFile::open(folder.put("a", std::string("abc")));
  ASSERT_TRUE(mapped.ok());
  ASSERT_EQ((*mapped)->bytes().size(), 3u);
  EXPECT_EQ((*mapped)->bytes()[2], std::byte{'c'});
  EXPECT_EQ((*mapped)->path(), folder.file("a"));
  const auto empty = MappedFile::open(folder.put("b", std::string()));
  ASSERT_TRUE(empty.ok());
  EXPECT_TRUE((*empty)->bytes().empty());
}

TEST(MappedFile, takes_only_regular_files_and_never_waits) {
  const TestFolder folder;
  ASSERT_EQ(::mkfifo(folder.file("fifo").c_str(), 0600), 0);
  const std::pair<std::string, Code> cases[] = {
      {folder.file("missing"), Code::kFileOpen}, {"", Code::kFileOpen},
      {std::string("a\0b", 3), Code::kFileOpen}, {folder.file(""), Code::kFileKind},
      {folder.file("fifo"), Code::kFileKind},    {"/dev/zero", Code::kFileKind}};
  for (const auto& [path, code] : cases) {
    const auto mapped = MappedFile::open(path);
    ASSERT_FALSE(mapped.ok()) << path;
    EXPECT_EQ(mapped.error().code, code) << path;
    EXPECT_EQ(mapped.error().where.file, path);
    const auto text = read_text_file(path);
    ASSERT_FALSE(text.ok()) << path;
    EXPECT_EQ(text.error().code, code) << path;
  }
}

TEST(ReadTextFile, reads_everything) {
  const TestFolder folder;
  for (const size_t num_bytes : {0u, 1u, 4096u, 1000003u}) {
    const std::string text(num_bytes, 'q');
    EXPECT_EQ(*read_text_file(folder.put("a", text)), text);
  }
}

TEST(ReadTextFile, reads_files_whose_size_the_system_does_not_know) {
  const auto text = read_text_file("/proc/self/status");
  ASSERT_TRUE(text.ok());
  EXPECT_NE(text->find("Name:"), std::string::npos);
}

TEST(ReadTextFile, refuses_a_sparse_file_of_a_terabyte) {
  const TestFolder folder;
  folder.put("a", std::string());
  ASSERT_EQ(::truncate(folder.file("a").c_str(), off_t{1} << 40), 0);
  EXPECT_FALSE(read_text_file(folder.file("a")).ok());
}

TEST(TemporaryFile, is_a_new_one_each_time_that_only_the_user_reads) {
  const TestFolder folder;
  const std::string before = temporary_directory();
  ::setenv("TMPDIR", folder.file("").c_str(), 1);
  const auto first = write_temporary_file("tosaic-x", "tir", "one");
  const auto second = write_temporary_file("tosaic-x", "tir", "two");
  ::setenv("TMPDIR", folder.file("missing").c_str(), 1);
  const auto nowhere = write_temporary_file("tosaic-x", "tir", "three");
  ::setenv("TMPDIR", before.c_str(), 1);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_NE(*first, *second);
  EXPECT_EQ(*read_text_file(*first) + *read_text_file(*second), "onetwo");
  for (const std::string& path : {*first, *second}) {
    EXPECT_NE(path.find("/tosaic-x-"), std::string::npos) << path;
    EXPECT_TRUE(path.ends_with(".tir")) << path;
    struct stat status = {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600U);
  }
  ASSERT_FALSE(nowhere.ok());
  EXPECT_EQ(nowhere.error().code, Code::kFileWrite);
}

TEST(MakeDirectories, makes_parents_and_accepts_what_exists) {
  const TestFolder folder;
  EXPECT_TRUE(make_directories(folder.file("a/b/c")).ok());
  EXPECT_TRUE(make_directories(folder.file("a/b/c")).ok());
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("a/b/c")));
  folder.put("file", std::string("x"));
  for (const std::string& path : {folder.file("file"), folder.file("file/x"), std::string()}) {
    const Status status = make_directories(path);
    ASSERT_FALSE(status.ok()) << path;
    EXPECT_EQ(status.error().code, Code::kFileWrite);
  }
}

}  // namespace
}  // namespace tosaic
