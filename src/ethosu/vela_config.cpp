// SPDX-License-Identifier: Apache-2.0
#include "ethosu/vela_config.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>
#include <vector>

#include "ethosu/vela_ini.h"

namespace tosaic {
namespace {

constexpr std::array<std::string_view, 11> kAccelerators = {
    "ethos-u55-32",  "ethos-u55-64",   "ethos-u55-128", "ethos-u55-256",
    "ethos-u65-256", "ethos-u65-512",  "ethos-u85-128", "ethos-u85-256",
    "ethos-u85-512", "ethos-u85-1024", "ethos-u85-2048"};

constexpr std::array<std::string_view, 4> kMemories = {"Sram", "Dram", "OnChipFlash",
                                                       "OffChipFlash"};

using Keys = std::map<std::string, std::string>;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

/// The keys of a section over those that it inherits.
Expected<Keys> flatten(const VelaIni& ini, const std::string& section, const std::string& file) {
  std::vector<const VelaIni::Section*> chain;
  std::string name = section;
  while (true) {
    const VelaIni::Section* found = ini.find(name);
    if (found == nullptr) {
      return error(Code::kVelaConfig, "{}: section [{}] inherits from [{}], which does not exist",
                   file, chain.back()->name, name);
    }
    if (std::find(chain.begin(), chain.end(), found) != chain.end()) {
      return error(Code::kVelaConfig, "{}:{}: section [{}] inherits from itself", file, found->line,
                   name);
    }
    chain.push_back(found);
    auto parent = found->keys.find("inherit");
    if (parent == found->keys.end()) break;
    name = parent->second;
  }
  Keys keys;
  for (const VelaIni::Section* part : chain)
    keys.insert(part->keys.begin(), part->keys.end());
  keys.erase("inherit");
  return keys;
}

/// "Ethos_U85_SYS_DRAM_Mid" is of family 85; 0 when the name does not tell.
int family_of(std::string_view system_config) {
  for (int family : {55, 65, 85}) {
    if (system_config.starts_with(fmt::format("Ethos_U{}", family))) return family;
  }
  return 0;
}

Diagnostic unknown_section(const VelaIni& ini, const std::string& file, int wanted_family,
                           std::string_view flag, std::string_view kind, const std::string& name) {
  std::vector<std::string_view> names;
  std::string list;
  for (const VelaIni::Section& section : ini.sections) {
    std::string_view full = section.name;
    if (!full.starts_with(kind)) continue;
    int family = family_of(full.substr(kind.size()));
    if (family != 0 && family != wanted_family) continue;
    names.push_back(full.substr(kind.size()));
    list += (list.empty() ? "" : ", ") + std::string(names.back());
  }
  Diagnostic d =
      error(Code::kVelaConfig, "{}: no section [{}{}], which {} names", file, kind, name, flag);
  d.notes.push_back(list.empty()
                        ? fmt::format("the file has no section [{}…] for this target", kind)
                        : fmt::format("the file has for this target: {}", list));
  if (std::string_view near = nearest_name(name, names); !near.empty()) {
    d.hint = fmt::format("did you mean {}?", near);
  }
  return d;
}

Status check_real(const std::string& where, const std::string& text) {
  double value = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || !std::isfinite(value) ||
      value <= 0) {
    return error(Code::kVelaConfig, "{} = '{:.60}' is not a finite number above 0", where, text);
  }
  return ok();
}

Expected<uint64_t> read_count(const std::string& where, const std::string& text) {
  uint64_t value = 0;
  auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc() || end != text.data() + text.size() || value > uint64_t{1} << 40) {
    return error(Code::kVelaConfig, "{} = '{:.60}' is not an integer from 0 to 2^40", where, text);
  }
  return value;
}

