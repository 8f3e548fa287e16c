// SPDX-License-Identifier: Apache-2.0
// Calls as damaged files may state them: each row with operands of any rank and type, arguments of
// any value and results of any shape gives a lowering or a reason, in TOSA and as calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <random>

#include "aten/builder.h"
#include "aten/test_target.h"

namespace tosaic::aten {
namespace {

constexpr int kCalls = 40;  // of each overload

std::optional<Reject> refuse(const Node&, const Target&) {
  return reject(Code::kRejectTargetOp, "no TOSA here");
}

/// As calls, nothing of TOSA may be made.
Target target_of(Builder::Mode mode) {
  Target t = test_target();
  if (mode == Builder::Mode::kRecord) t.rows = refuse;
  return t;
}

class AnyCall {
 public:
  AnyCall(const OpDef& op, int variant, uint32_t seed, Builder::Mode mode)
      : op_(op), variant_(variant), schema_(schema(op, variant)), mode_(mode), random_(seed) {
    base_ = shape();
    for (const SchemaArg& arg : schema_.args)
      add(arg);
    const int count = schema_.returns_list ? 1 + below(4) : schema_.num_returns;
    for (int i = 0; i < count; ++i)
      results_.push_back(type());
  }

  /// "" when all is well.
  std::string outcome() {
    if (row(op_).lower == nullptr) return {};
    const AttrList attrs = module_.copy_attrs(attrs_);
    const Call call(op_, variant_, operands_, segments_, attrs, results_, nullptr);
    Builder b(graph_, target_, mode_);
    const Lowered lowered =
        mode_ == Builder::Mode::kRecord ? row(op_).lower(call, b) : lower(call, b);
    if (!lowered.ok() && lowered.reason().why.empty()) return "a reason without words";
    return {};
  }

 private:
  int below(int n) { return std::uniform_int_distribution<int>(0, n - 1)(random_); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T, size_t N>
  T one_of(const T (&list)[N]) {
    return list[below(static_cast<int>(N))];
  }

  Shape shape() {
    std::vector<int64_t> sizes(static_cast<size_t>(below(7)));
    for (int64_t& size : sizes)
      size = chance(3) ? 0 : 1 + below(4);
    return Shape(sizes);
  }
  TensorType type() {
    constexpr DType kTypes[] = {DType::kI8, DType::kI32, DType::kBool, DType::kF16};
    const DType dtype = chance(80) ? DType::kF32 : one_of(kTypes);
    const Quant* quant =
        dtype == DType::kI8 && chance(70) ? module_.quant(0.5, 3, -128, 127) : nullptr;
    return {dtype, chance(70) ? base_ : shape(), quant};
  }
  Value* tensor() {
    const TensorType t = type();
    const bool is_constant = t.dtype == DType::kF32 && chance(25);
    if (!is_constant) return &graph_.add_input(t, "x");
    std::vector<double> values(static_cast<size_t>(t.shape.num_elements()), 0.5);
    return &graph_.add_constant(module_.constant_floats(t.dtype, t.shape, values));
  }
  int64_t integer() {
    constexpr int64_t kIntegers[] = {-7,
                                     -2,
                                     -1,
                                     0,
                                     1,
                                     2,
                                     3,
                                     5,
                                     100,
                                     std::numeric_limits<int64_t>::max(),
                                     std::numeric_limits<int64_t>::min()};
    return one_of(kIntegers);
  }
  double real() {
    constexpr double kReals[] = {0,
                                 -1,
                                 0.5,
                                 2,
                                 1e30,
                                 1e-310,
                                 std::numeric_limits<double>::infinity(),
                                 std::numeric_limits<double>::quiet_NaN()};
    return one_of(kReals);
  }
  std::vector<int64_t> integers() {
    std::vector<int64_t> list(static_cast<size_t>(below(7)));
    for (int64_t& i : list)
      i = integer();
    return list;
  }

  void add(const SchemaArg& arg) {
    const bool left_out = arg.optional && chance(50);
    switch (arg.kind) {
      case ArgKind::kTensor:
        operands_.push_back(tensor());
        segments_.push_back(-1);
        return;
      case ArgKind::kOptionalTensor:
        operands_.push_back(chance(50) ? tensor() : nullptr);
        segments_.push_back(-1);
        return;
      case ArgKind::kTensorList:
      case ArgKind::kOptionalTensorList: {
        const int count = below(4);
        for (int i = 0; i < count; ++i) {
          const bool is_absent = arg.kind == ArgKind::kOptionalTensorList && chance(30);
          operands_.push_back(is_absent ? nullptr : tensor());
        }
        segments_.push_back(static_cast<int16_t>(count));
        return;
      }
      case ArgKind::kInt:
        return add(arg, left_out ? Attr() : Attr::integer(integer()));
      case ArgKind::kFloat:
        return add(arg, left_out ? Attr() : Attr::real(real()));
      case ArgKind::kScalar:
        return add(arg, left_out     ? Attr()
                        : chance(50) ? Attr::real(real())
                                     : Attr::integer(integer()));
      case ArgKind::kBool:
        return add(arg, left_out ? Attr() : Attr::boolean(chance(50)));
      case ArgKind::kInts:
        lists_.push_back(integers());
        return add(arg, left_out ? Attr() : Attr::ints(lists_.back()));
      case ArgKind::kString: {
        constexpr std::string_view kTexts[] = {"", "none", "tanh", "xy", "floor", "ij,jk->ik"};
        return add(arg, Attr::string(one_of(kTexts)));
      }
      default:
        return;  // its default
    }
  }
  void add(const SchemaArg& arg, Attr value) {
    if (arg.value && chance(40)) return;
    attrs_.push_back({arg.name, value});
  }

  const OpDef& op_;
  int variant_;
  const Schema& schema_;
  Builder::Mode mode_;
  std::mt19937 random_;
  Module module_;
  Graph graph_{module_, "main", mode_ == Builder::Mode::kLower ? Dialect::kTosa : Dialect::kAten};
  Target target_ = target_of(mode_);
  Shape base_;
  std::vector<Value*> operands_;
  std::vector<int16_t> segments_;
  std::deque<std::vector<int64_t>> lists_;
  std::vector<NamedArg> attrs_;
  std::vector<TensorType> results_;
};

std::vector<std::string> row_names() {
  std::vector<std::string> names;
  for (const OpDef* op : all_ops()) {
    if (op->dialect == Dialect::kAten) names.emplace_back(op->name);
  }
  std::ranges::sort(names);
  return names;
}

class AnyCalls : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Rows, AnyCalls, testing::ValuesIn(row_names()),
                         [](const auto& name) { return name.param; });

TEST_P(AnyCalls, GiveALoweringOrAReason) {
  for (const OpDef* op : all_ops()) {
    if (op->dialect != Dialect::kAten || op->name != GetParam()) continue;
    for (int variant = 0; variant < row(*op).schemas.count; ++variant) {
      for (uint32_t seed = 0; seed < kCalls; ++seed) {
        for (const auto mode : {Builder::Mode::kLower, Builder::Mode::kRecord}) {
          SCOPED_TRACE(fmt::format("{}, seed {}", schema(*op, variant).full_name, seed));
          EXPECT_EQ(AnyCall(*op, variant, seed, mode).outcome(), "");
        }
      }
    }
  }
}

}  // namespace
}  // namespace tosaic::aten
