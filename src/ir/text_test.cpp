// SPDX-License-Identifier: Apache-2.0
// Text IR: what the printer writes, that it reads back as the same, and that the parser answers any
// text with a module or a Diagnostic.
#include "ir/text.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "ir/test_ops.h"

namespace tosaic {
namespace {

std::unique_ptr<Module> parsed(std::string_view text) {
  auto module = parse_module(text, "test.tir");
  if (!module) {
    ADD_FAILURE() << render(module.error());
    return std::make_unique<Module>();
  }
  return *std::move(module);
}

void expect_round_trip(std::string_view text) {
  EXPECT_EQ(print(*parsed(text)), text);
}

/// The message for a text that is wrong, "" when there is none.
Diagnostic error_of(std::string_view text) {
  auto module = parse_module(text, "bad.tir");
  if (module.ok()) {
    ADD_FAILURE() << "parsed: " << text;
    return {};
  }
  EXPECT_EQ(module.error().code, Code::kTirSyntax);
  EXPECT_EQ(module.error().where.file, "bad.tir");
  return std::move(module).error();
}

/// The same for what stands between `{` and the return of a graph with input %x.
std::string body_error(std::string_view body) {
  return error_of(fmt::format("mixed graph @main(%x: f32[2,3]) {{\n{}\nreturn %x\n}}", body))
      .message;
}

const Constant& constant_of(std::string_view type_and_data) {
  static std::vector<std::unique_ptr<Module>> modules;
  modules.push_back(parsed(
      fmt::format("mixed graph @main() {{\n  %c = const {}\n  return %c\n}}\n", type_and_data)));
  if (modules.back()->main() == nullptr) throw std::runtime_error("no constant");
  return *modules.back()->main()->output(0)->constant();
}

std::string printed_constant(const Constant& constant, Module& module, PrintOptions options = {}) {
  Graph graph(module, "g", Dialect::kMixed);
  Value* value = &graph.add_constant(constant);
  graph.set_outputs({&value, 1});
  const std::string text = print(graph, options);
  const size_t begin = text.find("const ") + 6;
  return text.substr(begin, text.find('\n', begin) - begin);
}

TEST(Text, ShowsEveryFormAndReadsItBack) {
  expect_round_trip(R"tir(aten graph @main(%x: f32[1,8], %b: i8<0.1,0>[s0,8]) {
  %w = const f32[8] [1, 2.5, 0.1, 3, 4, 5, 6, 7]
  %c: f32[1,16] = test.list([%x, %x], none, []) {dim = 1} loc("model.py":41 "Net.stem.pool")
  %y: f32[1,8], %z: i64[1,8] = test.other.variant(%x, none) {dim = 1, keepdim = true}
  test.unary(%w)
  %r: f32[1,8] = call(%c) {callee = @part0} loc("a.py" "" "x = f(\"y\")")
  return %y, %z, %b, %r
}

tosa graph @part0(%0: f32[1,16]) {
  %1: f32[1,8] = test.unary(%0) {pad = [0, 0, 1, 1], acc_type = i32, mode = "a\n\"b\"", v = none}
  return %1
}

builtin graph @"odd name"() {
  return
}
)tir");
}

TEST(Text, ShowsEveryKindOfAttribute) {
  expect_round_trip(R"tir(mixed graph @main() {
  test.unary() {a = none, b = false, c = -9223372036854775808, d = 1.0, e = -0.0, f = inf, g = -inf, h = nan, i = 1e-300}
  test.unary() {a = "", b = "\\\x01", c = bool, d = shape, e = @"a b", f = [], g = floats [], h = bools []}
  test.unary() {a = [1], b = [1.0, 2.5], c = [true, false], d = [nan, -inf], e = f8e4m3}
  return
}
)tir");
}

