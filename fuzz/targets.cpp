// SPDX-License-Identifier: Apache-2.0
#include "targets.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "aten/pt2/reader.h"
#include "ethosu/payload.h"
#include "ethosu/vela_config.h"
#include "ethosu/vela_ini.h"
#include "ethosu/vela_npz.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "pte/reader.h"
#include "support/npz.h"
#include "support/printable.h"
#include "tosa/flatbuffer.h"
#include "tosa/reference.h"
#include "zip_checksums.h"

namespace tosaic::fuzz {
namespace {

using Bytes = std::span<const std::byte>;

void require(bool holds, const char* property) {
  if (holds) return;
  [[maybe_unused]] const auto n = ::write(STDERR_FILENO, property, std::strlen(property));
  std::abort();
}

template <typename T>
bool accepted(const Expected<T>& result) {
  if (result) return true;
  const std::string text = render(result.error());
  require(!result.error().message.empty(), "an error says nothing\n");
  require(result.error().code != Code::kInternal, "an error is a bug\n");
  require(printable(text) == text, "an error is no plain text\n");
  return false;
}

std::string_view text_of(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The path of a file in memory with these bytes.
std::string memory_file(Bytes bytes) {
  static const int descriptor = ::memfd_create("tosaic-fuzz", MFD_CLOEXEC);
  const bool written =
      ::ftruncate(descriptor, 0) == 0 &&
      ::pwrite(descriptor, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
  require(written, "no file in memory\n");
  return "/proc/self/fd/" + std::to_string(descriptor);
}

/// A copy that begins at an address which is a multiple of 16, with no byte behind it.
struct AlignedCopy {
  explicit AlignedCopy(Bytes bytes) : size(bytes.size()) {
    if (::posix_memalign(&data, 16, size == 0 ? 1 : size) != 0) std::abort();
    if (size != 0) std::memcpy(data, bytes.data(), size);
  }
  ~AlignedCopy() { std::free(data); }
  AlignedCopy(const AlignedCopy&) = delete;
  AlignedCopy& operator=(const AlignedCopy&) = delete;
  Bytes bytes() const { return {static_cast<const std::byte*>(data), size}; }

  void* data = nullptr;
  size_t size;
};

/// Text that was printed is read back and is the same.
void require_same_text(const Module& module) {
  const std::string text = print(module);
  require(printable(text) == text, "text IR is no plain text\n");
  const auto again = parse_module(text, "again.tir");
  if (!again) {
    const std::string why = render(again.error());
    [[maybe_unused]] const auto n = ::write(STDERR_FILENO, why.data(), why.size());
  }
  require(again.ok(), "printed text cannot be parsed\n");
  require(print(**again) == text, "printed text reads back as another\n");
}

/// Executes small graphs: damaged parameters must end in an error or in some numbers.
void execute(const Graph& graph) {
  constexpr int64_t kMostElements = 512;
  constexpr size_t kMostNodes = 20;
  if (graph.num_nodes() > kMostNodes) return;
  if (graph.module().graphs().size() > 1) return;  // a changed loop may have no end
  for (const Node& node : graph.nodes()) {
    for (const Value& value : node.results()) {
      if (value.shape().num_elements() > kMostElements) return;
    }
  }
  std::vector<tosa::HostTensor> inputs;
  for (const Value* input : graph.inputs()) {
    if (input->shape().num_elements() > kMostElements) return;
    inputs.push_back(tosa::HostTensor::allocate(input->dtype(), input->shape()));
    // Bytes that are right for every type, booleans too.
    std::memset(inputs.back().storage.data(), 1, inputs.back().storage.size());
  }
  tosa::Reference reference(graph);
  accepted(reference.run(inputs));
}

bool run_tosa(Bytes bytes) {
  const AlignedCopy copy(bytes);
  const auto module = tosa::read_flatbuffer(copy.bytes(), nullptr, "x.tosa");
  if (!accepted(module)) return false;
  require(verify(**module).ok(), "what was read is not valid\n");
  require_same_text(**module);
  const Graph& graph = *(*module)->main();
  const auto written = tosa::write_flatbuffer(graph, {});
  if (accepted(written)) {
    require(tosa::read_flatbuffer(*written, nullptr, "y.tosa").ok(), "cannot read what it wrote\n");
  }
  execute(graph);
  return true;
}

bool run_pt2(Bytes bytes) {
  const std::vector<std::byte> file = with_right_checksums(bytes);
  const std::string path = memory_file(file);
  for (const bool json : {false, true})
    accepted(aten::describe_pt2(path, json));
  const auto module = aten::read_pt2(path);
  if (!accepted(module)) return false;
  if (verify(**module)) require_same_text(**module);
  return true;
}

bool run_npz(Bytes bytes) {
  return accepted(read_npz(memory_file(with_right_checksums(bytes))));
}

bool run_vela_npz(Bytes bytes) {
  return accepted(read_vela_npz(memory_file(with_right_checksums(bytes))));
}

bool run_ini(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  const auto ini = parse_vela_ini(text, "x.ini");
  if (!accepted(ini)) return false;
  const auto named = [&](std::string_view prefix) {
    for (const auto& section : ini->sections) {
      if (section.name.starts_with(prefix)) return section.name.substr(prefix.size());
    }
    return std::string("none");
  };
  VelaOptions options;
  options.system_config = named("System_Config.");
  options.memory_mode = named("Memory_Mode.");
  for (const char* accelerator : {"ethos-u55-128", "ethos-u65-512", "ethos-u85-256"}) {
    options.accelerator = accelerator;
    const auto config = resolve_vela_config(text, "x.ini", options);
    if (accepted(config)) accepted(parse_vela_ini(config->ini, "y.ini"));
  }
  return true;
}

bool run_tir(Bytes bytes) {
  const auto module = parse_module(text_of(bytes), "x.tir");
  if (!accepted(module)) return false;
  if (const Status status = verify(**module); !status) {
    require(!render(status.error()).empty(), "an error says nothing\n");
  }
  require_same_text(**module);
  return true;
}

bool run_payload(Bytes bytes) {
  const AlignedCopy copy(bytes);
  return accepted(parse_vela_bin_stream(copy.bytes()));
}

bool run_pte(Bytes bytes) {
  const AlignedCopy copy(bytes);
  return accepted(read_pte(copy.bytes()));
}

constexpr Target kTargets[] = {
    {"tosa", run_tosa}, {"pt2", run_pt2}, {"npz", run_npz},         {"vela_npz", run_vela_npz},
    {"ini", run_ini},   {"tir", run_tir}, {"payload", run_payload}, {"pte", run_pte},
};

}  // namespace

std::span<const Target> targets() {
  return kTargets;
}

const Target* find_target(std::string_view name) {
  for (const Target& target : kTargets) {
    if (target.name == name) return &target;
  }
  return nullptr;
}

}  // namespace tosaic::fuzz

namespace {
const tosaic::fuzz::Target* chosen = nullptr;
}

/// libFuzzer's entry points, which mutate.cpp uses as well. The target is $TOSAIC_FUZZ_TARGET.
extern "C" int LLVMFuzzerInitialize(int*, char***) {
  const char* name = std::getenv("TOSAIC_FUZZ_TARGET");
  chosen = tosaic::fuzz::find_target(name == nullptr ? "" : name);
  tosaic::fuzz::require(chosen != nullptr, "$TOSAIC_FUZZ_TARGET names no target\n");
  return 0;
}

/// 0 when the reader took the bytes, -1 when it refused them (no new seed then).
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t num_bytes) {
  return chosen->run({reinterpret_cast<const std::byte*>(data), num_bytes}) ? 0 : -1;
}
