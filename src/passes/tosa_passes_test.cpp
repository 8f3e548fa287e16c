// SPDX-License-Identifier: Apache-2.0
// The passes on TOSA graphs keep every bit: random graphs are executed by the scalar reference
// before and after. The arithmetic of merged RESCALEs is also compared with numeric:: for all
// inputs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ir/text.h"
#include "ir/verify.h"
#include "numeric/rescale.h"
#include "passes/layout_regions.h"
#include "passes/passes.h"
#include "tosa/builder.h"
#include "tosa/ops.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

using tosa::Builder;
using tosa::HostTensor;

Target any_target() {
  Target target;
  target.features = static_cast<Feature>(~uint32_t{0});
  return target;
}

HostTensor random_tensor(const TensorType& type, std::mt19937& random) {
  HostTensor tensor = HostTensor::allocate(type.dtype, type.shape);
  for (std::byte& byte : tensor.storage)
    byte = static_cast<std::byte>(random());
  return tensor;
}

/// A graph of random small operations on i8 and i32 of rank 4.
class RandomGraph {
 public:
  explicit RandomGraph(uint32_t seed)
      : random_(seed),
        target_(any_target()),
        graph_(module_.add_graph("main", Dialect::kTosa)),
        b_(graph_, target_) {
    for (int i = 0; i < 2; ++i)
      values_.push_back(&graph_.add_input({DType::kI8, {1, 2, 3, 4}}, i == 0 ? "x" : "y"));
    for (int i = 0; i < 14; ++i)
      add_node();
    std::vector<Value*> outputs;
    for (size_t i = values_.size() - 1; outputs.size() < 3 && i > 1; i -= 1 + pick(2)) {
      if (std::ranges::find(outputs, values_[i]) == outputs.end() && values_[i]->def() != nullptr) {
        outputs.push_back(values_[i]);
      }
    }
    graph_.set_outputs(outputs);
  }

  Graph& graph() { return graph_; }
  const Module& module() const { return module_; }
  std::mt19937& random() { return random_; }

 private:
  size_t pick(size_t n) { return random_() % n; }
  Value* any() { return values_[values_.size() - 1 - pick(std::min<size_t>(values_.size(), 6))]; }
  int64_t number(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(pick(static_cast<size_t>(high - low + 1)));
  }
  void keep(Value* value) {
    if (b_.failure() || value->shape().num_elements() > 4000) {
      b_.clear_failure();
    } else {
      values_.push_back(value);
    }
  }

  std::vector<int64_t> random_perm() {
    static const std::vector<std::vector<int64_t>> kCommon = {
        {0, 2, 3, 1}, {0, 3, 1, 2}, {0, 1, 3, 2}, {2, 0, 1, 3}};
    return kCommon[pick(kCommon.size())];
  }

  /// Another value of the same dtype that broadcasts with `x`; a constant where there is none.
  Value* partner(Value* x, bool equal_sizes) {
    for (int attempt = 0; attempt < 4; ++attempt) {
      Value* y = any();
      if (y->dtype() == x->dtype() && y->shape() == x->shape()) return y;
    }
    Shape shape = x->shape();
    for (int axis = 0; !equal_sizes && axis < shape.rank(); ++axis) {
      if (pick(2) == 0) shape[axis] = 1;
    }
    std::vector<int64_t> content(static_cast<size_t>(shape.num_elements()));
    for (int64_t& v : content)
      v = number(-100, 100);
    return b_.constant_ints(x->dtype(), shape, content);
  }

  Value* wide(Value* x) {
    if (x->dtype() == DType::kI32) return x;
    const double scale = pick(2) == 0 ? static_cast<double>(int64_t{1} << pick(12)) : 0.3;
    return b_.rescale(x, DType::kI32, scale, number(-3, 3), 0);
  }
  Value* narrow(Value* x) {
    const int64_t zp = x->dtype() == DType::kI8 ? number(-9, 9) : 0;
    return b_.rescale(x, DType::kI8, pick(3) == 0 ? 1 : 0.7 / (1 << pick(12)), zp, number(-9, 9));
  }

  Value* pooled(Value* x) {
    return b_.emit(tosa::max_pool2d, {x},
                   tosa::MaxPool2dAttrs{.kernel = {2, 2}, .stride = {1, 1}, .pad = {1, 0, 0, 1}});
  }

  /// Channels reversed in order of axes, flattened, and summed by a convolution.
  Value* linear(Value* x) {
    const Shape s = x->shape();
    const int64_t channels = s.num_elements() / s[0];
    std::vector<int64_t> content(static_cast<size_t>(2 * channels));
    for (int64_t& v : content)
      v = number(-127, 127);
    const int64_t bias[] = {3, -5};
    const int64_t perm[] = {0, 3, 1, 2};
    Value* flat = b_.reshape(b_.transpose(x, perm), {s[0], 1, 1, channels});
    return b_.emit(tosa::conv2d,
                   {flat, b_.constant_ints(DType::kI8, {2, 1, 1, channels}, content),
                    b_.constant_ints(DType::kI32, {2}, bias), b_.zero_point(DType::kI8, 1),
                    b_.zero_point(DType::kI8, 0)},
                   tosa::Conv2dAttrs{});
  }