TEST(Text, ShowsEveryFormOfQuantisation) {
  expect_round_trip(R"tir(mixed graph @main(%a: i8<0.1,0>[], %b: i8<0.1,-3,-127..127>[8]) {
  %c: i8<axis 0: 0.1,0; 0.2; 0.3>[3], %d: u8<axis 1: 0.1,7; 0.2; 1e-09,8; 3>[1,4] = test.unary(%a)
  %e: i8<axis 0: 0.1,0,-127..127; 0.2>[2], %f: i32<1.1920928955078125e-07,0>[1] = test.unary(%b)
  return
}
)tir");
}

TEST(Text, NamesAreThoseOfTheProgramWhenTheyCanBe) {
  Module module;
  Graph& graph = module.add_graph("main", Dialect::kMixed);
  const TensorType type{DType::kF32, Shape{2}, nullptr};
  Value& x = graph.add_input(type, "x");
  Value& again = graph.add_input(type, "x");
  Value& odd = graph.add_input(type, "conv/w:0");
  Value& taken = graph.add_input(type, "x_1");
  Value& digit = graph.add_input(type, "0");
  Value& unnamed = graph.add_input(type, "");
  std::vector<Value*> outputs{&x, &again, &odd, &taken, &digit, &unnamed};
  graph.set_outputs(outputs);
  const std::string text = print(module);
  EXPECT_EQ(text,
            "mixed graph @main(%x: f32[2], %x_2: f32[2] \"x\", %conv_w_0: f32[2] \"conv/w:0\", "
            "%x_1: f32[2], %_0: f32[2] \"0\", %0: f32[2]) {\n"
            "  return %x, %x_2, %conv_w_0, %x_1, %_0, %0\n}\n");
  const auto copy = parsed(text);
  EXPECT_EQ(print(*copy), text);
  EXPECT_EQ(copy->main()->inputs()[1]->name(), "x");
  EXPECT_EQ(copy->main()->inputs()[4]->name(), "0");
  EXPECT_EQ(copy->main()->inputs()[5]->name(), "");
}

TEST(Text, NodesOutsideAGraphsListsStillPrint) {
  Module module;
  Graph& graph = module.add_graph("main", Dialect::kMixed);
  const TensorType type{DType::kF32, Shape{2}, nullptr};
  Value* x = &graph.add_input(type, "x");
  Node& node = graph.insert({.op = &kTestUnaryOp, .operands = {&x, 1}, .results = {&type, 1}});
  EXPECT_EQ(print(node), "%0: f32[2] = test.unary(%x)");
  graph.set_operand(node, 0, nullptr);
  graph.erase_input(0);
  EXPECT_EQ(print(node), "%0: f32[2] = test.unary(none)");
}

TEST(Text, SegmentsAreTheGroupsOfOperands) {
  const auto module = parsed(R"tir(mixed graph @main(%a: f32[1], %b: f32[1]) {
    test.list(%a, [%a, %b], [], none)
    test.list(%a, %b)
    return })tir");
  const Node* node = module->main()->first();
  EXPECT_EQ(std::vector<int16_t>(node->segments().begin(), node->segments().end()),
            (std::vector<int16_t>{-1, 2, 0, -1}));
  EXPECT_EQ(node->num_operands(), 4);
  EXPECT_EQ(node->operand(3), nullptr);
  EXPECT_TRUE(node->next()->segments().empty());
}

TEST(Text, CommentsAndSpaceDoNotMatter) {
  const auto module = parsed(
      "// one\ngraph@main(%x:f32[ 2 , 3 ]){// two\n\r\n\t%y:f32[2,3]=test.unary(%x){a=1}return %y}"
      "\n// \"three");
  EXPECT_EQ(print(*module),
            "mixed graph @main(%x: f32[2,3]) {\n  %y: f32[2,3] = test.unary(%x) {a = 1}\n"
            "  return %y\n}\n");
}

TEST(Text, LocationsAreKept) {
  const auto module = parsed(R"tir(graph @main() {
    test.unary() loc("a \"b\".py":41 "Net.stem" "x = 1")
    test.unary() loc("c.py")
    return })tir");
  const Node* node = module->main()->first();
  const Location where = resolve(node->loc());
  EXPECT_EQ(where.file, "a \"b\".py");
  EXPECT_EQ(where.line, 41u);
  EXPECT_EQ(where.scope, "Net.stem");
  EXPECT_EQ(where.source, "x = 1");
  EXPECT_EQ(resolve(node->next()->loc()).file, "c.py");
  EXPECT_EQ(print(*module, {.locs = false}).find("loc"), std::string::npos);
}

