// SPDX-License-Identifier: Apache-2.0
#include "target/targets.h"

#include <algorithm>
#include <array>

#include "target/families.h"

namespace tosaic {
namespace {

constexpr Feature kAllInt = Feature::kInt | Feature::kInt16 | Feature::kInt4 |
                            Feature::kDoubleRound | Feature::kInexactRound;
constexpr Feature kEthosU85 = kAllInt | Feature::kControlFlow;

struct Entry {
  std::string_view name;
  std::string_view display_name;
  TargetKind kind;
  int macs;
};

// Accelerators as Vela spells them.
constexpr Entry kEntries[] = {
    {"tosa-fp", "TOSA FP", TargetKind::kTosaFp, 0},
    {"tosa-int", "TOSA INT", TargetKind::kTosaInt, 0},
    {"ethos-u55-32", "Ethos-U55", TargetKind::kEthosU55, 32},
    {"ethos-u55-64", "Ethos-U55", TargetKind::kEthosU55, 64},
    {"ethos-u55-128", "Ethos-U55", TargetKind::kEthosU55, 128},
    {"ethos-u55-256", "Ethos-U55", TargetKind::kEthosU55, 256},
    {"ethos-u65-256", "Ethos-U65", TargetKind::kEthosU65, 256},
    {"ethos-u65-512", "Ethos-U65", TargetKind::kEthosU65, 512},
    {"ethos-u85-128", "Ethos-U85", TargetKind::kEthosU85, 128},
    {"ethos-u85-256", "Ethos-U85", TargetKind::kEthosU85, 256},
    {"ethos-u85-512", "Ethos-U85", TargetKind::kEthosU85, 512},
    {"ethos-u85-1024", "Ethos-U85", TargetKind::kEthosU85, 1024},
    {"ethos-u85-2048", "Ethos-U85", TargetKind::kEthosU85, 2048},
    {"cpu", "the CPU", TargetKind::kCpu, 0},
};

void fill_family(Target& t) {
  switch (t.kind) {
    case TargetKind::kTosaFp:
      t.features = Feature::kFp | Feature::kBf16;
      break;
    case TargetKind::kTosaInt:
      t.features = kAllInt;
      break;
    case TargetKind::kEthosU55:
      t.features = kAllInt;
      t.rows = ethos_u55_rows;
      t.pieces = ethos_u_pieces;
      t.default_system_config = "Ethos_U55_High_End_Embedded";
      t.default_memory_mode = "Shared_Sram";
      break;
    case TargetKind::kEthosU65:
      t.features = kAllInt;
      t.rows = ethos_u55_rows;
      t.pieces = ethos_u_pieces;
      t.default_system_config = "Ethos_U65_High_End";
      t.default_memory_mode = "Dedicated_Sram_384KB";
      break;
    case TargetKind::kEthosU85:
      t.features = kEthosU85;
      t.rows = ethos_u85_rows;
      t.pieces = ethos_u_pieces;
      t.default_system_config = "Ethos_U85_SYS_DRAM_Mid";
      t.default_memory_mode = "Sram_Only";
      break;
    case TargetKind::kCpu:
      break;
  }
}

Target make(const Entry& entry) {
  Target t;
  t.name = entry.name;
  t.display_name = entry.display_name;
  t.kind = entry.kind;
  t.macs = entry.macs;
  fill_family(t);
  return t;
}

/// Extensions of ExecuTorch's spelling, "TOSA-1.0+INT+int16+u55".
struct SpelledFeature {
  std::string_view name;
  Feature feature;
};
constexpr SpelledFeature kSpelled[] = {
    {"INT", Feature::kInt},        {"FP", Feature::kFp},     {"int16", Feature::kInt16},
    {"int4", Feature::kInt4},      {"bf16", Feature::kBf16}, {"fp8e4m3", Feature::kF8E4M3},
    {"fp8e5m2", Feature::kF8E5M2}, {"fft", Feature::kFft},   {"var", Feature::kVariable},
    {"cf", Feature::kControlFlow},
};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// "TOSA-1.0+INT+int16+u55": the profile decides the kind; "u55" adds the rows of Ethos-U55.
Expected<Target> parse_executorch_name(std::string_view name) {
  const auto parts = split(name, '+');
  if (parts[0] != "TOSA-1.0") {
    return error(Code::kTargetName, "target {}: the version is {}; TOSA-1.0 is taken", name,
                 parts[0]);
  }
  Target t;
  t.name = name;
  for (std::string_view part : std::span(parts).subspan(1)) {
    if (part == "u55") {
      t.rows = ethos_u55_rows;
      t.pieces = ethos_u_pieces;
      continue;
    }
    const auto* found = std::ranges::find(kSpelled, part, &SpelledFeature::name);
    if (found == std::end(kSpelled)) {
      std::vector<std::string_view> names;
      for (const SpelledFeature& f : kSpelled)
        names.push_back(f.name);
      names.push_back("u55");
      Diagnostic d = error(Code::kTargetName,
                           "target {}: \"{}\" is no profile or extension; there "
                           "are {}",
                           name, part, fmt::join(names, ", "));
      if (const auto near = nearest_name(part, names); !near.empty()) {
        d.hint = fmt::format("did you mean {}", near);
      }
      return d;
    }
    t.features = t.features | found->feature;
  }
  const bool integer = t.has(Feature::kInt);
  if (integer == t.has(Feature::kFp)) {
    return error(Code::kTargetName, "target {}: give one of the profiles INT and FP", name);
  }
  t.kind = integer ? TargetKind::kTosaInt : TargetKind::kTosaFp;
  t.display_name = integer ? "TOSA INT" : "TOSA FP";
  return t;
}

}  // namespace

Target host_target() {
  Target t;
  t.name = "host";
  t.display_name = "the host";
  t.features = Feature::kInt | Feature::kInt16 | Feature::kFp;
  return t;
}

std::vector<std::string_view> target_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries)
    names.push_back(entry.name);
  return names;
}

Expected<Target> find_target(std::string_view name) {
  if (name.starts_with("TOSA-")) return parse_executorch_name(name);
  std::string plain(name);
  std::ranges::replace(plain, '_', '-');
  for (const Entry& entry : kEntries) {
    if (entry.name == plain) return make(entry);
  }
  const auto names = target_names();
  Diagnostic d = error(Code::kTargetName, "there is no target \"{}\"; there are {}", name,
                       fmt::join(names, ", "));
  if (const auto near = nearest_name(plain, names); !near.empty()) {
    d.hint = fmt::format("did you mean {}", near);
  }
  return d;
}

}  // namespace tosaic
