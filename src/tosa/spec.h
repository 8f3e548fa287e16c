// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/graph.h"
#include "support/diagnostic.h"

namespace tosaic {

/// A version of the TOSA specification.
struct TosaVersion {
  int major = 1;
  int minor = 0;
  int patch = 0;
  auto operator<=>(const TosaVersion&) const = default;
};

/// Profiles and extensions of TOSA 1.0 (specification, "Profiles" and "Profile extensions") as
/// bits.
enum class Feature : uint32_t {
  kNone = 0,
  kInt = 1 << 0,            ///< PRO-INT
  kFp = 1 << 1,             ///< PRO-FP
  kInt16 = 1 << 2,          ///< EXT-INT16
  kInt4 = 1 << 3,           ///< EXT-INT4
  kBf16 = 1 << 4,           ///< EXT-BF16
  kF8E4M3 = 1 << 5,         ///< EXT-FP8E4M3
  kF8E5M2 = 1 << 6,         ///< EXT-FP8E5M2
  kFft = 1 << 7,            ///< EXT-FFT
  kVariable = 1 << 8,       ///< EXT-VARIABLE
  kControlFlow = 1 << 9,    ///< EXT-CONTROLFLOW
  kDoubleRound = 1 << 10,   ///< EXT-DOUBLEROUND
  kInexactRound = 1 << 11,  ///< EXT-INEXACTROUND
};
constexpr Feature operator|(Feature a, Feature b) {
  return static_cast<Feature>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
constexpr Feature operator&(Feature a, Feature b) {
  return static_cast<Feature>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}
constexpr bool any(Feature a) {
  return a != Feature::kNone;
}

/// Limits of level 8K.
struct Level {
  int64_t max_rank = 6;
  int64_t max_kernel = 8192;
  int64_t max_stride = 8192;
  int64_t max_scale = 256;
  int64_t max_log2_size = 31;
  int64_t max_nesting = 6;  ///< graphs around one that a node runs
};

enum class TargetKind : uint8_t { kTosaInt, kTosaFp, kEthosU55, kEthosU65, kEthosU85, kCpu };

/// What a compilation is for. Lowerings ask `has` and `legal`; only src/target fills it.
struct Target {
  std::string name;               ///< "ethos-u55-128"
  std::string_view display_name;  ///< "Ethos-U55", for messages
  TargetKind kind = TargetKind::kTosaInt;
  int macs = 0;  ///< of an Ethos-U
  TosaVersion version;
  Feature features = Feature::kNone;
  Level level;
  std::string_view default_system_config;  ///< Vela; empty for targets without an NPU
  std::string_view default_memory_mode;
  /// The family's own limits on one TOSA node, beyond profile and level; nullptr: none.
  std::optional<Reject> (*rows)(const Node& node, const Target& target) = nullptr;
  /// Number of operations that the target makes of one that it takes; nullptr: always one.
  int64_t (*pieces)(const Node& node) = nullptr;

  bool has(Feature feature) const { return (features & feature) == feature; }
  bool is_ethos_u() const {
    return kind == TargetKind::kEthosU55 || kind == TargetKind::kEthosU65 ||
           kind == TargetKind::kEthosU85;
  }
  /// Nothing when the target can execute the node, else the reason. A signature must be available
  /// with the target's features, and the family's rows must hold.
  std::optional<Reject> legal(const Node& node) const;
};

}  // namespace tosaic