TEST(TextConstant, ElementsAreWrittenAsTheyAre) {
  const std::vector<std::string> same = {
      "i8[3] [-128, 0, 127]",
      "u8[2] [0, 255]",
      "i4[2] [-8, 7]",
      "bool[2] [true, false]",
      "i16[1] [-32768]",
      "u16[1] [65535]",
      "i32[] [-2147483648]",
      "u32[1] [4294967295]",
      "i48[2] [-140737488355328, 140737488355327]",
      "i64[2] [-9223372036854775808, 9223372036854775807]",
      "u64[2] [0, 18446744073709551615]",
      "shape[4] [1, -1, 3, 4]",
      "f32[4] [0.1, -0, inf, -inf]",
      "f32[2] [nan, 1e-45]",
      "f64[2] [0.1, 5e-324]",
      "f16[3] [0.5, -65504, inf]",
      "bf16[2] [0.5, 3.3895314e+38]",
      "f8e4m3[2] [0.5, 448]",
      "f8e5m2[2] [0.5, -inf]",
      "f32[0,3] []",
      "f32[2,3] splat(0)",
      "f32[2,3] splat(-0)",
      "f16[100] splat(0.5)",
      "i8<axis 1: 0.1,0; 0.2>[1,2] [1, 2]",
  };
  for (const std::string& form : same) {
    expect_round_trip(
        fmt::format("mixed graph @main() {{\n  %0 = const {}\n  return %0\n}}\n", form));
  }
}

TEST(TextConstant, BytesAreThoseOfTheFormat) {
  const auto bytes = [](std::string_view form) {
    std::string hex;
    for (std::byte b : constant_of(form).plain_bytes()) {
      hex += fmt::format("{:02x}", std::to_integer<int>(b));
    }
    return hex;
  };
  EXPECT_EQ(bytes("i16[2] [1, -2]"), "0100feff");
  EXPECT_EQ(bytes("i4[2] [-1, 7]"), "ff07");
  EXPECT_EQ(bytes("i48[1] [-1]"), "ffffffffffffffff");
  EXPECT_EQ(bytes("f32[1] [1]"), "0000803f");
  EXPECT_EQ(bytes("f64[1] [1]"), "000000000000f03f");
  EXPECT_EQ(bytes("f16[2] [1, 0.1]"), "003c662e");
  EXPECT_EQ(bytes("bf16[1] [1]"), "803f");
  EXPECT_EQ(bytes("f8e4m3[1] [1]"), "38");
  EXPECT_EQ(bytes("u16[2] x\"0a0B0c0d\""), "0a0b0c0d");
  EXPECT_EQ(bytes("i8[3] splat(7)"), "070707");
  EXPECT_EQ(bytes("i8[2,2] [[1, 2], [3, 4]]"), "01020304");
  // Half way between two floats but for the last digit: by way of double it would be rounded down.
  EXPECT_EQ(bytes("f32[1] [1.00000005960464477540]"), "0100803f");
}

TEST(TextConstant, LongOnesAreHexadecimal) {
  std::string digits;
  for (int i = 0; i < 65; ++i)
    digits += fmt::format("{:02x}", i);
  expect_round_trip(fmt::format(
      "mixed graph @main() {{\n  %0 = const i8[5,13] x\"{}\"\n  return %0\n}}\n", digits));
  // What decimal text cannot tell apart is hexadecimal too.
  expect_round_trip("mixed graph @main() {\n  %0 = const f32[1] x\"0100c07f\"\n  return %0\n}\n");
  expect_round_trip("mixed graph @main() {\n  %0 = const f16[2] x\"017e003c\"\n  return %0\n}\n");
}

