// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/location.h"

#include <gtest/gtest.h>

namespace tosaic::aten::pt2 {
namespace {

TEST(Pt2Location, TakesTheUsersInnermostFrame) {
  Location location;
  decode_stack(
      "File \"/home/u/net.py\", line 28, in forward\n    return self.head(self.stem(x))\n"
      "  File \"/home/u/stem.py\", line 7, in forward\n    return self.conv(x)\n"
      "  File \"/v/lib/python3.11/site-packages/torch/nn/modules/conv.py\", line 565, in forward\n"
      "    return self._conv_forward(input, self.weight, self.bias)",
      location);
  EXPECT_EQ(location.file, "/home/u/stem.py");
  EXPECT_EQ(location.line, 7u);
  EXPECT_EQ(location.source, "return self.conv(x)");
}

TEST(Pt2Location, TakesTheLastFrameWhenNoneIsTheUsers) {
  Location location;
  decode_stack(
      "File \"/v/site-packages/torch/nn/modules/container.py\", line 253, in forward\n    a\n"
      "  File \"/v/site-packages/torch/nn/modules/conv.py\", line 565, in forward\n    b",
      location);
  EXPECT_EQ(location.line, 565u);
  EXPECT_EQ(location.source, "b");
}

TEST(Pt2Location, SurvivesDamagedTraces) {
  for (const std::string_view stack :
       {"", "File \"", "File \"a", "File \"a\"", "File \"a\", line ", "File \"a\", line x\n",
        "File \"a\", line 99999999999999\n", "nothing", "File \"File \"File \"\n"}) {
    Location location;
    decode_stack(stack, location);
    EXPECT_EQ(location.line, 0u) << stack;
  }
}

TEST(Pt2Location, WritesModulePathsAsPythonDoes) {
  EXPECT_EQ(decode_modules("L__self__,,nets.Net"), "Net");
  EXPECT_EQ(decode_modules("L__self__,,nets.Net;L__self___stem,stem,torch.nn.Sequential;"
                           "L__self___stem_0,stem.0,torch.nn.Conv2d"),
            "Net.stem.0");
  EXPECT_EQ(decode_modules("L__self__,,nets.Net;k,L['self'].blocks[3].conv,torch.nn.Conv2d"),
            "Net.blocks.3.conv");
  EXPECT_EQ(decode_modules("L__self__,,torch.export.<locals>.Wrapper"), "");
  EXPECT_EQ(decode_modules(""), "");
  EXPECT_EQ(decode_modules(";;,"), "");
}

}  // namespace
}  // namespace tosaic::aten::pt2
