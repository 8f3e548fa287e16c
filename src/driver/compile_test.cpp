// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tosaic