/// Checks the values that Vela interprets and writes them in Vela's own spelling.
Expected<std::string> write_system(const std::string& file, const std::string& section,
                                   const Keys& keys) {
  std::string out;
  for (const auto& [key, value] : keys) {
    std::string where = fmt::format("{}: [{}] {}", file, section, key);
    std::string spelling = key;
    if (key == "core_clock" || key.ends_with("_clock_scale")) {
      TOSAIC_CHECK_OK(check_real(where, value));
    } else if (key == "axi0_port" || key == "axi1_port") {
      if (std::find(kMemories.begin(), kMemories.end(), value) == kMemories.end()) {
        return error(Code::kVelaConfig, "{} = '{:.60}' is none of {}", where, value,
                     fmt::join(kMemories, ", "));
      }
    } else if (key.ends_with("_burst_length") || key.ends_with("_latency") ||
               key.ends_with("_max_reads") || key.ends_with("_max_writes") ||
               key.ends_with("_ports_used")) {
      TOSAIC_CHECK_OK(read_count(where, value));
    }
    for (std::string_view memory : kMemories) {
      if (key.starts_with(lower(memory) + "_")) spelling = memory;
    }
    if (spelling != key) spelling += key.substr(spelling.size());
    out += fmt::format("{}={}\n", spelling, value);
  }
  return out;
}

/// The memory behind a port of the mode: Vela refuses feature maps in flash and caches outside
/// SRAM.
Status check_memories(const std::string& file, const std::string& mode_name, const Keys& system,
                      const Keys& mode) {
  auto port = [&](const char* area) -> std::string {
    auto it = mode.find(area);
    return it == mode.end() ? "Axi1" : it->second;
  };
  for (const char* area : {"const_mem_area", "arena_mem_area", "cache_mem_area"}) {
    std::string value = port(area);
    if (value != "Axi0" && value != "Axi1") {
      return error(Code::kVelaConfig, "{}: [Memory_Mode.{}] {} = '{:.60}' is neither Axi0 nor Axi1",
                   file, mode_name, area, value);
    }
  }
  auto memory = [&](const char* area) -> std::string {
    auto it = system.find(port(area) == "Axi0" ? "axi0_port" : "axi1_port");
    return it == system.end() ? "Sram" : it->second;
  };
  bool all_one = port("const_mem_area") == port("arena_mem_area") &&
                 port("const_mem_area") == port("cache_mem_area");
  auto refuse = [&](const char* area, const char* allowed) {
    return error(Code::kVelaConfig,
                 "{}: memory mode {} puts {} into {}, with this system configuration; allowed: {}",
                 file, mode_name, area, memory(area), allowed)
        .with_hint("choose another --memory-mode or --system-config");
  };
  if (memory("const_mem_area") == "Sram" && !all_one) {
    return refuse("const_mem_area", "Dram, OnChipFlash, OffChipFlash");
  }
  if (memory("arena_mem_area") != "Sram" && memory("arena_mem_area") != "Dram") {
    return refuse("arena_mem_area", "Sram, Dram");
  }
  if (memory("cache_mem_area") != "Sram") return refuse("cache_mem_area", "Sram");
  return ok();
}

Expected<uint64_t> arena_size(const VelaOptions& options, const VelaAccelerator& accelerator,
                              const std::string& file, const std::string& mode_name,
                              const Keys& mode) {
  uint64_t size = options.arena_cache_size;
  if (size == 0) {
    auto it = mode.find("arena_cache_size");
    if (it == mode.end()) return accelerator.address_space;
    TOSAIC_TRY(size,
               read_count(fmt::format("{}: [Memory_Mode.{}] arena_cache_size", file, mode_name),
                          it->second));
  }
  if (size > accelerator.address_space) {
    return error(Code::kVelaConfig, "arena cache of {} bytes is above {}, the address space of {}",
                 size, accelerator.address_space, accelerator.name);
  }
  return size;
}

}  // namespace

