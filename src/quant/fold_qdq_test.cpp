// SPDX-License-Identifier: Apache-2.0
// Bad parameters, and folding undone. What folding gives is in test/passes/fold_qdq/.
#include "quant/fold_qdq.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

#include "ir/text.h"
#include "ir/verify.h"

namespace tosaic {
namespace {

constexpr std::string_view kInt8 = "quant_min = -128, quant_max = 127, dtype = i8";

/// The pass on a text graph: its text, or "CODE message (line)" of the error.
std::string folded(const std::string& text) {
  auto module = parse_module(text, "test.tir");
  if (!module) return render(module.error());
  if (Status s = verify(**module); !s) return render(s.error());
  PassContext context;
  if (Status s = run_fold_qdq(*(*module)->main(), context); !s) {
    return fmt::format("{} {} ({})", code_id(s.error().code), s.error().message,
                       s.error().where.line);
  }
  if (Status s = verify(**module); !s) return render(s.error());
  return print(**module);
}

std::string per_tensor(std::string_view scale, std::string_view zero_point,
                       std::string_view rest = kInt8) {
  return folded(
      fmt::format("aten graph @main(%x: f32[2,3]) {{\n"
                  "  %q: i8[2,3] = quantized_decomposed.quantize_per_tensor.default(%x) "
                  "{{scale = {}, zero_point = {}, {}}} loc(\"net.py\":41)\n"
                  "  return %q\n}}\n",
                  scale, zero_point, rest));
}

std::string per_channel(std::string_view scales, std::string_view zero_points, int axis) {
  return folded(fmt::format(
      "aten graph @main(%x: f32[2,3]) {{\n"
      "  %w = const i8[2,3] [1, 2, 3, 4, 5, 6]\n"
      "  %s = const f32{}\n"
      "  %z = const i64{}\n"
      "  %d: f32[2,3] = quantized_decomposed.dequantize_per_channel.default(%w, %s, %z) "
      "{{axis = {}, {}}} loc(\"net.py\":41)\n"
      "  %a: f32[2,3] = aten.add.Tensor(%x, %d)\n"
      "  return %a\n}}\n",
      scales, zero_points, axis, kInt8));
}

bool is_error(const std::string& found, std::string_view text) {
  return found.starts_with("E0305") && found.find(text) != std::string::npos &&
         found.ends_with("(41)");
}

TEST(QuantParameters, ScalesAreNormalFloat32Numbers) {
  EXPECT_FALSE(per_tensor("0.5", "0").starts_with("E"));
  // The least normal float32, and what lies below it.
  EXPECT_FALSE(per_tensor("1.1754943508222875e-38", "0").starts_with("E"));
  for (const char* scale : {"0.0", "-0.5", "nan", "inf", "1e-39", "1e-320", "1e39"}) {
    EXPECT_TRUE(is_error(per_tensor(scale, "0"), "scale")) << per_tensor(scale, "0");
  }
  for (const char* scales :
       {"[2] [0.5, 0]", "[2] [0.5, -1]", "[2] [nan, 1]", "[2] [inf, 1]", "[2] [1, 1e-39]"}) {
    EXPECT_TRUE(is_error(per_channel(scales, "[2] [0, 0]", 0), "scale"));
  }
}

TEST(QuantParameters, ZeroPointsAreValuesOfTheType) {
  EXPECT_FALSE(per_tensor("0.5", "-128").starts_with("E"));
  EXPECT_TRUE(is_error(per_tensor("0.5", "128"), "zero point 128"));
  EXPECT_TRUE(is_error(per_tensor("0.5", "-129"), "zero point -129"));
  EXPECT_TRUE(is_error(per_tensor("0.5", "4294967296"), "zero point 4294967296"));
  EXPECT_TRUE(is_error(per_channel("[2] [1, 1]", "[2] [0, 200]", 0), "zero point 200"));
}

TEST(QuantParameters, LimitsAndTypeBelongTogether) {
  const std::string_view i8 = "dtype = i8";
  EXPECT_TRUE(
      is_error(per_tensor("1.0", "0", "quant_min = -129, quant_max = 127, dtype = i8"), "limits"));
  EXPECT_TRUE(
      is_error(per_tensor("1.0", "0", "quant_min = 5, quant_max = 5, dtype = i8"), "limits"));
  EXPECT_TRUE(is_error(per_tensor("1.0", "0", "quant_min = 0, quant_max = 255, dtype = u8"), "u8"));
  EXPECT_TRUE(is_error(per_tensor("1.0", "0", "quant_min = 0, quant_max = 1, dtype = f32"), "f32"));
  EXPECT_FALSE(per_tensor("1.0", "0", fmt::format("quant_min = -127, quant_max = 127, {}", i8))
                   .starts_with("E"));
}

TEST(QuantParameters, ThereIsOnePerIndexOfTheAxis) {
  EXPECT_FALSE(per_channel("[2] [1, 1]", "[2] [0, 0]", 0).starts_with("E"));
  EXPECT_FALSE(per_channel("[3] [1, 1, 1]", "[3] [0, 0, 0]", -1).starts_with("E"));
  EXPECT_TRUE(is_error(per_channel("[3] [1, 1, 1]", "[3] [0, 0, 0]", 0), "3 scales for axis 0"));
  EXPECT_TRUE(is_error(per_channel("[2] [1, 1]", "[3] [0, 0, 0]", 0), "2 scales and 3 zero"));
  EXPECT_TRUE(is_error(per_channel("[0] []", "[0] []", 0), "0 scales"));
  EXPECT_TRUE(is_error(per_channel("[2] [1, 1]", "[2] [0, 0]", 2), "axis 2"));
  EXPECT_TRUE(is_error(per_channel("[2] [1, 1]", "[2] [0, 0]", -3), "axis -3"));
}

/// Text of a graph, with `unfold` done on the node that gives %name.
std::string unfolded(const std::string& text, std::string_view name) {
  auto module = parse_module(text, "test.tir");
  if (!module) return render(module.error());
  for (Node& node : (*module)->main()->nodes()) {
    if (node.result().name() != name) continue;
    if (Status s = unfold(node); !s) return render(s.error());
    break;
  }
  if (Status s = verify(**module); !s) return render(s.error());
  return print(**module);
}

std::string normalised(const std::string& text) {
  auto module = parse_module(text, "expected.tir");
  return module ? print(**module) : render(module.error());
}

TEST(Unfold, GivesFloatsAndQuantisesTheResult) {
  EXPECT_EQ(
      unfolded("aten graph @main(%x: i8<0.5,1>[4]) {\n"
               "  %s: i8<0.25,-3>[4] = aten.add.Tensor(%x, %x)\n"
               "  %r: i8<0.25,-3>[4] = aten.relu.default(%s)\n"
               "  return %r, %s\n}\n",
               "s"),
      normalised("aten graph @main(%x: i8<0.5,1>[4]) {\n"
                 "  %0: f32[4] = quantized_decomposed.dequantize_per_tensor.default(%x) {scale = "
                 "0.5, zero_point = 1, quant_min = -128, quant_max = 127, dtype = i8}\n"
                 "  %1: f32[4] = aten.add.Tensor(%0, %0)\n"
                 "  %s: i8<0.25,-3>[4] = quantized_decomposed.quantize_per_tensor.default(%1) "
                 "{scale = 0.25, zero_point = -3, quant_min = -128, quant_max = 127, dtype = i8}\n"
                 "  %r: i8<0.25,-3>[4] = aten.relu.default(%s)\n"
                 "  return %r, %s\n}\n"));
}

TEST(Unfold, DequantisesConstantsPerChannel) {
  // (q - zero point) * scale, by hand.
  EXPECT_EQ(
      unfolded("aten graph @main(%x: i8<0.5,0>[1,2]) {\n"
               "  %w = const i8<axis 0: 0.5,1; 2,0>[2,2] [1, 2, 3, 4]\n"
               "  %v = const i8<axis 1: 0.5,1; 2,0>[2,2] [1, 2, 3, 4]\n"
               "  %b = const f32[2] [1, 2]\n"
               "  %y: f32[1,2] = aten.linear.default(%x, %w, %b)\n"
               "  %z: f32[2,2] = aten.add.Tensor(%v, %v)\n"
               "  return %y, %z\n}\n",
               "y"),
      normalised("aten graph @main(%x: i8<0.5,0>[1,2]) {\n"
                 "  %v = const i8<axis 1: 0.5,1; 2,0>[2,2] [1, 2, 3, 4]\n"
                 "  %b = const f32[2] [1, 2]\n"
                 "  %w = const f32[2,2] [0, 0.5, 6, 8]\n"
                 "  %0: f32[1,2] = quantized_decomposed.dequantize_per_tensor.default(%x) {scale = "
                 "0.5, zero_point = 0, quant_min = -128, quant_max = 127, dtype = i8}\n"
                 "  %y: f32[1,2] = aten.linear.default(%0, %w, %b)\n"
                 "  %z: f32[2,2] = aten.add.Tensor(%v, %v)\n"
                 "  return %y, %z\n}\n"));
  EXPECT_NE(unfolded("aten graph @main() {\n"
                     "  %v = const i8<axis 1: 0.5,1; 2,0>[2,2] [1, 2, 3, 4]\n"
                     "  %z: f32[2,2] = aten.add.Tensor(%v, %v)\n"
                     "  return %z\n}\n",
                     "z")
                .find("const f32[2,2] [0, 4, 1, 8]"),
            std::string::npos);
}

TEST(Unfold, MakesARequantisationADequantiseAndAQuantise) {
  EXPECT_EQ(
      unfolded("aten graph @main(%x: u8<0.5,1>[4]) {\n"
               "  %q: i8<0.25,0>[4] = tosaic.requantize.default(%x)\n"
               "  return %q\n}\n",
               "q"),
      normalised("aten graph @main(%x: u8<0.5,1>[4]) {\n"
                 "  %0: f32[4] = quantized_decomposed.dequantize_per_tensor.default(%x) {scale = "
                 "0.5, zero_point = 1, quant_min = 0, quant_max = 255, dtype = u8}\n"
                 "  %q: i8<0.25,0>[4] = quantized_decomposed.quantize_per_tensor.default(%0) "
                 "{scale = 0.25, zero_point = 0, quant_min = -128, quant_max = 127, dtype = i8}\n"
                 "  return %q\n}\n"));
}

TEST(Unfold, LeavesFloatNodesAlone) {
  const std::string text = normalised(
      "aten graph @main(%x: f32[4]) {\n"
      "  %r: f32[4] = aten.relu.default(%x)\n"
      "  return %r\n}\n");
  EXPECT_EQ(unfolded(text, "r"), text);
}

TEST(Unfold, UndoesFolding) {
  const std::string attrs =
      " {scale = 0.5, zero_point = 1, quant_min = -128, quant_max = 127, dtype = i8}\n";
  const std::string folded_text = folded(
      "aten graph @main(%x: f32[4]) {\n"
      "  %q: i8[4] = quantized_decomposed.quantize_per_tensor.default(%x)" +
      attrs + "  %d: f32[4] = quantized_decomposed.dequantize_per_tensor.default(%q)" + attrs +
      "  %s: f32[4] = aten.add.Tensor(%d, %d)\n"
      "  %t: i8[4] = quantized_decomposed.quantize_per_tensor.default(%s)" +
      attrs + "  return %t\n}\n");
  EXPECT_NE(folded_text.find("%s: i8<0.5,1>[4] = aten.add.Tensor(%q, %q)"), std::string::npos);
  EXPECT_EQ(
      unfolded(folded_text, "s"),
      normalised("aten graph @main(%x: f32[4]) {\n"
                 "  %q: i8<0.5,1>[4] = "
                 "quantized_decomposed.quantize_per_tensor.default(%x)" +
                 attrs + "  %0: f32[4] = quantized_decomposed.dequantize_per_tensor.default(%q)" +
                 attrs +
                 "  %1: f32[4] = aten.add.Tensor(%0, %0)\n"
                 "  %s: i8<0.5,1>[4] = "
                 "quantized_decomposed.quantize_per_tensor.default(%1)" +
                 attrs + "  return %s\n}\n"));
}

}  // namespace
}  // namespace tosaic
