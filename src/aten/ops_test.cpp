// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "aten/builder.h"
#include "aten/test_target.h"
#include "tosa/reference.h"

// Single calls of rows, lowered and run by the scalar reference. Expected numbers are worked out by
// hand from PyTorch's definitions.

namespace tosaic::aten {
namespace {

using Reals = std::vector<double>;

/// One call on inputs of the given types.
class OneCall {
 public:
  TensorType f32(const Shape& shape) { return {DType::kF32, shape, nullptr}; }
  TensorType i8(const Shape& shape, double scale, int32_t zero_point) {
    return {DType::kI8, shape, module_.quant(scale, zero_point, -128, 127)};
  }

  Value* input(const TensorType& type) { return &graph_.add_input(type, "x"); }

  Lowered lower(std::string_view name, std::vector<Value*> operands, const TensorType& result,
                std::initializer_list<NamedArg> args = {},
                Builder::Mode mode = Builder::Mode::kLower) {
    const OpVariant op = find_op(name);
    if (op.op == nullptr) return reject(Code::kRejectNoRow, "no row serves {}", name);
    results_ = {result};
    operands_ = std::move(operands);
    const AttrList attrs = module_.copy_attrs(std::span(args.begin(), args.size()));
    const Call call(*op.op, op.variant, operands_, {}, attrs, results_, nullptr);
    Builder b(graph_, target_, mode);
    return mode == Builder::Mode::kRecord ? row(*op.op).lower(call, b) : aten::lower(call, b);
  }

  template <typename T>
  std::vector<T> run(const Lowered& lowered, std::initializer_list<std::vector<T>> inputs) {
    EXPECT_TRUE(lowered.ok()) << (lowered.ok() ? "" : lowered.reason().why);
    if (!lowered.ok()) return {};
    graph_.set_outputs(lowered.values());
    std::vector<tosa::HostTensor> tensors;
    size_t i = 0;
    for (const std::vector<T>& values : inputs) {
      const Value& v = *graph_.inputs()[i++];
      tensors.push_back(
          tosa::HostTensor::view(v.dtype(), v.shape(), std::as_bytes(std::span(values))));
    }
    tosa::Reference reference(graph_);
    auto outputs = reference.run(tensors);
    EXPECT_TRUE(outputs) << (outputs ? "" : outputs.error().message);
    if (!outputs) return {};
    const tosa::HostTensor& out = (*outputs)[0];
    std::vector<T> values(out.bytes.size() / sizeof(T));
    std::memcpy(values.data(), out.bytes.data(), out.bytes.size());
    return values;
  }

  Graph& graph() { return graph_; }