  Value* reshaped(Value* x) {
    const Shape& s = x->shape();
    switch (pick(3)) {
      case 0:
        return b_.reshape(x, {s[0], s[1], s[2] * s[3], 1});
      case 1:
        return b_.reshape(x, {s[0] * s[1], 1, s[2], s[3]});
      default:
        return b_.reshape(x, {s[3], s[2], s[1], s[0]});
    }
  }

  Value* resized(Value* x) {
    std::vector<int64_t> start(4);
    std::vector<int64_t> size(x->shape().begin(), x->shape().end());
    const size_t axis = pick(4);
    if (pick(2) == 0) {
      std::vector<int64_t> pads(8);
      pads[2 * axis] = number(0, 1);
      pads[2 * axis + 1] = number(0, 2);
      return b_.emit(tosa::pad, {x, b_.shape_value(pads), b_.scalar_int(x->dtype(), 7)});
    }
    if (size[axis] > 1) start[axis] = number(0, 1);
    size[axis] -= start[axis];
    return b_.emit(tosa::slice, {x, b_.shape_value(start), b_.shape_value(size)});
  }

  void add_node() {
    Value* x = any();
    const bool is_i8 = x->dtype() == DType::kI8;
    const auto axis = static_cast<int32_t>(pick(4));
    switch (pick(13)) {
      case 0:
      case 1:
      case 2: {
        const auto perm = random_perm();
        return keep(b_.emit(tosa::transpose, {x}, tosa::TransposeAttrs{perm}));
      }
      case 3:
        return keep(b_.clamp_int(x, number(-90, -20), number(0, 90)));
      case 4:
        return keep(resized(x));
      case 5: {
        Value* y = partner(x, true);
        Value* const operands[] = {x, y};
        return keep(b_.emit(tosa::concat, operands,
                            tosa::write_attrs(tosa::AxisAttrs{axis}, b_.module().arena())));
      }
      case 6: {
        Value* w = wide(x);
        return keep(b_.emit(pick(2) == 0 ? tosa::add : tosa::sub, {w, partner(w, false)}));
      }
      case 7:
        return keep(narrow(x));
      case 8:
        return keep(wide(x));
      case 9:
        return keep(is_i8 ? pooled(x) : b_.emit(tosa::reduce_sum, {x}, tosa::AxisAttrs{axis}));
      case 10:
        return keep(reshaped(x));
      case 11:
        return keep(is_i8 ? linear(x) : b_.mul(x, partner(x, false)));
      default:
        return keep(pick(2) == 0 ? b_.emit(tosa::identity, {x})
                                 : b_.emit(tosa::reduce_max, {x}, tosa::AxisNanAttrs{axis}));
    }
  }

  Module module_;
  std::mt19937 random_;
  Target target_;
  Graph& graph_;
  Builder b_;
  std::vector<Value*> values_;
};

std::vector<HostTensor> run(const Graph& graph, const std::vector<HostTensor>& inputs) {
  auto outputs = tosa::Reference(graph).run(inputs);
  if (!outputs) {
    ADD_FAILURE() << render(outputs.error());
    return {};
  }
  return *std::move(outputs);
}

/// Bytes that the graph's TRANSPOSEs move.
int64_t moved_bytes(const Graph& graph) {
  int64_t sum = 0;
  for (const Node& node : graph.nodes()) {
    const auto perm = transpose_of(&node);
    if (!perm || moves_nothing(node.operand(0)->shape(), *perm)) continue;
    sum += static_cast<int64_t>(element_bytes(node.result().dtype())) *
           node.result().shape().num_elements();
  }
  return sum;
}

using Passes = std::vector<const Pass*>;

/// Whether the bits stay, and the bytes moved do not grow, for one seed.
void check_seed(uint32_t seed, const Passes& passes) {
  RandomGraph random(seed);
  Graph& graph = random.graph();
  ASSERT_TRUE(verify(random.module()).ok());
  const std::string text = print(random.module());
  std::vector<HostTensor> inputs;
  for (const Value* input : graph.inputs())
    inputs.push_back(random_tensor(input->type(), random.random()));
  const std::vector<HostTensor> before = run(graph, inputs);
  PassContext context;
  for (const Pass* pass : passes) {
    context.changed = false;
    const std::string old = print(random.module());
    ASSERT_TRUE(pass->run(graph, context).ok());
    const Status valid = verify(random.module());
    ASSERT_TRUE(valid.ok()) << pass->name << '\n' << render(valid.error()) << text;
    EXPECT_TRUE(context.changed || print(random.module()) == old) << pass->name;
  }
  const std::vector<HostTensor> after = run(graph, inputs);
  ASSERT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    ASSERT_EQ(before[i].dtype, after[i].dtype);
    ASSERT_EQ(before[i].shape, after[i].shape);
    ASSERT_TRUE(std::ranges::equal(before[i].bytes, after[i].bytes))
        << "output " << i << " of seed " << seed << '\n'
        << text << "becomes\n"
        << print(random.module());
  }
}

