// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <thread>

#include "support/test_folder.h"
#include "target/targets.h"

namespace tosaic {
namespace {

// Nodes are asked about one by one before they are taken. Whatever passes then make of them is
// asked about again: nothing that the target lacks is written.
TEST(Compile, WhatPassesMadeIsCheckedAgainstTheTarget) {
  const TestFolder folder;
  CompileOptions options;
  options.input = folder.put("x.tir", std::string("aten graph @main(%x: f32[2,3]) {\n"
                                                  "  %y: f32[2,3] = aten.tanh.default(%x)\n"
                                                  "  return %y\n}\n"));
  options.output = folder.file("x.tosa");
  auto target = find_target("tosa-fp");
  ASSERT_TRUE(target.ok());
  options.target = *target;
  auto report = compile(options);
  ASSERT_TRUE(report.ok()) << render(report.error());
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"x.tir", "x.tosa"}));

  options.output = folder.file("y.tosa");
  options.target.rows = [](const Node& node, const Target&) -> std::optional<Reject> {
    if (node.graph().num_outputs() == 0) return std::nullopt;  // while it is being lowered
    return reject(Code::kRejectTargetOp, "the target lacks it");
  };
  report = compile(options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.error().code, Code::kVerifyTarget) << render(report.error());
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"x.tir", "x.tosa"}));
}

// Two convolutions around an activation, quantised.
constexpr const char* kProgram = R"(aten graph @main(%x: f32[1,2,6,6]) {
  %w = const i8<axis 0: 0.5,0,-127..127; 0.25>[2,2,1,1] [-127, 73, 5, 9]
  %b = const i32<axis 0: 0.25,0,-2147483647..2147483647; 0.125>[2] [10, -20]
  %q: i8<0.5,-6>[1,2,6,6] = quantized_decomposed.quantize_per_tensor.default(%x) {scale = 0.5, zero_point = -6, quant_min = -128, quant_max = 127, dtype = i8}
  %c: i8<0.5,-6>[1,2,6,6] = aten.conv2d.default(%q, %w, %b)
  %r: i8<0.5,-6>[1,2,6,6] = aten.relu.default(%c)
  %d: i8<0.125,-31>[1,2,6,6] = aten.conv2d.default(%r, %w, %b)
  %y: f32[1,2,6,6] = quantized_decomposed.dequantize_per_tensor.default(%d) {scale = 0.125, zero_point = -31, quant_min = -128, quant_max = 127, dtype = i8}
  return %y
}
)";

/// Compilations of one program that differ in what a run could leave behind for the next.
std::map<std::string, CompileOptions> different_options(const TestFolder& folder) {
  std::map<std::string, CompileOptions> all;
  const std::string input = folder.put("x.tir", std::string(kProgram));
  const auto add = [&](const std::string& name, std::string_view target) -> CompileOptions& {
    CompileOptions& o = all[name];
    o.input = input;
    o.target = *find_target(target);
    o.vela.accelerator = o.target.name;
    o.vela.system_config = o.target.default_system_config;
    o.vela.memory_mode = o.target.default_memory_mode;
    return o;
  };
  add("int.tosa", "tosa-int");
  add("old.tosa", "tosa-int").tosa_version = {0, 80, 1};
  add("unsigned.tosa", "tosa-int").io.dtype = DType::kU8;
  add("plain.tosa", "tosa-int").passes.disabled = {"choose_layout", "canonicalise"};
  add("u55.pte", "ethos-u55-128");
  add("small.pte", "ethos-u55-128").vela.optimise = VelaOptimise::kSize;
  add("nhwc.pte", "ethos-u85-256").io.channels_last = true;
  add("cpu.pte", "cpu");
  return all;
}

/// The bytes that one compilation writes into a new folder.
std::string compiled(const std::string& name, CompileOptions options) {
  const TestFolder folder;
  options.output = folder.file(name);
  if (name.starts_with("small")) options.dump_dir = options.passes.dump_dir = folder.file("a b/c");
  const auto report = compile(options);
  if (!report) {
    ADD_FAILURE() << name << ": " << render(report.error());
    return {};
  }
  return folder.get(name);
}

TEST(Compile, ARunLeavesNothingForTheNext) {
  const TestFolder folder;
  const auto all = different_options(folder);
  std::map<std::string, std::string> first;
  for (const auto& [name, options] : all)
    first[name] = compiled(name, options);
  EXPECT_EQ(std::set<std::string>({first["int.tosa"], first["old.tosa"], first["unsigned.tosa"],
                                   first["plain.tosa"], first["u55.pte"], first["nhwc.pte"],
                                   first["cpu.pte"]})
                .size(),
            7U)
      << "options that change nothing test nothing";
  for (auto it = all.rbegin(); it != all.rend(); ++it) {
    EXPECT_EQ(compiled(it->first, it->second), first[it->first]) << it->first;
  }
}

TEST(Compile, ThreadsGetWhatOneAloneGets) {
  const TestFolder folder;
  const auto all = different_options(folder);
  std::map<std::string, std::string> forward;
  std::map<std::string, std::string> backward;
  {
    const std::jthread other([&] {
      for (const auto& [name, options] : all)
        forward[name] = compiled(name, options);
    });
    for (auto it = all.rbegin(); it != all.rend(); ++it)
      backward[it->first] = compiled(it->first, it->second);
  }
  EXPECT_EQ(forward, backward);
  for (const auto& [name, options] : all)
    EXPECT_EQ(compiled(name, options), forward[name]) << name;
}

}  // namespace
}  // namespace tosaic