 private:
  Module module_;
  Graph graph_{module_, "main", Dialect::kTosa};
  Target target_ = test_target();
  std::vector<TensorType> results_;
  std::vector<Value*> operands_;
};

TEST(Rows, ReluKeepsTheZeroPointAsItsLowerLimit) {
  OneCall c;
  const TensorType type = c.i8({4}, 0.5, -31);
  const Lowered y = c.lower("aten.relu.default", {c.input(type)}, type);
  EXPECT_EQ(c.run<int8_t>(y, {{-128, -32, -31, 100}}), (std::vector<int8_t>{-31, -31, -31, 100}));
}

TEST(Rows, ReluOfAValueWithoutNegativesIsNothing) {
  OneCall c;
  const TensorType type = c.i8({4}, 0.5, -128);
  Value* x = c.input(type);
  const Lowered y = c.lower("aten.relu.default", {x}, type);
  EXPECT_EQ(y.values()[0], x);
}

TEST(Rows, Relu6LimitsInTheOutputsParameters) {
  OneCall c;
  Value* x = c.input(c.i8({3}, 0.5, 0));
  const Lowered y = c.lower("aten.relu6.default", {x}, c.i8({3}, 0.25, -10));
  // 2 -> 1.0 -> 4 - 10; 20 -> 10, limited to 6 -> 24 - 10.
  EXPECT_EQ(c.run<int8_t>(y, {{-5, 2, 20}}), (std::vector<int8_t>{-10, -6, 14}));
}

TEST(Rows, LimitsThatCrossGiveTheUpperOne) {
  OneCall c;
  const Lowered y = c.lower("aten.clamp.default", {c.input(c.f32({2}))}, c.f32({2}),
                            {{"min", Attr::real(3)}, {"max", Attr::real(1)}});
  EXPECT_EQ(c.run<float>(y, {{-5, 5}}), (std::vector<float>{1, 1}));
}

TEST(Rows, Int32IsLimitedToWholeNumbersWithinTheLimits) {
  OneCall c;
  const TensorType type{DType::kI32, {4}, nullptr};
  const Lowered y = c.lower("aten.clamp.default", {c.input(type)}, type,
                            {{"min", Attr::real(-2.5)}, {"max", Attr::real(3.5)}});
  EXPECT_EQ(c.run<int32_t>(y, {{-9, -2, 3, 4}}), (std::vector<int32_t>{-2, -2, 3, 3}));
}

TEST(Rows, RestsOfInt32HaveTheSignOfTheDivisorOrOfTheDividend) {
  const std::vector<int32_t> x = {7, -7, 7, -7, 6, 0};
  const std::vector<int32_t> y = {3, 3, -3, -3, -3, 5};
  const TensorType type{DType::kI32, {6}, nullptr};
  OneCall c;
  const Lowered of_divisor = c.lower("aten.remainder.Tensor", {c.input(type), c.input(type)}, type);
  EXPECT_EQ(c.run<int32_t>(of_divisor, {x, y}), (std::vector<int32_t>{1, 2, -2, -1, 0, 0}));
  OneCall d;
  const Lowered of_dividend = d.lower("aten.fmod.Tensor", {d.input(type), d.input(type)}, type);
  EXPECT_EQ(d.run<int32_t>(of_dividend, {x, y}), (std::vector<int32_t>{1, -1, 1, -1, 0, 0}));
}

TEST(Rows, LeakyReluTakesAnySlope) {
  for (const double slope : {0.25, 0.0, 2.0, -1.0}) {
    OneCall c;
    const Lowered y = c.lower("aten.leaky_relu.default", {c.input(c.f32({2}))}, c.f32({2}),
                              {{"negative_slope", Attr::real(slope)}});
    EXPECT_EQ(c.run<float>(y, {{-4, 3}}), (std::vector<float>{static_cast<float>(-4 * slope), 3}));
  }
}

TEST(Rows, ProductsAreScaledOnce) {
  OneCall c;
  Value* x = c.input(c.i8({2}, 0.5, 1));
  Value* y = c.input(c.i8({2}, 0.25, -2));
  const Lowered z = c.lower("aten.mul.Tensor", {x, y}, c.i8({2}, 0.125, 3));
  // (5 - 1) * 0.5 * (6 + 2) * 0.25 = 4 -> 32 + 3; (-3 - 1) * 0.5 * (0 + 2) * 0.25 = -1 -> -8 + 3.
  EXPECT_EQ(c.run<int8_t>(z, {{5, -3}, {6, 0}}), (std::vector<int8_t>{35, -5}));
}

TEST(Rows, NegativeFactorsWork) {
  OneCall c;
  Value* x = c.input(c.i8({2}, 0.5, 1));
  const Lowered y =
      c.lower("aten.mul.Scalar", {x}, c.i8({2}, 1, 0), {{"other", Attr::integer(-2)}});
  EXPECT_EQ(c.run<int8_t>(y, {{5, -3}}), (std::vector<int8_t>{-4, 4}));
}

TEST(Rows, AnAverageWithItsOwnDivisorIsRoundedOnce) {
  OneCall c;
  const int64_t kernel[] = {2, 2};
  Value* x = c.input(c.i8({1, 1, 2, 2}, 0.5, 1));
  const Lowered y =
      c.lower("aten.avg_pool2d.default", {x}, c.i8({1, 1, 1, 1}, 0.5, 1),
              {{"kernel_size", Attr::ints(kernel)}, {"divisor_override", Attr::integer(3)}});
  // (9 + 19 + 29 + 4 - 4 * 1) / 3 = 19.
  EXPECT_EQ(c.run<int8_t>(y, {{9, 19, 29, 4}}), (std::vector<int8_t>{20}));
}

TEST(Rows, CeilModeCountsPaddingButNotWhatHangsOver) {
  OneCall c;
  const int64_t kernel[] = {2, 1};
  const int64_t stride[] = {2, 1};
  const int64_t pad[] = {1, 0};
  Value* x = c.input(c.f32({1, 1, 3, 1}));
  const Lowered y = c.lower("aten.avg_pool2d.default", {x}, c.f32({1, 1, 3, 1}),
                            {{"kernel_size", Attr::ints(kernel)},
                             {"stride", Attr::ints(stride)},
                             {"padding", Attr::ints(pad)},
                             {"ceil_mode", Attr::boolean(true)}});
  // Rows 0 | 1 2 3 | 0: windows {0, 1}, {2, 3}, {0 and nothing}.
  EXPECT_EQ(c.run<float>(y, {{1, 2, 3}}), (std::vector<float>{0.5, 2.5, 0}));
}

TEST(Rows, ASliceChangesParametersOfWhatIsLeft) {
  OneCall c;
  Value* x = c.input(c.i8({4}, 0.5, 0));
  const Lowered y = c.lower("aten.slice.Tensor", {x}, c.i8({2}, 0.25, 1),
                            {{"start", Attr::integer(-3)}, {"end", Attr::integer(3)}});
  EXPECT_EQ(c.run<int8_t>(y, {{1, 2, 3, 4}}), (std::vector<int8_t>{5, 7}));
}

TEST(Rows, AStepIsRefusedWithItsValue) {
  OneCall c;
  const Lowered y =
      c.lower("aten.slice.Tensor", {c.input(c.f32({4}))}, c.f32({2}), {{"step", Attr::integer(0)}});
  ASSERT_FALSE(y.ok());
  EXPECT_EQ(y.reason().code, Code::kRejectAttribute);
  EXPECT_NE(y.reason().why.find("step 0"), std::string::npos);
}

TEST(Rows, ViewsOfConstantsAreConstants) {
  OneCall c;
  Value* x = &c.graph().add_constant(
      c.graph().module().constant_floats(DType::kF32, {2, 3}, Reals{1, 2, 3, 4, 5, 6}));
  const Lowered y = c.lower("aten.t.default", {x}, c.f32({3, 2}));
  ASSERT_TRUE(y.ok());
  ASSERT_TRUE(y.values()[0]->is_constant());
  EXPECT_EQ(float_values(*y.values()[0]->constant()), (Reals{1, 4, 2, 5, 3, 6}));
}

TEST(Rows, PoolingWithAListOfTheWrongLengthIsRefused) {
  OneCall c;
  Value* x = c.input(c.f32({1, 1, 4, 4}));
  const Lowered y = c.lower("aten.max_pool2d.default", {x}, c.f32({1, 1, 2, 2}),
                            {{"kernel_size", Attr::ints({})}});
  EXPECT_FALSE(y.ok());
}

TEST(Rows, RecordingACompositeMakesNodesOfOtherRows) {
  OneCall c;
  Value* x = c.input(c.f32({1, 2, 6, 4}));
  const int64_t size[] = {4, 2};
  const Lowered y = c.lower("aten.adaptive_avg_pool2d.default", {x}, c.f32({1, 2, 4, 2}),
                            {{"output_size", Attr::ints(size)}}, Builder::Mode::kRecord);
  ASSERT_TRUE(y.ok());
  for (const Node& node : c.graph().nodes())
    EXPECT_TRUE(is_aten(node)) << node.full_name();
  EXPECT_EQ(y.values()[0]->def()->full_name(), "aten.cat.default");
}

TEST(Rows, NormalisationOfCodesThatAreNothingBesideEpsilonIsRejected) {
  OneCall c;
  const int64_t shape[] = {8};
  const Lowered y = c.lower("aten.layer_norm.default", {c.input(c.i8({2, 8}, 1e-28, 3))},
                            c.i8({2, 8}, 0.1, 0), {{"normalized_shape", Attr::ints(shape)}});
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.reason().why.find("1e-28"), std::string::npos) << y.reason().why;
}

TEST(Rows, AttentionOfMasksWithoutAnyNumberIsRejected) {
  OneCall c;
  Value* q = c.input(c.i8({1, 2, 4}, 0.1, 0));
  const double nan[] = {std::nan("")};
  Value* mask = &c.graph().add_constant(c.graph().module().constant_floats(DType::kF32, {1}, nan));
  const Lowered y = c.lower("aten.scaled_dot_product_attention.default", {q, q, q, mask},
                            c.i8({1, 2, 4}, 0.1, 0));
  ASSERT_FALSE(y.ok());
  EXPECT_NE(y.reason().why.find("nan"), std::string::npos) << y.reason().why;
}

}  // namespace
}  // namespace tosaic::aten
