// SPDX-License-Identifier: Apache-2.0
// Only for tests.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <vector>

namespace tosaic {

/// A new empty folder that disappears, with what is in it, at the end of the scope.
class TestFolder {
 public:
  TestFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "tosaic-test-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) ADD_FAILURE() << "no temporary folder";
    path_ = pattern;
  }
  ~TestFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TestFolder(const TestFolder&) = delete;
  TestFolder& operator=(const TestFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

  /// Writes a file by plain iostreams and returns its path.
  std::string put(const std::string& name, std::span<const std::byte> content) const {
    std::ofstream(file(name), std::ios::binary)
        .write(reinterpret_cast<const char*>(content.data()),
               static_cast<std::streamsize>(content.size()));
    return file(name);
  }
  std::string put(const std::string& name, const std::string& text) const {
    return put(name, std::as_bytes(std::span<const char>(text.data(), text.size())));
  }

  std::string get(const std::string& name) const {
    std::ifstream in(file(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  /// Names of what is in the folder, hidden files included.
  std::vector<std::string> list() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path_)) {
      names.push_back(entry.path().filename().string());
    }
    std::sort(names.begin(), names.end());
    return names;
  }

 private:
  std::filesystem::path path_;
};

/// A regular file in memory, for tests that write thousands of them.
class TestMemoryFile {
 public:
  TestMemoryFile() : descriptor_(::memfd_create("tosaic-test", MFD_CLOEXEC)) {
    if (descriptor_ < 0) ADD_FAILURE() << "no file in memory";
  }
  ~TestMemoryFile() { ::close(descriptor_); }
  TestMemoryFile(const TestMemoryFile&) = delete;
  TestMemoryFile& operator=(const TestMemoryFile&) = delete;

  /// Replaces the content and returns the path.
  std::string put(std::span<const std::byte> content) const {
    const auto num_bytes = static_cast<ssize_t>(content.size());
    if (::ftruncate(descriptor_, 0) != 0 ||
        ::pwrite(descriptor_, content.data(), content.size(), 0) != num_bytes) {
      ADD_FAILURE() << "cannot write a file in memory";
    }
    return "/proc/self/fd/" + std::to_string(descriptor_);
  }
  std::string put(const std::string& text) const {
    return put(std::as_bytes(std::span<const char>(text.data(), text.size())));
  }

 private:
  int descriptor_;
};

}  // namespace tosaic
