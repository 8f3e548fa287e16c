// SPDX-License-Identifier: Apache-2.0
#include "ir/attr.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "support/check.h"

namespace tosaic {
namespace {

constexpr std::array<int64_t, 3> kInts = {1, -2, 3};
constexpr std::array<double, 2> kReals = {0.5, 2.0};
constexpr std::array<bool, 2> kBools = {true, false};

std::vector<Attr> one_of_each() {
  return {Attr(),
          Attr::boolean(true),
          Attr::integer(1),
          Attr::real(1.0),
          Attr::dtype(DType::kI8),
          Attr::string("main"),
          Attr::graph("main"),
          Attr::ints(kInts),
          Attr::reals(kReals),
          Attr::bools(kBools)};
}

TEST(Attr, TextIsThatOfTextIr) {
  const std::vector<std::string> expected = {"none",       "true",         "1",     "1.0",
                                             "i8",         "\"main\"",     "@main", "[1, -2, 3]",
                                             "[0.5, 2.0]", "[true, false]"};
  const std::vector<Attr> attrs = one_of_each();
  for (size_t i = 0; i < attrs.size(); ++i)
    EXPECT_EQ(to_string(attrs[i]), expected[i]);
  EXPECT_EQ(to_string(Attr::string("a\"b\\c\n\x01")), R"("a\"b\\c\n\x01")");
  EXPECT_EQ(to_string(Attr::real(-INFINITY)), "-inf");
  EXPECT_EQ(to_string(Attr::real(NAN)), "nan");
  EXPECT_EQ(to_string(Attr::real(1e300)), "1e+300");
  EXPECT_EQ(to_string(Attr::ints({})), "[]");
}

TEST(Attr, EqualOnlyToTheSameKindAndValue) {
  const std::vector<Attr> attrs = one_of_each();
  for (size_t i = 0; i < attrs.size(); ++i) {
    for (size_t j = 0; j < attrs.size(); ++j)
      EXPECT_EQ(attrs[i] == attrs[j], i == j);
  }
  EXPECT_EQ(Attr::real(NAN), Attr::real(NAN));
  EXPECT_NE(Attr::real(0.0), Attr::real(-0.0));
  EXPECT_NE(Attr::ints(kInts), Attr::ints(std::span(kInts).first(2)));
}

TEST(Attr, CopiesOutliveTheirSource) {
  Arena arena;
  std::vector<Attr> copies;
  {
    std::string text = "a text that is too long to lie within the string object";
    std::vector<int64_t> ints(kInts.begin(), kInts.end());
    copies = {Attr::string(text).copy_to(arena), Attr::ints(ints).copy_to(arena)};
    text.assign(text.size(), 'x');
    ints.assign(ints.size(), 0);
  }
  EXPECT_EQ(copies[0].as_string(), "a text that is too long to lie within the string object");
  EXPECT_EQ(copies[1], Attr::ints(kInts));
  for (const Attr& attr : one_of_each())
    EXPECT_EQ(attr.copy_to(arena), attr);
}

TEST(Attr, AccessorsConvertOnlyWhatTheyPromise) {
  EXPECT_EQ(Attr::integer(3).as_real(), 3.0);
  EXPECT_EQ(Attr::boolean(true).as_int(), 1);
  EXPECT_THROW(Attr::real(1.0).as_int(), BugError);
  EXPECT_THROW(Attr().as_bool(), BugError);
  EXPECT_THROW(Attr::ints(kInts).as_reals(), BugError);
}

TEST(Attr, AreFoundByName) {
  const std::array<NamedAttr, 2> attrs = {{{"a", Attr::integer(1)}, {"b", Attr()}}};
  ASSERT_NE(find_attr(attrs, "b"), nullptr);
  EXPECT_TRUE(find_attr(attrs, "b")->is_none());
  EXPECT_EQ(find_attr(attrs, "c"), nullptr);
}

}  // namespace
}  // namespace tosaic
