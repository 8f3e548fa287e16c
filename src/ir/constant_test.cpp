// SPDX-License-Identifier: Apache-2.0
#include "ir/constant.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>
#include <set>

#include "ir/graph.h"
#include "numeric/quantize.h"
#include "support/check.h"

namespace tosaic {
namespace {

using Ints = std::vector<int64_t>;

class ConstantTest : public ::testing::Test {
 protected:
  /// 0, 1, 2, … as i32.
  const Constant& counting(const Shape& shape) {
    Ints values(static_cast<size_t>(shape.num_elements()));
    std::iota(values.begin(), values.end(), 0);
    return module.constant_ints(DType::kI32, shape, values);
  }
  const Constant& floats(const Shape& shape, const std::vector<float>& values) {
    return module.constant(DType::kF32, shape, std::as_bytes(std::span(values)));
  }
  const Constant& permuted(const Constant& source, Ints perm) {
    return module.permuted(source, perm);
  }
  const Quant* per_axis(std::vector<double> scales, std::vector<int32_t> zero_points, int axis) {
    return module.quant(scales, zero_points, axis, -128, 127);
  }
  const Constant& quantised(const Constant& source, const Quant* quant) {
    return module.staged(source, {.quant = quant}, DType::kI8);
  }

  Module module;
  /// Values with ties, both infinities' sides and NaN; expectations below are PyTorch 2.13's.
  const Constant& sample = floats({3, 4}, {0.0375f, -0.0125f, 1.27f, -3.0f, 0.5f, 0.25f, -0.75f,
                                           NAN, 100.5f, -0.02f, 0.06f, INFINITY});
};

TEST_F(ConstantTest, PlainDataIsUsedInPlace) {
  const Constant& c = counting({2, 3});
  EXPECT_TRUE(c.is_plain());
  EXPECT_EQ(c.num_bytes(), 24u);
  EXPECT_EQ(c.plain_bytes().data(), c.data);
  EXPECT_EQ(int_values(c), (Ints{0, 1, 2, 3, 4, 5}));
}

TEST_F(ConstantTest, PermutedWeightsAreAView) {
  // A weight O=2 I=2 H=1 W=3 in the order O H W I of TOSA.
  const Constant& oihw = counting({2, 2, 1, 3});
  const Constant& ohwi = permuted(oihw, {0, 2, 3, 1});
  EXPECT_EQ(ohwi.data, oihw.data);
  EXPECT_EQ(ohwi.shape, Shape({2, 1, 3, 2}));
  EXPECT_FALSE(ohwi.is_plain());
  EXPECT_THROW(ohwi.plain_bytes(), BugError);
  EXPECT_EQ(int_values(ohwi), (Ints{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
  const Constant& back = permuted(ohwi, {0, 3, 1, 2});
  EXPECT_TRUE(back.is_plain());
  EXPECT_EQ(back.shape, oihw.shape);
  EXPECT_THROW(permuted(oihw, {0, 0, 1, 2}), BugError);
}

TEST_F(ConstantTest, EveryElementSizeIsPermuted) {
  for (DType dtype : {DType::kI8, DType::kU8, DType::kI16, DType::kI32, DType::kI48, DType::kI64}) {
    const Constant& c = module.constant_ints(dtype, {2, 3}, Ints{0, 1, 2, 3, 4, 5});
    EXPECT_EQ(int_values(permuted(c, {1, 0})), (Ints{0, 3, 1, 4, 2, 5})) << dtype_name(dtype);
  }
}

TEST_F(ConstantTest, RandomPermutationsEqualIndexing) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const auto size = [&] { return static_cast<int64_t>(1 + random() % 4); };
    const Shape shape{size(), size(), size(), size()};
    const Constant& source = counting(shape);
    Ints perm = {0, 1, 2, 3};
    std::shuffle(perm.begin(), perm.end(), random);
    const Constant& view = permuted(source, perm);
    const auto strides = contiguous_strides(shape);
    Ints expected;
    for (int64_t a = 0; a < view.shape[0]; ++a) {
      for (int64_t b = 0; b < view.shape[1]; ++b) {
        for (int64_t c = 0; c < view.shape[2]; ++c) {
          for (int64_t d = 0; d < view.shape[3]; ++d) {
            const Ints at = {a, b, c, d};
            int64_t offset = 0;
            for (size_t i = 0; i < 4; ++i)
              offset += at[i] * strides[static_cast<size_t>(perm[i])];
            expected.push_back(offset);
          }
        }
      }
    }
    ASSERT_EQ(int_values(view), expected);
  }
}

TEST_F(ConstantTest, StridesMaySliceAndRepeat) {
  const Constant& c = counting({3, 4});
  const Constant& column =
      module.constant_view(DType::kI32, {3, 2}, Ints{4, 2}, c.data + sizeof(int32_t));
  EXPECT_EQ(int_values(column), (Ints{1, 3, 5, 7, 9, 11}));
  const Constant& repeated = module.constant_view(DType::kI32, {2, 3}, Ints{0, 1}, c.data);
  EXPECT_EQ(int_values(repeated), (Ints{0, 1, 2, 0, 1, 2}));
  const Constant& scalar = module.constant_view(DType::kI32, {}, {}, c.data + 20);
  EXPECT_EQ(int_values(scalar), (Ints{5}));
}

TEST_F(ConstantTest, EmptyConstantsHaveNoBytes) {
  const Constant& c = module.constant(DType::kF32, {2, 0}, {});
  EXPECT_TRUE(permuted(c, {1, 0}).is_plain());
  EXPECT_EQ(float_values(permuted(c, {1, 0})).size(), 0u);
  EXPECT_EQ(module.reshaped(c, {0, 7}).shape, Shape({0, 7}));
  EXPECT_TRUE(c.equals(module.constant(DType::kF32, {2, 0}, {})));
}

TEST_F(ConstantTest, ReshapedViewsShareBytesWhenStridesAllow) {
  const Constant& c = counting({2, 3, 4});
  EXPECT_TRUE(module.reshaped(c, {6, 1, 4}).is_plain());
  EXPECT_EQ(module.reshaped(c, {6, 1, 4}).data, c.data);
  // Axes that were not torn apart can be joined and split in a permuted view.
  const Constant& moved = permuted(c, {2, 0, 1});  // [4,2,3]
  const Constant& joined = module.reshaped(moved, {2, 2, 6});
  EXPECT_EQ(joined.data, c.data);
  EXPECT_EQ(int_values(joined), int_values(moved));
  // Those that were cannot: the bytes are copied.
  const Constant& mixed = module.reshaped(moved, {8, 3});
  EXPECT_NE(mixed.data, c.data);
  EXPECT_TRUE(mixed.is_plain());
  EXPECT_EQ(int_values(mixed), int_values(moved));
}

TEST_F(ConstantTest, RandomReshapesKeepTheOrderOfElements) {
  std::mt19937 random(3);
  const std::vector<Shape> shapes = {{24}, {2, 12}, {4, 1, 6}, {2, 3, 4}, {3, 2, 2, 2}, {1, 24, 1}};
  for (int round = 0; round < 300; ++round) {
    const Constant* c = &counting(shapes[random() % shapes.size()]);
    for (int step = 0; step < 3; ++step) {
      Ints perm(static_cast<size_t>(c->shape.rank()));
      std::iota(perm.begin(), perm.end(), 0);
      std::shuffle(perm.begin(), perm.end(), random);
      c = &permuted(*c, perm);
      const Ints before = int_values(*c);
      c = &module.reshaped(*c, shapes[random() % shapes.size()]);
      ASSERT_EQ(int_values(*c), before);
    }
  }
}

TEST_F(ConstantTest, StagesQuantisePerTensorAsPyTorch) {
  const Constant& q = quantised(sample, module.quant(0.025, 3, -127, 127));
  EXPECT_EQ(q.data, sample.data);
  EXPECT_EQ(q.num_bytes(), 12u);
  EXPECT_EQ(int_values(q), (Ints{5, 3, 54, -117, 23, 13, -27, 0, 127, 2, 5, 127}));
}

TEST_F(ConstantTest, StagesQuantisePerChannelAsPyTorch) {
  const Constant& float_scales = quantised(sample, per_axis({0.025f, 0.5f, 0.04f}, {0, -1, 5}, 0));
  EXPECT_EQ(int_values(float_scales), (Ints{2, 0, 51, -120, 0, -1, -3, 0, 127, 5, 7, 127}));
  const Constant& double_scales =
      quantised(sample, per_axis({0.1, 0.2, 0.3, 0.7}, {0, 1, 2, 3}, 1));
  EXPECT_EQ(int_values(double_scales), (Ints{0, 1, 6, -1, 5, 2, 0, 0, 127, 1, 2, 127}));
}

TEST_F(ConstantTest, StagesScaleThenQuantise) {
  const std::array<double, 3> scales = {1.0f / 3.0f, 0.7f, 3.0};
  const Constant& scaled = module.staged(sample, {.axis = 0, .scales = scales}, DType::kF32);
  const std::vector<double> values = float_values(scaled);
  EXPECT_EQ(values[0], 0x1.99999cp-7);
  EXPECT_EQ(values[1], -0x1.111112p-8);
  EXPECT_EQ(values[6], -0x1.0ccccc0000000p-1);
  EXPECT_TRUE(std::isnan(values[7]));
  const Quant* quant = module.quant(0.025, 3, -127, 127);
  const Ints expected = {4, 3, 20, -37, 17, 10, -18, 0, 127, 1, 10, 127};
  const Constant& joined = quantised(scaled, quant);
  EXPECT_EQ(joined.data, sample.data);
  EXPECT_EQ(int_values(joined), expected);
  const Constant& at_once =
      module.staged(sample, {.axis = 0, .scales = scales, .quant = quant}, DType::kI8);
  EXPECT_EQ(int_values(at_once), expected);
  EXPECT_TRUE(joined.equals(at_once));
  EXPECT_EQ(joined.content_hash(), module.materialised(joined).content_hash());
}

TEST_F(ConstantTest, StagesFollowTheirAxisThroughViews) {
  const Constant& q = quantised(sample, per_axis({0.025f, 0.5f, 0.04f}, {0, -1, 5}, 0));
  const Ints transposed = {2, 0, 127, 0, -1, 5, 51, -3, 7, -120, 0, 127};
  EXPECT_EQ(int_values(permuted(q, {1, 0})), transposed);
  EXPECT_EQ(permuted(q, {1, 0}).stage->quant->axis, 1);
  const Constant& split = module.reshaped(permuted(q, {1, 0}), {2, 2, 1, 3});
  EXPECT_EQ(split.data, sample.data);
  EXPECT_EQ(int_values(split), transposed);
  const Constant& flat = module.reshaped(q, {12});  // no axis counts channels any more
  EXPECT_EQ(flat.stage, nullptr);
  EXPECT_EQ(int_values(flat), int_values(q));
}

TEST_F(ConstantTest, StagesEqualNumericOnRandomValues) {
  std::mt19937 random(5);
  std::vector<float> values(4096);
  for (float& v : values) {
    const float m = static_cast<float>(static_cast<int32_t>(random())) * 0x1p-31f;
    v = std::ldexp(m, static_cast<int>(random() % 40) - 10);
    if (random() % 4 == 0) v = std::nearbyint(v) / 2;
  }
  const Constant& source = floats({8, 512}, values);
  for (auto [dtype, lo, hi] : {std::tuple{DType::kI8, -127, 127},
                               {DType::kU8, 0, 255},
                               {DType::kI16, -32768, 32767},
                               {DType::kI32, INT32_MIN, INT32_MAX}}) {
    const numeric::AffineParams params = {0.3, lo == 0 ? 11 : -5, lo, hi};
    const auto quantizer = numeric::tensor_quantizer(params);
    const Quant* quant = module.quant(params.scale, params.zero_point, lo, hi);
    const Ints got = int_values(module.staged(source, {.quant = quant}, dtype));
    for (size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(got[i], quantizer.quantize(values[i])) << dtype_name(dtype) << " " << values[i];
    }
  }
}

TEST_F(ConstantTest, WideResultsAreComputedInDouble) {
  // A bias of 48 bits: 3 * (2^24 - 1) is no float.
  const std::array<double, 1> x = {16777215.0};
  const Constant& c = module.constant_floats(DType::kF32, {1}, x);
  const Quant* quant =
      module.quant(1.0 / 3.0, 0, integer_min(DType::kI48), integer_max(DType::kI48));
  EXPECT_EQ(int_values(module.staged(c, {.quant = quant}, DType::kI48)), (Ints{50331645}));
  const Quant* narrow =
      module.quant(0x1p-60, 0, integer_min(DType::kI48), integer_max(DType::kI48));
  EXPECT_EQ(int_values(module.staged(c, {.quant = narrow}, DType::kI48)),
            (Ints{integer_max(DType::kI48)}));
}

TEST_F(ConstantTest, HashAndEqualityAreOfContent) {
  const Constant& a = counting({4, 6});
  const Constant& view = permuted(permuted(a, {1, 0}), {1, 0});
  EXPECT_TRUE(a.equals(view));
  EXPECT_TRUE(a.equals(counting({4, 6})));
  EXPECT_EQ(a.content_hash(), counting({4, 6}).content_hash());
  const Constant& turned = permuted(a, {1, 0});
  EXPECT_FALSE(a.equals(turned));
  EXPECT_FALSE(a.equals(module.reshaped(a, {24})));
  EXPECT_EQ(turned.content_hash(), module.materialised(turned).content_hash());
  EXPECT_TRUE(turned.equals(module.materialised(turned)));
  EXPECT_NE(a.content_hash(), module.reshaped(a, {24}).content_hash());
  EXPECT_NE(a.content_hash(), turned.content_hash());
}

TEST_F(ConstantTest, HashSeesEveryByteAndLength) {
  std::set<uint64_t> hashes;
  size_t count = 0;
  for (size_t size = 0; size <= 100; ++size) {
    std::vector<std::byte> bytes(size);
    const auto hash = [&] {
      const Shape shape{static_cast<int64_t>(size)};
      return module.constant(DType::kI8, shape, bytes).content_hash();
    };
    hashes.insert(hash());
    ++count;
    for (size_t i = 0; i < size; ++i) {
      for (int bit = 0; bit < 8; ++bit) {
        bytes[i] = static_cast<std::byte>(1 << bit);
        hashes.insert(hash());
        ++count;
        bytes[i] = std::byte{0};
      }
    }
  }
  EXPECT_EQ(hashes.size(), count);
}

TEST_F(ConstantTest, IntegersSurviveTheirStorage) {
  for (int i = 1; i < kNumDTypes; ++i) {
    const auto dtype = static_cast<DType>(i);
    if (!is_integer(dtype) || dtype == DType::kU64) continue;
    const Ints values = {integer_min(dtype), 0, 1, integer_max(dtype)};
    EXPECT_EQ(int_values(module.constant_ints(dtype, {4}, values)), values) << dtype_name(dtype);
  }
  EXPECT_EQ(int_values(module.constant_ints(DType::kBool, {3}, Ints{0, 2, 256})), (Ints{0, 1, 1}));
  EXPECT_EQ(int_values(module.constant_ints(DType::kShape, {2}, Ints{-1, 8})), (Ints{-1, 8}));
  EXPECT_EQ(float_values(module.constant_ints(DType::kF32, {2}, Ints{-1, 8})),
            (std::vector<double>{-1, 8}));
}

TEST_F(ConstantTest, SmallFloatsRoundAsPyTorch) {
  const std::vector<double> in = {1.0, -2.5, 65504, 65520,    1e-7,   3.3333, 0.1, 448,
                                  464, 470,  6e-8,  INFINITY, 0.0019, 57344,  1e9};
  const auto check = [&](DType dtype, const std::vector<int>& codes) {
    const Constant& c = module.constant_floats(dtype, {15}, in);
    for (size_t i = 0; i < in.size(); ++i) {
      uint16_t code = 0;
      const size_t step = element_bytes(dtype);
      std::memcpy(&code, c.data + i * step, step);
      EXPECT_EQ(code, codes[i]) << dtype_name(dtype) << " " << in[i];
    }
    return float_values(c);
  };
  const auto f16 = check(DType::kF16, {0x3c00, 0xc100, 0x7bff, 0x7c00, 0x2, 0x42ab, 0x2e66, 0x5f00,
                                       0x5f40, 0x5f58, 0x1, 0x7c00, 0x17c8, 0x7b00, 0x7c00});
  EXPECT_EQ(f16[4], 1.1920928955078125e-07);
  EXPECT_EQ(f16[5], 3.333984375);
  EXPECT_EQ(f16[11], INFINITY);
  const auto bf16 =
      check(DType::kBF16, {0x3f80, 0xc020, 0x4780, 0x4780, 0x33d7, 0x4055, 0x3dcd, 0x43e0, 0x43e8,
                           0x43eb, 0x3381, 0x7f80, 0x3af9, 0x4760, 0x4e6e});
  EXPECT_EQ(bf16[14], 998244352.0);
  const auto e4m3 = check(DType::kF8E4M3, {0x38, 0xc2, 0x7e, 0x7e, 0x0, 0x45, 0x1d, 0x7e, 0x7e,
                                           0x7e, 0x0, 0x7e, 0x1, 0x7e, 0x7e});
  EXPECT_EQ(e4m3[2], 448.0);
  EXPECT_EQ(e4m3[12], 0.001953125);
  const auto e5m2 = check(DType::kF8E5M2, {0x3c, 0xc1, 0x7c, 0x7c, 0x0, 0x43, 0x2e, 0x5f, 0x5f,
                                           0x5f, 0x0, 0x7c, 0x18, 0x7b, 0x7c});
  EXPECT_EQ(e5m2[6], 0.09375);
}

}  // namespace
}  // namespace tosaic
