// SPDX-License-Identifier: Apache-2.0
// The worker against programs that misbehave; vela_real_test.cpp has the real one.
#include "ethosu/vela.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "ethosu/child_process.h"
#include "ethosu/temporary_folder.h"
#include "ethosu/vela_call.h"
#include "support/parallel.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::byte, 8> kTosa{};

/// $TMPDIR is this folder while the object lives, so that what is left behind is seen.
class VelaWorker : public testing::Test {
 protected:
  VelaWorker() { setenv("TMPDIR", temporary_.file("").c_str(), 1); }
  ~VelaWorker() override {
    unsetenv("TMPDIR");
    EXPECT_TRUE(temporary_.list().empty()) << "a temporary file is left behind";
  }

  /// An executable shell script. Its name tells how it is called: "python…" as an interpreter.
  std::string script(const std::string& name, const std::string& body) {
    std::string path = scripts_.put(name, "#!/bin/sh\n" + body + "\n");
    chmod(path.c_str(), 0755);
    return path;
  }

  Diagnostic error_of(const std::string& path, double timeout = 20) {
    VelaOptions options;
    options.vela_path = path;
    options.timeout_seconds = timeout;
    auto result = run_vela(kTosa, options);
    EXPECT_FALSE(result.ok());
    return result ? Diagnostic() : result.error();
  }

  TestFolder scripts_;
  TestFolder temporary_;
};

TEST_F(VelaWorker, AMissingVelaIsNamedWithThePlace) {
  for (const std::string& path :
       {std::string("/nonexistent/vela"), scripts_.put("plain.txt", "x"), scripts_.file("")}) {
    Diagnostic d = error_of(path);
    EXPECT_EQ(d.code, Code::kVelaMissing) << path;
    ASSERT_FALSE(d.notes.empty());
    EXPECT_NE(d.notes[0].find("--vela"), std::string::npos) << d.notes[0];
    EXPECT_NE(d.hint.find("ethos-u-vela"), std::string::npos);
  }
  setenv("TOSAIC_VELA", "/nonexistent/python", 1);
  VelaOptions options;
  auto result = run_vela(kTosa, options);
  unsetenv("TOSAIC_VELA");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kVelaMissing);
  EXPECT_NE(result.error().notes.at(0).find("$TOSAIC_VELA"), std::string::npos);
}

