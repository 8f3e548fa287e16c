// SPDX-License-Identifier: Apache-2.0
#include "ethosu/vela_find.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tosaic {
namespace {

namespace fs = std::filesystem;

bool runnable(const fs::path& path) {
  std::error_code ec;
  return fs::is_regular_file(path, ec) && access(path.c_str(), X_OK) == 0;
}

/// A folder with bin/python and perhaps bin/vela.
VelaCandidate of_environment(const fs::path& root, const std::string& origin) {
  VelaCandidate candidate{origin, {}, {}};
  for (const char* name : {"python3", "python"}) {
    if (fs::path python = root / "bin" / name; runnable(python)) {
      candidate.interpreter = python;
      candidate.command = {python, "-m", "ethosu.vela"};
      break;
    }
  }
  if (fs::path vela = root / "bin" / "vela"; runnable(vela)) candidate.command = {vela};
  return candidate;
}

VelaCandidate of_user(const std::string& path, const std::string& origin) {
  std::error_code ec;
  if (fs::is_directory(path, ec)) return of_environment(path, origin);
  if (fs::path(path).filename().string().starts_with("python")) {
    return {origin, path, {path, "-m", "ethosu.vela"}};
  }
  return {origin, {}, {path}};
}

}  // namespace

std::vector<VelaCandidate> find_vela(const VelaOptions& options) {
  if (!options.vela_path.empty()) return {of_user(options.vela_path, "--vela")};
  if (const char* path = std::getenv("TOSAIC_VELA"); path != nullptr && *path != '\0') {
    return {of_user(path, "$TOSAIC_VELA")};
  }
  std::vector<VelaCandidate> found;
  std::error_code ec;
  fs::path folder = fs::read_symlink("/proc/self/exe", ec).parent_path();
  while (!ec && !folder.empty()) {
    VelaCandidate candidate = of_environment(folder / ".venv", "the project's environment");
    if (!candidate.interpreter.empty()) {
      found.push_back(std::move(candidate));
      break;
    }
    if (folder == folder.parent_path()) break;
    folder = folder.parent_path();
  }
  found.push_back({"PATH", "python3", {"vela"}});
  return found;
}

}  // namespace tosaic
