// SPDX-License-Identifier: Apache-2.0
#include "support/diagnostic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>

#include "support/check.h"
#include "support/expected.h"
#include "test_paths.h"

namespace tosaic {
namespace {

constexpr Code kAllCodes[] = {
#define TOSAIC_CODE(code, name, meaning) Code::name,
#include "support/errors.def"
#undef TOSAIC_CODE
};

TEST(Diagnostic, renders_bytes_that_are_no_utf8_as_escapes) {
  const auto shown = [](std::string_view message) {
    const std::string text = render(error(Code::kZip, "{}", message));
    return text.substr(text.find("]: ") + 3);
  };
  EXPECT_EQ(shown("da\xf4"
                  "a"),
            "da\\xf4a\n");
  EXPECT_EQ(shown("größe → ∞ 𝛼"), "größe → ∞ 𝛼\n");
  EXPECT_EQ(shown("\xe2\x86"), "\\xe2\\x86\n");           // cut off
  EXPECT_EQ(shown("\xc0\xaf"), "\\xc0\\xaf\n");           // an overlong form
  EXPECT_EQ(shown("\xed\xa0\x80"), "\\xed\\xa0\\x80\n");  // half of a surrogate pair
  EXPECT_EQ(shown("\x1b[31m"), "\\x1b[31m\n");
}

TEST(Diagnostic, renders_every_part_in_the_published_form) {
  Diagnostic d =
      error(Code::kRejectTargetLimit,
            "aten.max_pool2d: kernel height {} is above {}, the limit of Ethos-U55", 300, 256)
          .at({"model.py", 41, "    x = F.max_pool2d(x, (300, 1))",
               "Net.stem.pool: int8[1,320,8,16]"})
          .with_note("node stays on the CPU and splits the model in 2 partitions")
          .with_hint("pool in two steps whose kernels multiply to 300");
  d.severity = Severity::kRemark;
  EXPECT_EQ(render(d),
            "model.py:41: remark[R0010]: aten.max_pool2d: kernel height 300 is above 256, the "
            "limit of Ethos-U55\n"
            "   41 |     x = F.max_pool2d(x, (300, 1))\n"
            "      |         in Net.stem.pool: int8[1,320,8,16]\n"
            "  note: node stays on the CPU and splits the model in 2 partitions\n"
            "  hint: pool in two steps whose kernels multiply to 300\n");
}

TEST(Diagnostic, leaves_out_the_parts_that_are_not_known) {
  EXPECT_EQ(render(error(Code::kOption, "bad value")), "error[E0104]: bad value\n");
  EXPECT_EQ(render(error(Code::kZip, "cut off").at({"a.pt2", 0, "", ""})),
            "a.pt2: error[E0201]: cut off\n");
  EXPECT_EQ(render(error(Code::kPass, "bad").at({"", 0, "", "Net.a"})),
            "error[E0312]: bad\n  in Net.a\n");
}

TEST(Diagnostic, lines_up_line_numbers_of_more_than_five_digits) {
  EXPECT_EQ(render(error(Code::kPass, "bad").at({"a.py", 1234567, "y = x\n", "Net"})),
            "a.py:1234567: error[E0312]: bad\n"
            "1234567 | y = x\n"
            "        |     in Net\n");
}

TEST(Diagnostic, lets_no_control_character_of_a_file_reach_the_terminal) {
  const std::string text = render(error(Code::kZip, "name '\x1b[2J'\nmore")
                                      .at({"a\nb\x7f", 1, "s\x1b", "m\r"})
                                      .with_note("n\x07")
                                      .with_hint("h\x08"));
  for (const char c : text)
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c != 0x7f)) << int{c};
  EXPECT_NE(text.find("a\\x0ab\\x7f:1: error"), std::string::npos) << text;
  EXPECT_NE(text.find("'\\x1b[2J'\n    more\n"), std::string::npos) << text;
}

