// SPDX-License-Identifier: Apache-2.0
// dtype, shape, type, loc and op_def.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>

#include "ir/graph.h"

namespace tosaic {
namespace {

TEST(DType, EveryNameParsesBack) {
  std::set<std::string_view> names;
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    names.insert(dtype_name(dtype));
    EXPECT_EQ(parse_dtype(dtype_name(dtype)), dtype);
    EXPECT_GT(element_bytes(dtype), 0u);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kNumDTypes - 1));
  EXPECT_FALSE(parse_dtype("unknown").has_value());
  EXPECT_FALSE(parse_dtype("i7").has_value());
}

TEST(DType, LimitsOfIntegers) {
  EXPECT_EQ(integer_min(DType::kI4), -8);
  EXPECT_EQ(integer_max(DType::kI4), 7);
  EXPECT_EQ(integer_min(DType::kI8), -128);
  EXPECT_EQ(integer_max(DType::kU8), 255);
  EXPECT_EQ(integer_min(DType::kU16), 0);
  EXPECT_EQ(integer_max(DType::kI16), 32767);
  EXPECT_EQ(integer_max(DType::kU32), 4294967295);
  EXPECT_EQ(integer_min(DType::kI48), -140737488355328);
  EXPECT_EQ(integer_max(DType::kI48), 140737488355327);
  EXPECT_EQ(integer_min(DType::kI64), std::numeric_limits<int64_t>::min());
  EXPECT_EQ(integer_max(DType::kI64), std::numeric_limits<int64_t>::max());
}

TEST(DType, KindsExcludeBoolAndShape) {
  for (DType dtype : {DType::kBool, DType::kShape, DType::kUnknown}) {
    EXPECT_FALSE(is_integer(dtype));
    EXPECT_FALSE(is_float(dtype));
  }
  EXPECT_TRUE(is_integer(DType::kI48));
  EXPECT_TRUE(is_float(DType::kF8E4M3));
}

TEST(Shape, CountsElementsAndSaturates) {
  EXPECT_EQ(Shape({}).num_elements(), 1);
  EXPECT_EQ(Shape({2, 3, 4}).num_elements(), 24);
  const int64_t big = int64_t{1} << 40;
  EXPECT_EQ(Shape({big, big}).num_elements(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(Shape({big, big, 0}).num_elements(), 0);
}

TEST(Shape, TextShowsSymbols) {
  EXPECT_EQ(to_string(Shape{}), "[]");
  EXPECT_EQ(to_string(Shape{1, 4, 4, 8}), "[1,4,4,8]");
  EXPECT_EQ(to_string(Shape{-1, 3, -3}), "[s0,3,s2]");
  EXPECT_FALSE(Shape({-1, 3}).is_static());
}

TEST(Shape, EqualOnlyWithEqualRank) {
  EXPECT_EQ(Shape({2, 3}), Shape({2, 3}));
  EXPECT_NE(Shape({2, 3}), Shape({2, 3, 0}));
  EXPECT_NE(Shape({2}), Shape({2, 0}));
}

TEST(Shape, BroadcastsByPyTorchsRule) {
  Shape out;
  ASSERT_TRUE(broadcast({4, 1, 3}, {5, 1}, out));
  EXPECT_EQ(out, Shape({4, 5, 3}));
  ASSERT_TRUE(broadcast({}, {2, 2}, out));
  EXPECT_EQ(out, Shape({2, 2}));
  ASSERT_TRUE(broadcast({1}, {0}, out));
  EXPECT_EQ(out, Shape({0}));
  EXPECT_FALSE(broadcast({2}, {3}, out));
  EXPECT_FALSE(broadcast({0}, {3}, out));
}

TEST(Shape, SymbolsBroadcastWithThemselvesAndOne) {
  Shape out;
  ASSERT_TRUE(broadcast({-1, 3}, {1, 3}, out));
  EXPECT_EQ(out, Shape({-1, 3}));
  ASSERT_TRUE(broadcast({-2}, {-2}, out));
  EXPECT_EQ(out, Shape({-2}));
  EXPECT_FALSE(broadcast({-1}, {-2}, out));
  EXPECT_FALSE(broadcast({-1}, {8}, out));
}

TEST(TensorType, TextShowsQuantisation) {
  Module module;
  const auto text = [&](const Quant* quant) {
    return to_string(TensorType{DType::kI8, {1, 4, 2}, quant});
  };
  EXPECT_EQ(text(nullptr), "i8[1,4,2]");
  EXPECT_EQ(text(module.quant(0.1, 0, -128, 127)), "i8<0.1,0>[1,4,2]");
  EXPECT_EQ(text(module.quant(0.1, -3, -127, 127)), "i8<0.1,-3,-127..127>[1,4,2]");
  const std::array scales = {0.5, 1e-5};
  const std::array zero_points = {0, 7};
  EXPECT_EQ(text(module.quant(scales, zero_points, 2, -128, 127)),
            "i8<axis 2: 0.5,0; 1e-05,7>[1,4,2]");
}

TEST(Loc, ResolvesPlainDecodedAndUnknown) {
  EXPECT_EQ(resolve(nullptr).file, "");
  LocInfo info;
  info.file = "model.py";
  info.line = 41;
  info.source = "x = f(x)";
  info.scope = "Net.stem";
  const Location plain = resolve(&info);
  EXPECT_EQ(plain.file, "model.py");
  EXPECT_EQ(plain.line, 41u);
  EXPECT_EQ(plain.source, "x = f(x)");
  EXPECT_EQ(plain.scope, "Net.stem");
  info.raw_stack = "raw";
  info.decode = [](const LocInfo& from) {
    Location made;
    made.file = std::string(from.raw_stack) + ".py";
    return made;
  };
  EXPECT_EQ(resolve(&info).file, "raw.py");
}

TEST(OpDef, BuiltinsAreRegisteredAndFound) {
  EXPECT_EQ(find_op("call").op, &kCallOp);
  EXPECT_EQ(find_op("return").op, &kReturnOp);
  EXPECT_EQ(find_op("no.such.op").op, nullptr);
  const auto ops = all_ops();
  EXPECT_EQ(std::ranges::count(ops, &kCallOp), 1);
}

TEST(OpDef, EveryVariantIsFoundByItsName) {
  for (const OpDef* op : all_ops()) {
    for (int i = 0; i < op->hooks->num_variants(*op); ++i) {
      const OpVariant found = find_op(op->hooks->variant_name(*op, i));
      EXPECT_EQ(found.op, op);
      EXPECT_EQ(found.variant, i);
    }
  }
}

TEST(DType, HaveTheNamesOfPyTorchAndNumPy) {
  EXPECT_EQ(torch_name(DType::kI8), "int8");
  EXPECT_EQ(torch_name(DType::kBF16), "bfloat16");
  EXPECT_EQ(numpy_type(DType::kF16), "f2");
  EXPECT_EQ(numpy_type(DType::kI48), "i8");  // held in eight bytes
  EXPECT_FALSE(numpy_type(DType::kBF16).has_value());
}

}  // namespace
}  // namespace tosaic
