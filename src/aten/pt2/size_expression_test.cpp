// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/size_expression.h"

#include <gtest/gtest.h>

#include <string>

#include "support/diagnostic.h"

namespace tosaic::aten::pt2 {
namespace {

constexpr std::string_view kS = "Symbol('s0', positive=True, integer=True)";

std::string integer(int64_t value) {
  return "Integer(" + std::to_string(value) + ")";
}
std::string call(std::string_view name, int64_t a, int64_t b) {
  return std::string(name) + "(" + integer(a) + ", " + integer(b) + ")";
}

/// The value as text, "?" when it is not known, else the code of the error.
std::string result_of(std::string_view expression, const SymbolValues& values = {}) {
  const auto value = evaluate_size(expression, values);
  if (!value) return std::string(code_id(value.error().code));
  return *value ? std::to_string(**value) : "?";
}

TEST(SizeExpression, FunctionsRoundAsPythonDoes) {
  EXPECT_EQ(result_of(call("FloorDiv", 7, 2)), "3");
  EXPECT_EQ(result_of(call("FloorDiv", -7, 2)), "-4");   // -7 // 2
  EXPECT_EQ(result_of(call("FloorDiv", 7, -2)), "-4");   // 7 // -2
  EXPECT_EQ(result_of(call("PythonMod", -7, 3)), "2");   // -7 % 3
  EXPECT_EQ(result_of(call("PythonMod", 7, -3)), "-2");  // 7 % -3
  EXPECT_EQ(result_of(call("CeilDiv", 7, 2)), "4");
  EXPECT_EQ(result_of(call("CleanDiv", 6, 2)), "3");
  EXPECT_EQ(result_of(call("Pow", 3, 4)), "81");
  EXPECT_EQ(result_of(call("Max", 3, 4)), "4");
  EXPECT_EQ(result_of(call("Min", 3, 4)), "3");
  EXPECT_EQ(result_of("ModularIndexing(Integer(29), Integer(4), Integer(5))"), "2");  // 29 // 4 % 5
}

TEST(SizeExpression, SymbolsTakeTheirValues) {
  const std::string text = "Add(Mul(Integer(2), " + std::string(kS) + "), Integer(-1))";
  EXPECT_EQ(result_of(text, {{"s0", 5}}), "9");
  EXPECT_EQ(result_of(text, {{"s1", 5}}), "?");
  EXPECT_EQ(symbols_of("Add(" + text + ", " + std::string(kS) + ", Symbol('u1'))"),
            (std::vector<std::string_view>{"s0", "u1"}));
}

TEST(SizeExpression, WhatIsNoExpressionIsAnError) {
  for (const std::string text : {"", "s0", "Add(", "Add()", "Integer(1", "Integer(x)", "Symbol(s0)",
                                 "Symbol('s0'", "FloorDiv(Integer(1))", "Integer(1) Integer(2)"}) {
    EXPECT_EQ(result_of(text), "E0302") << text;
  }
  EXPECT_EQ(result_of(call("FloorDiv", 1, 0)), "E0302");
  EXPECT_EQ(result_of(call("CleanDiv", 7, 2)), "E0302");
  EXPECT_EQ(result_of(call("Mul", INT64_MAX, 2)), "E0302");
  EXPECT_EQ(result_of(call("Add", INT64_MAX, 1)), "E0302");
  EXPECT_EQ(result_of(call("FloorDiv", INT64_MIN, -1)), "E0302");
  EXPECT_EQ(result_of(call("Pow", 10, 40)), "E0302");
  EXPECT_EQ(result_of("sin(Integer(1))"), "E0304");
  std::string nested;
  for (int i = 0; i < 100'000; ++i)
    nested += "Add(";
  EXPECT_EQ(result_of(nested), "E0302");
}

}  // namespace
}  // namespace tosaic::aten::pt2