Expected<VelaAccelerator> parse_accelerator(std::string_view name) {
  if (std::find(kAccelerators.begin(), kAccelerators.end(), name) == kAccelerators.end()) {
    std::vector<std::string_view> names(kAccelerators.begin(), kAccelerators.end());
    Diagnostic d = error(Code::kTargetName, "'{:.60}' is not an Ethos-U; there are {}", name,
                         fmt::join(kAccelerators, ", "));
    if (std::string_view near = nearest_name(name, names); !near.empty()) {
      d.hint = fmt::format("did you mean {}?", near);
    }
    return d;
  }
  VelaAccelerator a;
  a.name = name;
  std::string_view family = name.substr(7, 2), macs = name.substr(10);
  std::from_chars(family.data(), family.data() + family.size(), a.family);
  std::from_chars(macs.data(), macs.data() + macs.size(), a.macs);
  if (name == "ethos-u65-512") {  // two cores of 256
    a.macs = 256;
    a.cores = 2;
  }
  a.architecture = fmt::format("EthosU{}", a.family);
  a.address_space = uint64_t{1} << (a.family == 55 ? 32 : 40);
  if (a.family == 55) {
    a.default_system_config = "Ethos_U55_High_End_Embedded";
    a.default_memory_mode = "Shared_Sram";
  } else if (a.family == 65) {
    a.default_system_config = "Ethos_U65_High_End";
    a.default_memory_mode = "Dedicated_Sram_384KB";
  } else {
    a.default_system_config = "Ethos_U85_SYS_DRAM_Mid";
    a.default_memory_mode = "Sram_Only";
  }
  return a;
}

Expected<VelaConfig> resolve_vela_config(std::string_view text, const std::string& file,
                                         const VelaOptions& options) {
  VelaConfig config;
  TOSAIC_TRY(config.accelerator, parse_accelerator(options.accelerator));
  const VelaAccelerator& accelerator = config.accelerator;
  std::string system_name = options.system_config.empty()
                                ? std::string(accelerator.default_system_config)
                                : options.system_config;
  config.memory_mode = options.memory_mode.empty() ? std::string(accelerator.default_memory_mode)
                                                   : options.memory_mode;
  if (int family = family_of(system_name); family != 0 && family != accelerator.family) {
    return error(Code::kVelaConfig,
                 "system configuration {} is one of Ethos-U{}, but the target is {}", system_name,
                 family, accelerator.name)
        .with_hint(fmt::format("the default is {}", accelerator.default_system_config));
  }

  TOSAIC_TRY(VelaIni ini, parse_vela_ini(text, file));
  std::string system_section = "System_Config." + system_name;
  std::string mode_section = "Memory_Mode." + config.memory_mode;
  if (ini.find(system_section) == nullptr) {
    return unknown_section(ini, file, accelerator.family, "--system-config", "System_Config.",
                           system_name);
  }
  if (ini.find(mode_section) == nullptr) {
    return unknown_section(ini, file, accelerator.family, "--memory-mode", "Memory_Mode.",
                           config.memory_mode);
  }
  TOSAIC_TRY(Keys system, flatten(ini, system_section, file));
  TOSAIC_TRY(Keys mode, flatten(ini, mode_section, file));
  TOSAIC_TRY(std::string system_text, write_system(file, system_section, system));
  TOSAIC_CHECK_OK(check_memories(file, config.memory_mode, system, mode));
  TOSAIC_TRY(config.arena_cache_size,
             arena_size(options, accelerator, file, config.memory_mode, mode));

  for (const auto& [key, value] : system) {
    if (key == "core_clock") config.core_clock_hz = std::strtod(value.c_str(), nullptr);
  }

  // Vela takes an AXI width of 8 bytes for names that begin with Ethos_U55 and 16 for all others.
  config.system_config = system_name;
  if (accelerator.family == 55 && family_of(system_name) == 0) {
    config.system_config = "Ethos_U55_" + system_name;
  }
  config.ini = fmt::format("[System_Config.{}]\n{}\n[Memory_Mode.{}]\n", config.system_config,
                           system_text, config.memory_mode);
  for (const auto& [key, value] : mode) {
    if (key != "arena_cache_size") config.ini += fmt::format("{}={}\n", key, value);
  }
  return config;
}

}  // namespace tosaic
