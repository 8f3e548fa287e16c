// SPDX-License-Identifier: Apache-2.0
#include "driver/dump_folder.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "support/output_file.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

TEST(DumpFolder, LosesWhatARunBeforeLeftAndNothingElse) {
  const TestFolder scratch;
  const std::string folder = scratch.file("a b/dump");
  ASSERT_TRUE(prepare_dump_folder(folder).ok());
  const std::string_view ours[] = {"01_fold_qdq.tir", "117_x.tir", "part0.tosa", "part12.payload",
                                   "main.tosa"};
  const std::string_view others[] = {"1_x.tir", "01.tir",     "01_x.txt",  "part.tosa",
                                     "part0.c", "main.tosa2", "notes.txt", "tosaic-fold_qdq.tir"};
  const auto write = [&](std::string_view name) {
    ASSERT_TRUE(write_file(fmt::format("{}/{}", folder, name), std::string_view("x")).ok());
  };
  std::ranges::for_each(ours, write);
  std::ranges::for_each(others, write);
  ASSERT_TRUE(prepare_dump_folder(folder).ok());
  for (std::string_view name : ours)
    EXPECT_FALSE(std::filesystem::exists(fmt::format("{}/{}", folder, name))) << name;
  for (std::string_view name : others)
    EXPECT_TRUE(std::filesystem::exists(fmt::format("{}/{}", folder, name))) << name;
}

TEST(DumpFolder, MustNotBeAFile) {
  const TestFolder scratch;
  const std::string file = scratch.file("file");
  ASSERT_TRUE(write_file(file, std::string_view("x")).ok());
  EXPECT_FALSE(prepare_dump_folder(file).ok());
}

}  // namespace
}  // namespace tosaic
