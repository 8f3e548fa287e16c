// SPDX-License-Identifier: Apache-2.0
#include "support/shell_word.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "support/printable.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

/// What bash makes of one word: the first argument that printf sees.
std::string read_by_bash(const std::string& word, const TestFolder& folder) {
  const std::string script = folder.put("script", "printf %s " + word);
  std::FILE* pipe = ::popen(("bash '" + script + "'").c_str(), "r");
  std::string text;
  std::array<char, 256> buffer;
  for (size_t got; (got = std::fread(buffer.data(), 1, buffer.size(), pipe)) != 0;)
    text.append(buffer.data(), got);
  EXPECT_EQ(::pclose(pipe), 0);
  return text;
}

TEST(ShellWord, IsReadBackByTheShellAndShownByATerminal) {
  const TestFolder folder;
  for (const std::string text : {"model.pt2", "a b/out", "it's", "", "$HOME", "a\\b", "~", "*",
                                 "a\"b", "x;rm -rf", "n\nn", "t\tt", "größe.pt2",
                                 "\xff\xfe"
                                 "1",
                                 "\x1b[31m", "'\n'", "#c", "!x", "größe\n"}) {
    const std::string word = shell_word(text);
    EXPECT_EQ(read_by_bash(word, folder), text) << word;
    EXPECT_EQ(printable_line(word), word);
  }
}

TEST(ShellWord, StaysReadableWhereItCan) {
  EXPECT_EQ(shell_word("nets/mv2-1.0.pt2"), "nets/mv2-1.0.pt2");
  EXPECT_EQ(shell_word("x=1,3,8,8"), "x=1,3,8,8");
  EXPECT_EQ(shell_word("größe 1"), "'größe 1'");
}

}  // namespace
}  // namespace tosaic