TEST_F(VelaWorker, AHangIsEndedAtTheLimitWithAllItsProcesses) {
  std::string mark = scripts_.file("pid");
  for (const char* name : {"python-hangs", "hangs"}) {
    auto start = std::chrono::steady_clock::now();
    Diagnostic d =
        error_of(script(name, "trap '' TERM INT\nsleep 100 &\necho $! > " + mark + "\nwait"), 0.3);
    EXPECT_EQ(d.code, Code::kVelaTimeout);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
    pid_t grandchild = 0;
    std::ifstream(mark) >> grandchild;
    ASSERT_GT(grandchild, 0);
    // It may stay a zombie for a moment, until init looks at it.
    for (int i = 0; i < 500 && kill(grandchild, 0) == 0; i++) {
      std::string state;
      std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
      stat >> state >> state >> state;
      if (state == "Z") break;
      usleep(10'000);
      ASSERT_LT(i, 499) << "a process of the hanging Vela is left";
    }
  }
}

TEST_F(VelaWorker, ACrashNamesTheSignal) {
  for (const char* name : {"python-crashes", "crashes"}) {
    Diagnostic d = error_of(script(name, "echo last words >&2\nkill -SEGV $$"));
    EXPECT_EQ(d.code, Code::kVelaSignal);
    EXPECT_NE(d.message.find("SIGSEGV"), std::string::npos) << d.message;
    EXPECT_NE(d.notes.at(0).find("last words"), std::string::npos);
  }
  EXPECT_EQ(error_of(script("fails", "exit 3")).code, Code::kVelaCrash);
}

TEST_F(VelaWorker, UnusableOutputIsAnError) {
  EXPECT_EQ(error_of(script("does-nothing", "exit 0")).code, Code::kVelaOutput);
  EXPECT_EQ(error_of(script("python-noise", "head -c 100000 /dev/zero | tr '\\0' x")).code,
            Code::kVelaOutput);
  EXPECT_EQ(error_of(script("python-short", "printf '\\002\\000\\000\\000{}'")).code,
            Code::kVelaOutput);
  // A result file that is no archive: the folder is the third argument.
  EXPECT_EQ(error_of(script("bad-file", "echo nonsense > $3/network_vela.npz")).code,
            Code::kVelaOutput);
}

TEST_F(VelaWorker, ALoudProgramDoesNotFillMemory) {
  Diagnostic d = error_of(script("loud", "head -c 50000000 /dev/zero | tr '\\0' y >&2\nexit 1"));
  EXPECT_EQ(d.code, Code::kVelaCrash);
  EXPECT_LT(d.notes.at(0).size(), 1000u);
}

TEST_F(VelaWorker, RefusalsAreOneLine) {
  Diagnostic d = error_of(script(
      "refuses",
      "cat >&2 <<'EOF'\nTraceback (most recent call last):\n  File x\n"
      "RuntimeError: Compilation failed: TOSA FB Reader error:\n - Bad thing\n - Worse\nEOF\n"
      "exit 1"));
  EXPECT_EQ(d.code, Code::kVelaRefused);
  EXPECT_NE(d.message.find("TOSA FB Reader error: Bad thing; Worse"), std::string::npos)
      << d.message;
  EXPECT_EQ(one_line("a:\n - b\n - c\n"), "a: b; c");
  EXPECT_EQ(one_line("Compilation failed: x\ty"), "x y");
  EXPECT_LT(one_line(std::string(10000, 'x')).size(), 600u);
}

TEST_F(VelaWorker, FlagsAreForTheCommand) {
  VelaOptions options;
  options.method = VelaMethod::kBinding;
  options.extra_flags = {"--disable-cascading"};
  auto result = run_vela(kTosa, options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kOption);
}

TEST_F(VelaWorker, FoldersOfSeveralThreadsDoNotWaitForEachOther) {
  // Each remover is forked while the other threads' pipes are open.
  parallel_for(32, [](size_t, size_t) {
    auto folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok()) << render(folder.error());
  });
  auto first = TemporaryFolder::make();
  auto second = TemporaryFolder::make();
  ASSERT_TRUE(first.ok() && second.ok());
  first->reset();  // waits for its remover, which must not wait for the second folder
}

TEST_F(VelaWorker, TheFolderGoesEvenWhenWeAreKilled) {
  pid_t child = fork();
  if (child == 0) {
    auto folder = TemporaryFolder::make();
    if (!folder) _exit(1);
    std::ofstream((*folder)->path() + "/file") << "x";
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_TRUE(WIFSIGNALED(status));
  for (int i = 0; i < 500 && !temporary_.list().empty(); i++)
    usleep(10'000);
  EXPECT_TRUE(temporary_.list().empty());
}

TEST_F(VelaWorker, ResultsOutsideTheScratchBufferAreRefused) {
  VelaResult result;
  for (char c : std::string("COP1"))
    result.command_stream.push_back(static_cast<std::byte>(c));
  result.scratch_bytes = 32;
  result.inputs = result.outputs = {{1, 16, 16, 1, {1, 1, 1, 1, 1, 16}}};
  EXPECT_TRUE(check_vela_result(result).ok());
  auto refused = [&](auto change) {
    VelaResult changed = result;
    change(changed);
    Status status = check_vela_result(changed);
    return !status.ok() && status.error().code == Code::kVelaOutput;
  };
  EXPECT_TRUE(refused([](VelaResult& r) { r.command_stream[3] = std::byte{'9'}; }));
  EXPECT_TRUE(refused([](VelaResult& r) { r.outputs.clear(); }));
  EXPECT_TRUE(refused([](VelaResult& r) { r.inputs[0].address = 17; }));
  EXPECT_TRUE(refused([](VelaResult& r) { r.inputs[0].element_size = 0; }));
  EXPECT_TRUE(refused([](VelaResult& r) { r.inputs[0].shape[0] = 0x7fffffff; }));
  EXPECT_TRUE(refused([](VelaResult& r) { r.scratch_bytes = uint64_t{1} << 33; }));
}

}  // namespace
}  // namespace tosaic