void check(const Passes& passes) {
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    check_seed(seed, passes);
    if (testing::Test::HasFatalFailure()) return;
  }
}

TEST(TosaPasses, CanonicaliseKeepsAllBits) {
  check({&kCanonicalise});
}
TEST(TosaPasses, ChooseLayoutKeepsAllBits) {
  check({&kChooseLayout});
}
TEST(TosaPasses, FoldRescaleKeepsAllBits) {
  check({&kFoldRescale});
}
TEST(TosaPasses, ShareConstantsKeepsAllBits) {
  check({&kShareConstants});
}
TEST(TosaPasses, RemoveDeadNodesKeepsAllBits) {
  check({&kRemoveDeadNodes});
}
TEST(TosaPasses, ThePipelineKeepsAllBits) {
  check({&kCanonicalise, &kChooseLayout, &kCanonicalise, &kFoldRescale, &kRemoveDeadNodes,
         &kShareConstants});
}

TEST(TosaPasses, ChoosingLayoutsMovesNoMoreBytes) {
  int64_t before = 0;
  int64_t after = 0;
  for (uint32_t seed = 1; seed <= 1000; ++seed) {
    RandomGraph random(seed);
    PassContext context;
    ASSERT_TRUE(run_canonicalise(random.graph(), context).ok());
    const int64_t old = moved_bytes(random.graph());
    const std::string text = print(random.module());
    ASSERT_TRUE(run_choose_layout(random.graph(), context).ok());
    ASSERT_TRUE(run_canonicalise(random.graph(), context).ok());
    EXPECT_LE(moved_bytes(random.graph()), old) << seed << '\n' << text << print(random.module());
    before += old;
    after += moved_bytes(random.graph());
  }
  EXPECT_LT(after, before);
}

TEST(TosaPasses, ReshapesSwapWithTransposesOfWholeGroups) {
  // NHWC -> NCHW, then H and W become one axis: NHWC -> N(HW)C -> NC(HW).
  const auto nchw = Permutation(std::vector<int64_t>{0, 3, 1, 2});
  const auto swapped = swap_reshape({1, 14, 14, 192}, nchw, {1, 192, 196});
  ASSERT_TRUE(swapped.has_value());
  EXPECT_EQ(to_string(swapped->shape), "[1,196,192]");
  EXPECT_TRUE(swapped->perm == Permutation(std::vector<int64_t>{0, 2, 1}));
  // C and H do not follow each other in NHWC.
  EXPECT_FALSE(swap_reshape({1, 14, 14, 192}, nchw, {1, 192 * 14, 14}).has_value());
}

/// All inputs of a type through two RESCALEs, and through what the pass makes of them.
void check_pair(DType in, double first, int64_t zp, double second, size_t num_nodes) {
  Module module;
  const Target target = any_target();
  Graph& graph = module.add_graph("main", Dialect::kTosa);
  const int64_t count = integer_max(in) - integer_min(in) + 1;
  Value& x = graph.add_input({in, {count}}, "x");
  Builder b(graph, target);
  Value* y = b.rescale(b.rescale(&x, DType::kI32, first, zp, 0), DType::kI8, second, 0, -5);
  ASSERT_FALSE(b.failure().has_value());
  graph.set_outputs(std::vector<Value*>{y});
  HostTensor input = HostTensor::allocate(in, x.shape());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t v = i + integer_min(in);
    std::memcpy(input.storage.data() + static_cast<size_t>(i) * element_bytes(in), &v,
                element_bytes(in));
  }
  const std::vector<HostTensor> inputs = {input};
  const auto before = run(graph, inputs);
  PassContext context;
  ASSERT_TRUE(run_fold_rescale(graph, context).ok());
  graph.erase_dead_nodes();
  EXPECT_EQ(graph.num_nodes(), num_nodes) << first << ' ' << second;
  const auto after = run(graph, inputs);
  EXPECT_TRUE(std::ranges::equal(before[0].bytes, after[0].bytes)) << first << ' ' << second;
}

TEST(TosaPasses, MergedRescalesAreExactForAllInputs) {
  for (const double second : {0.0013, 0.37, 1.0 / 1024, 1.0 / 3072, 0.9}) {
    check_pair(DType::kI8, 1024, 3, second, 1);
    check_pair(DType::kI16, 16, 0, second, 1);
    check_pair(DType::kI8, 1, -128, second, 1);
  }
  check_pair(DType::kI8, 0.5, 3, 0.3, 2);       // the first one rounds
  check_pair(DType::kI8, 1024.5, 3, 0.001, 2);  // no integer
}

}  // namespace
}  // namespace tosaic