TEST(Diagnostic, colours_change_nothing_but_the_escape_sequences) {
  for (const Severity severity : {Severity::kError, Severity::kWarning, Severity::kRemark}) {
    Diagnostic d = error(Code::kPass, "bad").at({"a.py", 3, "  y", "Net"}).with_note("n");
    d.hint = "h";
    d.severity = severity;
    const std::string colored = render(d, /*color=*/true);
    std::string plain;
    for (size_t i = 0; i < colored.size(); ++i) {
      if (colored[i] == '\x1b')
        i = colored.find('m', i);
      else
        plain += colored[i];
    }
    EXPECT_NE(colored, plain);
    EXPECT_EQ(plain, render(d));
  }
}

TEST(Diagnostic, codes_are_unique_and_in_the_order_of_their_numbers_within_a_kind) {
  std::set<std::string_view> seen;
  std::string_view before;
  for (const Code code : kAllCodes) {
    const std::string_view id = code_id(code);
    EXPECT_EQ(id.size(), 5u) << id;
    EXPECT_NE(std::string_view("ERVW").find(id[0]), std::string_view::npos) << id;
    EXPECT_TRUE(seen.insert(id).second) << id << " stands twice";
    if (!before.empty() && before[0] == id[0]) {
      EXPECT_LT(before, id);
    }
    EXPECT_FALSE(code_meaning(code).empty());
    EXPECT_FALSE(code_meaning(code).ends_with('.')) << id;
    before = id;
  }
  EXPECT_EQ(code_id(Code::kNpy), "E0202");
}

TEST(Diagnostic, every_code_is_documented_once_and_nothing_else_is) {
  std::ifstream in(TOSAIC_SOURCE_DIR "/docs/errors.md");
  ASSERT_TRUE(in) << "docs/errors.md cannot be read";
  std::multiset<std::string> documented;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("| `")) documented.insert(line.substr(3, line.find('`', 3) - 3));
  }
  for (const Code code : kAllCodes) {
    EXPECT_EQ(documented.count(std::string(code_id(code))), 1u) << code_id(code);
  }
  EXPECT_EQ(documented.size(), std::size(kAllCodes));
}

TEST(NearestName, finds_typing_errors) {
  const std::vector<std::string_view> targets = {"ethos-u55-128", "ethos-u55-256", "ethos-u65-256",
                                                 "tosa"};
  EXPECT_EQ(nearest_name("ethos-u55-265", targets), "ethos-u55-256");
  EXPECT_EQ(nearest_name("ethosu65-256", targets), "ethos-u65-256");
  EXPECT_EQ(nearest_name("toas", targets), "tosa");
  EXPECT_EQ(nearest_name("tosa", targets), "tosa");
}

TEST(NearestName, gives_nothing_when_nothing_is_near) {
  EXPECT_EQ(nearest_name("cortex-m7", {"tosa", "ethos-u85-1024"}), "");
  EXPECT_EQ(nearest_name("", {"a", ""}), "");
  EXPECT_EQ(nearest_name("x", {"y"}), "");
  EXPECT_EQ(nearest_name("x", {}), "");
  EXPECT_EQ(nearest_name(std::string(100000, 'x'), {std::string_view("xy")}), "");
}

TEST(Check, says_where_and_what_failed) {
  try {
    TOSAIC_CHECK(1 + 1 == 3, "arithmetic");
    FAIL() << "nothing was thrown";
  } catch (const BugError& bug) {
    const std::string text = bug.what();
    EXPECT_NE(text.find("diagnostic_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("'1 + 1 == 3' failed: arithmetic"), std::string::npos) << text;
  }
}

Expected<int> half(int x) {
  if (x % 2 != 0) return error(Code::kOption, "{} is odd", x);
  return x / 2;
}

Expected<int> quarter(int x) {
  TOSAIC_TRY(const int first, half(x));
  TOSAIC_TRY(const int second, half(first));
  return second;
}

TEST(Expected, passes_on_the_value_or_the_first_error) {
  EXPECT_EQ(*quarter(12), 3);
  const auto failed = quarter(6);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.error().message, "3 is odd");
}

}  // namespace
}  // namespace tosaic