TEST(TextConstant, ViewsAndStagesAreMaterialised) {
  Module module;
  const std::array<double, 6> values{1, 2, 3, 4, 5, 6};
  const Constant& plain = module.constant_floats(DType::kF32, {2, 3}, values);
  const std::array<int64_t, 2> swap{1, 0};
  EXPECT_EQ(printed_constant(module.permuted(plain, swap), module), "f32[3,2] [1, 4, 2, 5, 3, 6]");
  const std::array<double, 2> scales{1, 10};
  ConstantStage stage{.axis = 0, .scales = scales};
  EXPECT_EQ(printed_constant(module.staged(plain, stage, DType::kF32), module),
            "f32[2,3] [1, 2, 3, 40, 50, 60]");
  stage = {.quant = module.quant(2, 1, -128, 127)};
  EXPECT_EQ(printed_constant(module.staged(plain, stage, DType::kI8), module),
            "i8[2,3] [1, 2, 3, 3, 3, 4]");  // ties to even: 0.5 is 0, 1.5 is 2, 2.5 is 2
}

TEST(TextConstant, ElidedOnesShowTheirHash) {
  Module module;
  const std::array<int64_t, 4> values{1, 2, 3, 4};
  const Constant& c = module.constant_ints(DType::kI8, {4}, values);
  const std::string text = printed_constant(c, module, {.max_constant_elements = 3});
  EXPECT_EQ(text, fmt::format("i8[4] elided #{:016x}", c.content_hash()));
  EXPECT_EQ(printed_constant(c, module, {.max_constant_elements = 4}), "i8[4] [1, 2, 3, 4]");
  EXPECT_EQ(body_error("%c = const " + text),
            "the content of this constant was left out when it was printed");
}

TEST(TextConstant, FloatsSurviveBitForBit) {
  std::mt19937 random(7);
  Module module;
  std::vector<std::byte> bytes(64 * 4);
  for (int round = 0; round < 200; ++round) {
    for (std::byte& b : bytes)
      b = static_cast<std::byte>(random());
    for (DType dtype : {DType::kF32, DType::kF64, DType::kF16, DType::kBF16, DType::kF8E4M3,
                        DType::kF8E5M2, DType::kU64}) {
      const auto count = static_cast<int64_t>(32);
      const auto content = std::span(bytes).first(32 * element_bytes(dtype));
      const Constant& c = module.constant(dtype, {count}, content);
      EXPECT_TRUE(constant_of(printed_constant(c, module)).equals(c));
    }
  }
}

TEST(TextError, TellsPlaceAndLine) {
  const Diagnostic d = error_of("mixed graph @main(%input: f32[2]) {\n  test.unary(%inptu)\n}");
  EXPECT_EQ(d.message, "%inptu is not defined before this line of its graph");
  EXPECT_EQ(d.where.line, 2u);
  EXPECT_EQ(d.where.source, "  test.unary(%inptu)");
  EXPECT_EQ(d.hint, "the nearest name is %input");
}

TEST(TextError, TellsTheNearestOperator) {
  const Diagnostic d = error_of("graph @main() {\n  test.binray()\n  return\n}");
  EXPECT_EQ(d.message, "unknown operator test.binray");
  EXPECT_EQ(d.hint, "the nearest name is test.binary");
}

