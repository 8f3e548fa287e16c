// SPDX-License-Identifier: Apache-2.0
#include "ethosu/vela_config.h"

#include <gtest/gtest.h>

#include "ethosu/vela_ini.h"

namespace tosaic {
namespace {

constexpr std::string_view kIni = R"(; comment
[System_Config.Ethos_U55_Board]
core_clock=500e6
axi0_port=Sram
axi1_port=OffChipFlash
Sram_clock_scale=1.0
OffChipFlash_burst_length=128
[System_Config.My_Board]
inherit=System_Config.Ethos_U55_Board
sram_clock_scale = 0.5
[System_Config.Ethos_U85_Board]
axi0_port=Sram
axi1_port=Dram
[Memory_Mode.Shared_Sram]
const_mem_area=Axi1
arena_mem_area=Axi0
cache_mem_area=Axi0
[Memory_Mode.Sized]
inherit=Memory_Mode.Shared_Sram
arena_cache_size: 1000
[Memory_Mode.Dedicated_Sram]
const_mem_area=Axi1
arena_mem_area=Axi1
cache_mem_area=Axi0
)";

VelaOptions options(std::string system, std::string mode,
                    std::string accelerator = "ethos-u55-128") {
  VelaOptions o;
  o.system_config = std::move(system);
  o.memory_mode = std::move(mode);
  o.accelerator = std::move(accelerator);
  return o;
}

Diagnostic error_of(std::string_view text, const VelaOptions& o) {
  auto config = resolve_vela_config(text, "board.ini", o);
  EXPECT_FALSE(config.ok());
  return config ? Diagnostic() : config.error();
}

/// `line` in place of the clock of a small configuration.
Diagnostic error_with_line(std::string line) {
  std::string text =
      "[System_Config.Ethos_U55_B]\n" + line +
      "\naxi0_port=Sram\naxi1_port=OffChipFlash\n"
      "[Memory_Mode.M]\nconst_mem_area=Axi1\narena_mem_area=Axi0\ncache_mem_area=Axi0\n";
  return error_of(text, options("Ethos_U55_B", "M"));
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(VelaConfig, GivesOtherNamesThePrefixFromWhichVelaTakesTheAxiWidth) {
  auto config = resolve_vela_config(kIni, "board.ini", options("My_Board", "Shared_Sram"));
  ASSERT_TRUE(config.ok()) << config.error().message;
  EXPECT_EQ(config->system_config, "Ethos_U55_My_Board");
  EXPECT_TRUE(has(config->ini, "[System_Config.Ethos_U55_My_Board]"));
  // Inherited keys are there, the own one wins, and memories have Vela's spelling.
  EXPECT_TRUE(has(config->ini, "Sram_clock_scale=0.5"));
  EXPECT_TRUE(has(config->ini, "OffChipFlash_burst_length=128"));
  EXPECT_FALSE(has(config->ini, "inherit"));
  config =
      resolve_vela_config(kIni, "board.ini", options("My_Board", "Shared_Sram", "ethos-u65-256"));
  ASSERT_TRUE(config.ok());
  EXPECT_EQ(config->system_config, "My_Board");
}

TEST(VelaConfig, ArenaCacheSizeIsTheOptionElseTheModesElseTheAddressSpace) {
  auto size = [](VelaOptions o) {
    return resolve_vela_config(kIni, "board.ini", o)->arena_cache_size;
  };
  EXPECT_EQ(size(options("My_Board", "Shared_Sram")), uint64_t{1} << 32);
  EXPECT_EQ(size(options("My_Board", "Shared_Sram", "ethos-u65-256")), uint64_t{1} << 40);
  EXPECT_EQ(size(options("My_Board", "Sized")), 1000u);
  VelaOptions o = options("My_Board", "Sized");
  o.arena_cache_size = 77;
  EXPECT_EQ(size(o), 77u);
}

TEST(VelaConfig, UnknownSectionsAreNamedWithThoseThatExist) {
  Diagnostic d = error_of(kIni, options("Ethos_U55_Bord", "Shared_Sram"));
  EXPECT_EQ(d.code, Code::kVelaConfig);
  EXPECT_TRUE(has(d.message, "board.ini") && has(d.message, "Ethos_U55_Bord") &&
              has(d.message, "--system-config"));
  EXPECT_TRUE(has(d.notes.at(0), "Ethos_U55_Board, My_Board"));
  EXPECT_FALSE(has(d.notes.at(0), "Ethos_U85_Board"));
  EXPECT_TRUE(has(d.hint, "Ethos_U55_Board"));
  d = error_of(kIni, options("My_Board", "shared_sram"));
  EXPECT_TRUE(has(d.hint, "Shared_Sram"));
  EXPECT_TRUE(has(d.message, "--memory-mode"));
}

TEST(VelaConfig, ConfigurationsOfAnotherFamilyOrWithoutRoomForFeatureMapsAreRefused) {
  EXPECT_TRUE(
      has(error_of(kIni, options("Ethos_U85_Board", "Shared_Sram")).message, "ethos-u55-128"));
  Diagnostic d = error_of(kIni, options("My_Board", "Dedicated_Sram"));
  EXPECT_TRUE(has(d.message, "arena_mem_area into OffChipFlash"));
}

TEST(VelaConfig, DefaultsAreThoseOfTheFamily) {
  const std::vector<std::array<std::string_view, 3>> rows = {
      {"ethos-u55-32", "Ethos_U55_High_End_Embedded", "Shared_Sram"},
      {"ethos-u65-512", "Ethos_U65_High_End", "Dedicated_Sram_384KB"},
      {"ethos-u85-2048", "Ethos_U85_SYS_DRAM_Mid", "Sram_Only"}};
  for (const auto& [name, system, mode] : rows) {
    auto a = parse_accelerator(name);
    ASSERT_TRUE(a.ok());
    EXPECT_EQ(a->default_system_config, system);
    EXPECT_EQ(a->default_memory_mode, mode);
  }
  auto two_cores = parse_accelerator("ethos-u65-512");
  EXPECT_EQ(two_cores->macs, 256);
  EXPECT_EQ(two_cores->cores, 2);
  auto none = parse_accelerator("ethos-u55-127");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, Code::kTargetName);
}

TEST(VelaConfig, BadValuesAreRefusedWithTheirKey) {  // M28
  for (const char* value : {"abc", "nan", "inf", "1e400", "-1", "0", "", "500e6 ; MHz"}) {
    Diagnostic d = error_with_line(std::string("core_clock=") + value);
    EXPECT_EQ(d.code, Code::kVelaConfig) << value;
    EXPECT_TRUE(has(d.message, "core_clock")) << d.message;
  }
  for (const char* line :
       {"Sram_burst_length=1.5", "Sram_read_latency=-3", "Sram_max_reads=99999999999999999999"}) {
    EXPECT_EQ(error_with_line(line).code, Code::kVelaConfig) << line;
  }
  Diagnostic d = error_of("[System_Config.Ethos_U55_B]\naxi0_port=SRAM\n[Memory_Mode.M]\n",
                          options("Ethos_U55_B", "M"));
  EXPECT_TRUE(has(d.message, "axi0_port"));
}

TEST(VelaConfig, InheritanceHasAnEnd) {  // M28
  Diagnostic d = error_with_line("inherit=System_Config.Ethos_U55_B");
  EXPECT_TRUE(has(d.message, "inherits from itself"));
  d = error_with_line("inherit=System_Config.None");
  EXPECT_TRUE(has(d.message, "does not exist"));
  d = error_of(
      "[System_Config.A]\ninherit=System_Config.B\n[System_Config.B]\ninherit=System_Config.A\n["
      "Memory_Mode.M]\n",
      options("A", "M"));
  EXPECT_TRUE(has(d.message, "inherits from itself"));
}

TEST(VelaIni, TakesByteOrderMarkAndCarriageReturns) {  // M28
  auto ini = parse_vela_ini("\xEF\xBB\xBF[A]\r\nKey = 1\r\n\r\n# x\r\n[B]\r\nk: v w\r\n", "f.ini");
  ASSERT_TRUE(ini.ok()) << ini.error().message;
  ASSERT_EQ(ini->sections.size(), 2u);
  EXPECT_EQ(ini->sections[0].keys.at("key"), "1");
  EXPECT_EQ(ini->sections[1].keys.at("k"), "v w");
  EXPECT_EQ(ini->sections[1].line, 5);
}

TEST(VelaIni, MalformedTextIsRefusedWithItsLine) {  // M28
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"[A]\nk=1\nk=2\n", "f.ini:3"},
      {"[A]\n[B]\n[A]\n", "f.ini:3"},
      {"k=1\n", "f.ini:1"},
      {"[A]\nnonsense\n", "f.ini:2"},
      {"[A\n", "f.ini:1"},
      {"[A]\nk=1\n  more\n", "f.ini:3"},
      {std::string("[A]\nk=\0x\n", 9), "f.ini:2"},
      {"[A]\n=1\n", "f.ini:2"}};
  for (const auto& [text, where] : cases) {
    auto ini = parse_vela_ini(text, "f.ini");
    ASSERT_FALSE(ini.ok()) << text;
    EXPECT_EQ(ini.error().code, Code::kVelaConfig);
    EXPECT_TRUE(has(ini.error().message, where)) << ini.error().message;
  }
  EXPECT_FALSE(parse_vela_ini("[A]\nk=" + std::string(10'000'000, 'x'), "f.ini").ok());
  std::string sections;
  for (int i = 0; i < 2000; i++)
    sections += "[" + std::to_string(i) + "]\n";
  EXPECT_FALSE(parse_vela_ini(sections, "f.ini").ok());
}

}  // namespace
}  // namespace tosaic
