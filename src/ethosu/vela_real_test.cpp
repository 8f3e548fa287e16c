// SPDX-License-Identifier: Apache-2.0
// The worker with the real Vela: that of $TOSAIC_VELA or of the project's environment.
#include <gtest/gtest.h>

#include "ethosu/payload.h"
#include "ethosu/vela.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "support/test_folder.h"
#include "tosa/flatbuffer.h"

namespace tosaic {
namespace {

constexpr std::string_view kConv = R"(tosa graph @main(%x: i8[1,4,4,3]) {
  %0 = const i8[2,1,1,3] [1, -2, 3, 4, 5, -127]
  %1 = const i32[2] [100, -70]
  %2 = const i8[1] [3]
  %3 = const i8[1] [0]
  %4 = const i32[1] [1073741824]
  %5 = const i8[1] [34]
  %6 = const i32[1] [0]
  %8: i32[1,4,4,2] = tosa.conv2d(%x, %0, %1, %2, %3) {pad = [0, 0, 0, 0], stride = [1, 1], dilation = [1, 1], local_bound = false, acc_type = i32}
  %9: i8[1,4,4,2] = tosa.rescale(%8, %4, %5, %6, %3) {scale32 = true, rounding_mode = "single", per_channel = false, input_unsigned = false, output_unsigned = false}
  return %9
}
)";

std::vector<std::byte> conv() {
  auto module = parse_module(kConv, "test.tir");
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return {};
  }
  EXPECT_TRUE(verify(**module).ok());
  auto bytes = tosa::write_flatbuffer(*(*module)->main(), {});
  if (!bytes) {
    ADD_FAILURE() << render(bytes.error());
    return {};
  }
  return *std::move(bytes);
}

Expected<VelaResult> run(VelaOptions options) {
  return run_vela(conv(), options);
}

std::vector<std::byte> payload(const Expected<VelaResult>& result) {
  if (!result) {
    ADD_FAILURE() << render(result.error());
    return {};
  }
  auto bytes = write_vela_bin_stream(*result);
  EXPECT_TRUE(bytes.ok());
  return *bytes;
}

TEST(VelaReal, BindingAndCommandGiveTheSamePayload) {
  for (const char* accelerator : {"ethos-u55-128", "ethos-u65-512", "ethos-u85-256"}) {
    for (VelaOptimise optimise : {VelaOptimise::kPerformance, VelaOptimise::kSize}) {
      VelaOptions options;
      options.accelerator = accelerator;
      options.optimise = optimise;
      options.method = VelaMethod::kBinding;
      auto binding = payload(run(options));
      options.method = VelaMethod::kCommand;
      EXPECT_EQ(payload(run(options)), binding) << accelerator;
    }
  }
}

TEST(VelaReal, AVendorsNamesGiveTheSameBytesAsArms) {
  // What Arm calls Ethos_U55_High_End_Embedded and Shared_Sram.
  TestFolder folder;
  VelaOptions options;
  options.config_file = folder.put("board.ini", std::string(R"([System_Config.Board_7]
core_clock=500e6
axi0_port=Sram
axi1_port=OffChipFlash
Sram_clock_scale=1.0
Sram_burst_length=32
Sram_read_latency=32
Sram_write_latency=32
Sram_max_reads=4
Sram_max_writes=4
OffChipFlash_clock_scale=0.125
OffChipFlash_burst_length=128
OffChipFlash_read_latency=64
OffChipFlash_write_latency=0
OffChipFlash_max_reads=2
OffChipFlash_max_writes=0
[Memory_Mode.Base]
const_mem_area=Axi1
arena_mem_area=Axi0
cache_mem_area=Axi0
[Memory_Mode.Mode_7]
inherit=Memory_Mode.Base
)"));
  options.system_config = "Board_7";
  options.memory_mode = "Mode_7";
  auto vendor = run(options);
  auto arm = run({});
  EXPECT_EQ(payload(vendor), payload(arm));
  ASSERT_TRUE(vendor.ok() && arm.ok());
  // With another AXI width the estimate would differ.
  EXPECT_EQ(vendor->performance.total_cycles, arm->performance.total_cycles);
}

TEST(VelaReal, ReportsInputsOutputsAndCostOfEachOperation) {
  VelaOptions options;
  options.enable_db = true;
  options.method = VelaMethod::kBinding;
  auto result = run(options);
  ASSERT_TRUE(result.ok()) << render(result.error());
  ASSERT_EQ(result->inputs.size(), 1u);
  EXPECT_EQ(result->inputs[0].shape, (std::array<int32_t, 6>{1, 1, 1, 4, 4, 3}));
  EXPECT_EQ(result->inputs[0].element_size, 1);
  EXPECT_EQ(result->inputs[0].num_bytes, 48u);
  ASSERT_EQ(result->outputs.size(), 1u);
  EXPECT_EQ(result->outputs[0].shape, (std::array<int32_t, 6>{1, 1, 1, 4, 4, 2}));
  EXPECT_EQ(result->performance.macs, 4u * 4 * 2 * 3);
  EXPECT_GT(result->performance.total_cycles, 0u);
  EXPECT_FALSE(result->performance.memories.empty());
  ASSERT_EQ(result->ops.size(), 1u);
  EXPECT_EQ(result->ops[0].kind, "Conv2D");
  EXPECT_EQ(result->ops[0].macs, 4u * 4 * 2 * 3);
  EXPECT_GE(result->ops[0].source_op, 0);
  EXPECT_FALSE(result->version.empty());
}

TEST(VelaReal, WhatVelaRefusesIsSaidInOneLine) {
  for (VelaMethod method : {VelaMethod::kBinding, VelaMethod::kCommand}) {
    VelaOptions options;
    options.method = method;
    std::vector<std::byte> broken = conv();
    broken.resize(broken.size() / 2);
    auto result = run_vela(broken, options);
    ASSERT_FALSE(result.ok());
    EXPECT_EQ(result.error().code, Code::kVelaRefused);
    EXPECT_NE(result.error().message.find("Failed to load TOSA model"), std::string::npos)
        << result.error().message;
    EXPECT_EQ(result.error().message.find('\n'), std::string::npos);
  }
}

TEST(VelaReal, SeveralGraphsAtOnceGiveWhatTheyGiveAlone) {
  std::vector<std::byte> broken = conv();
  broken.resize(broken.size() / 2);
  for (VelaMethod method : {VelaMethod::kBinding, VelaMethod::kCommand}) {
    VelaOptions options;
    options.method = method;
    const auto alone = payload(run(options));
    const auto good = run_vela_on_each(std::vector(4, conv()), options);
    ASSERT_EQ(good.size(), 4u);
    for (const auto& result : good)
      EXPECT_EQ(payload(result), alone);
    const auto bad = run_vela_on_each(std::vector{conv(), conv(), broken, conv(), broken}, options);
    ASSERT_EQ(bad.size(), 3u) << "nothing after the first error";
    EXPECT_EQ(payload(bad[1]), alone);
    ASSERT_FALSE(bad[2].ok());
    EXPECT_EQ(bad[2].error().code, Code::kVelaRefused);
  }
  EXPECT_TRUE(run_vela_on_each({}, {}).empty());
}

TEST(VelaReal, FlagsReachTheCommand) {
  VelaOptions options;
  options.extra_flags = {"--no-such-flag"};
  auto result = run(options);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().code, Code::kVelaRefused);
  EXPECT_NE(result.error().message.find("--no-such-flag"), std::string::npos);
}

}  // namespace
}  // namespace tosaic