TEST(TextError, OfStructure) {
  EXPECT_EQ(error_of("grph @main()").message, "expected 'graph', found 'grph @main()'");
  EXPECT_EQ(error_of("graph @main() {").message,
            "expected a node, a constant or 'return', found the end of the text");
  EXPECT_EQ(error_of("graph @a() { return }\ngraph @a() { return }").message,
            "graph @a is defined twice");
  EXPECT_EQ(error_of("graph @main(%x f32[2]) { return }").message,
            "expected ':' and a type after the name of an input, found 'f32[2]) { return }'");
  EXPECT_EQ(error_of("graph @main(%x: f32[2], %x: f32[2]) { return }").message,
            "%x is defined twice in its graph");
  EXPECT_EQ(error_of("graph @main(%x: f32[2]) { return [%x] }").message,
            "a graph returns values, not lists");
  EXPECT_EQ(body_error("%y = test.unary(%x)"),
            "expected 'const', or ': TYPE' before '=', found 'test.unary(%x)'");
  EXPECT_EQ(body_error("%x: f32[2] = test.unary(%x)"), "%x is defined twice in its graph");
  EXPECT_EQ(body_error("%1a: f32[2] = test.unary(%x)"),
            "%1a is not a name: letters, digits, '_' and '.', or a number");
  EXPECT_EQ(body_error("test.unary(%x"),
            "expected ')' after the operands of a node, found 'return %x'");
  EXPECT_EQ(body_error("return()"), "expected '%' and the name of a value, found '()'");
}

TEST(TextError, OfTypes) {
  EXPECT_EQ(body_error("%y: f33[2] = test.unary(%x)"), "'f33' is not an element type");
  EXPECT_EQ(body_error("%y: f32[-1] = test.unary(%x)"),
            "a size is -1, outside 0 to 9223372036854775807");
  EXPECT_EQ(body_error("%y: f32[99999999999999999999] = test.unary(%x)"),
            "a size is 99999999999999999999, outside 0 to 9223372036854775807");
  EXPECT_EQ(body_error("%y: f32[1,1,1,1,1,1,1,1,1] = test.unary(%x)"),
            "a type has more than 8 sizes");
  EXPECT_EQ(body_error("%y: f32[t0] = test.unary(%x)"), "a size is a number or a symbol s0, s1, …");
  EXPECT_EQ(body_error("%y: f32<0.1,0>[1] = test.unary(%x)"), "f32 is no type of quantised values");
  EXPECT_EQ(body_error("%y: u64<0.1,0>[1] = test.unary(%x)"), "u64 is no type of quantised values");
  EXPECT_EQ(body_error("%y: i8<0.1>[1] = test.unary(%x)"),
            "expected ',' and a zero point after the scale, found '>[1] = test.unary(%x)'");
  EXPECT_EQ(body_error("%y: i8<0.1,3000000000>[1] = test.unary(%x)"),
            "a zero point is 3000000000, outside -2147483648 to 2147483647");
  EXPECT_EQ(body_error("%y: i8<1e999,0>[1] = test.unary(%x)"),
            "a scale is 1e999, outside the range of a double");
}

TEST(TextError, OfConstants) {
  EXPECT_EQ(body_error("%c = const i8[2] [1]"), "1 elements for a constant of 2");
  EXPECT_EQ(body_error("%c = const i8[2] [1, 128]"), "an element is 128, outside -128 to 127");
  EXPECT_EQ(body_error("%c = const i8[2] [1, 1.5]"), "an element must be an integer, found 1.5");
  EXPECT_EQ(body_error("%c = const i4[1] [8]"), "an element is 8, outside -8 to 7");
  EXPECT_EQ(body_error("%c = const bool[1] [2]"), "an element is 2, outside 0 to 1");
  EXPECT_EQ(body_error("%c = const i8[1] x\"0\""), "1 hexadecimal digits for elements of 1 bytes");
  EXPECT_EQ(body_error("%c = const i8[1] x\"0g\""), "a hexadecimal digit is 0-9 or a-f");
  EXPECT_EQ(body_error("%c = const i32[1] x\"00\""),
            "2 hexadecimal digits for elements of 4 bytes");
  EXPECT_EQ(body_error("%c = const i8[2,2] [[1, 2], [3]]"),
            "a list has 1 members where axis 1 has size 2");
  EXPECT_EQ(body_error("%c = const i8[2,2] [[[1, 2], [3]]]"),
            "elements are nested deeper than the constant's rank, 2");
  EXPECT_EQ(body_error("%c = const i8[1,1,2] [[1, 2]]"),
            "elements are nested 2 deep, neither flat nor as deep as the rank, 3");
  EXPECT_EQ(body_error("%c = const i8[s0] [1]"), "a constant has a known type and known sizes");
  EXPECT_EQ(body_error("%c = const unknown[1] [1]"), "a constant has a known type and known sizes");
  EXPECT_EQ(body_error("%c = const i8[0,4611686018427387904,4] []"),
            "the sizes of a constant do not fit 64 bits");
  EXPECT_EQ(body_error("%c = const i8[4000000000,4000] splat(1)"),
            "splat asks for 16000000000000 elements; a text may ask for 268435456 bytes");
}

