// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ethosu/vela.h"
#include "support/expected.h"

namespace tosaic {

/// An accelerator as Vela knows it.
struct VelaAccelerator {
  int family = 0;  ///< 55, 65 or 85
  int macs = 0;    ///< per cycle and core
  int cores = 1;
  std::string name;          ///< "ethos-u55-128"
  std::string architecture;  ///< "EthosU55"
  uint64_t address_space = 0;
  std::string_view default_system_config;
  std::string_view default_memory_mode;
};

/// Takes "ethos-u55-128"; error kTargetName with the nearest name otherwise.
Expected<VelaAccelerator> parse_accelerator(std::string_view name);

/// What both ways of calling Vela are given.
struct VelaConfig {
  VelaAccelerator accelerator;
  std::string
      system_config;  ///< begins with the family's prefix, from which Vela takes the AXI width
  std::string memory_mode;
  uint64_t arena_cache_size = 0;  ///< bytes
  double core_clock_hz = 0;
  /// The two sections that are used, with `inherit` resolved. Same syntax as the source.
  std::string ini;
};

/// Reads a Vela configuration and picks what `options` names. `file` is for messages. The rules are
/// those of Vela's own reader (Python's ConfigParser: keys in any case, a child's key wins over the
/// inherited one); values are checked here, so that the same mistakes give the same errors however
/// Vela is called. Errors: kVelaConfig.
Expected<VelaConfig> resolve_vela_config(std::string_view text, const std::string& file,
                                         const VelaOptions& options);

}  // namespace tosaic