TEST(TextError, OfAttributesAndPlaces) {
  EXPECT_EQ(body_error("test.unary() {a = 1, a = 2}"), "attribute a is given twice");
  EXPECT_EQ(body_error("test.unary() {a = nearest}"),
            "'nearest' is not the value of an attribute; text is quoted");
  EXPECT_EQ(body_error("test.unary() {a = 9223372036854775808}"),
            "an integer does not fit 64 bits");
  EXPECT_EQ(body_error("test.unary() {a = [1, true]}"), "expected a number, found 'true]}'");
  EXPECT_EQ(body_error("test.unary() {a = \"b}"), "the string has no end on its line");
  EXPECT_EQ(body_error("test.unary() {a = \"\\q\"}"),
            "unknown escape in a string; known are \\\", \\\\, \\n, \\t and \\xHH");
  EXPECT_EQ(body_error("test.unary() loc(\"f\":-1)"), "a line is -1, outside 0 to 4294967295");
}

/// A text with every construct, broken at random: the parser must answer each with a module or an
/// error, and what it takes must survive printing.
TEST(TextError, NoTextBringsTheParserDown) {
  const std::string good =
      R"tir(aten graph @main(%x: f32[1,8] "x y", %b: i8<axis 0: 0.1,0,-127..127; 2>[2,s1]) {
  %w = const f32[2,2] [[1, 2.5], [-inf, 0x]] // c
  %v = const i48[3] splat(-5)
  %u = const f16[2] x"0a0b0c0d"
  %y: f32[1,8], %0: i64[] = test.list([%x, %w], none, []) {d = [1, -2], k = true, f = [0.5], s = "\"\x41", g = @a, t = i8} loc("m.py":41 "s" "t")
  return %y, %0
}
)tir";
  constexpr std::string_view kPieces = "[]{}()<>\",:;=%@.-+09aeinfxs\\ \n/";
  std::mt19937 random(42);
  const auto below = [&](size_t n) { return random() % n; };
  size_t num_good = 0;
  for (int i = 0; i < 30000; ++i) {
    std::string text = good;
    text.erase(text.find("0x"), 2).insert(text.find("-inf, ") + 6, "3");
    for (size_t n = below(4); n > 0 && !text.empty(); --n) {
      const size_t at = below(text.size());
      switch (below(4)) {
        case 0:
          text.erase(at, 1 + below(5));
          break;
        case 1:
          text.insert(at, 1, kPieces[below(kPieces.size())]);
          break;
        case 2:
          text[at] = static_cast<char>(random());
          break;
        default:
          text.insert(below(text.size()), text.substr(at, below(30)));
          break;
      }
    }
    auto module = parse_module(text, "f");
    if (!module) continue;
    ++num_good;
    const std::string first = print(**module);
    auto again = parse_module(first, "f");
    ASSERT_TRUE(again.ok()) << render(again.error()) << first;
    ASSERT_EQ(print(**again), first);
  }
  EXPECT_GT(num_good, 1000u);
}

TEST(TextError, DeepNestingAndLongTextAreTakenInStride) {
  EXPECT_NE(body_error("%c = const i8[1] " + std::string(1000000, '[')), "");
  EXPECT_NE(body_error("test.unary() {a = " + std::string(1000000, '[')), "");
  EXPECT_NE(body_error(std::string(1000000, '%')), "");
  EXPECT_NE(error_of(std::string(1000000, '(')).message, "");
  EXPECT_LE(error_of(std::string(1000000, '(')).where.source.size(), 200u);
}

}  // namespace
}  // namespace tosaic
