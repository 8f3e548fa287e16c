// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <deque>
#include <limits>

#include "aten/arithmetic.h"
#include "aten/calls.h"

// Pooling over the last three axes: over the last two with all others as channels, then over the
// third last, whose windows are as high as they are deep.

namespace tosaic::aten {
namespace {

/// Arguments of the two calls of an operator with two axes.
struct Stages {
  std::string_view overload;
  std::vector<NamedArg> planes{};
  std::vector<NamedArg> depth{};
  std::deque<std::array<int64_t, 2>> sizes{};  ///< that the arguments refer to

  void add(std::string_view name, Attr value) {
    planes.push_back({name, value});
    depth.push_back({name, value});
  }
  /// A list of three numbers: the last two for the planes, the first for the depth, with `across`
  /// for the other axis.
  void add(std::string_view name, const std::vector<int64_t>& list, int64_t across) {
    sizes.push_back({list[1], list[2]});
    planes.push_back({name, Attr::ints(sizes.back())});
    sizes.push_back({list[0], across});
    depth.push_back({name, Attr::ints(sizes.back())});
  }
};

Value* call_pool2d(Builder& b, const Stages& stages, Value* x, const TensorType& type,
                   std::span<const NamedArg> args) {
  const TensorType results[] = {type, {DType::kI64, type.shape, nullptr}};
  const size_t count = stages.overload == "aten.adaptive_max_pool2d.default" ? 2 : 1;
  return b.call_all(stages.overload, {&x, 1}, {}, std::span(results).first(count), args)[0];
}

std::optional<Reject> check_rank(const Call& n) {
  const int rank = n.in(0)->shape().rank();
  const bool has_elements = n.in(0)->shape().num_elements() > 0;
  if ((rank == 4 || rank == 5) && n.out().shape.rank() == rank && has_elements) {
    return std::nullopt;
  }
  return reject(Code::kRejectShape, "{}: input {}; 4 or 5 axes are taken", n.schema().full_name,
                to_string(n.in(0)->shape()));
}

/// `x`, pooled to the operator's results.
Lowered lower_stages(const Call& n, Builder& b, const Stages& stages, Value* x) {
  const Shape in = x->shape();
  const Shape& out = n.out().shape;
  const int d = in.rank() - 3;
  const int64_t lead = in.num_elements() / (in[d] * in[d + 1] * in[d + 2]);
  const auto typed = [dtype = x->dtype(), quant = x->quant()](const Shape& shape) {
    return TensorType{dtype, shape, quant};
  };
  x = call_view(b, x, Shape{1, lead * in[d], in[d + 1], in[d + 2]});
  x = call_pool2d(b, stages, x, typed({1, lead * in[d], out[d + 1], out[d + 2]}), stages.planes);
  const int64_t plane = out[d + 1] * out[d + 2];
  x = call_view(b, x, Shape{1, lead, in[d], plane});
  x = call_pool2d(b, stages, x, {n.out().dtype, {1, lead, out[d], plane}, n.out().quant},
                  stages.depth);
  std::vector<Value*> results(n.results().size(), nullptr);
  results[0] = call_view(b, x, n.out());
  return results;
}

/// Kernel, stride, padding and ceil_mode, which all window operators have.
std::optional<Reject> read_windows(const Call& n, Stages& stages) {
  const auto kernel = n.ints("kernel_size", 3);
  auto stride = n.ints("stride", 3);
  if (stride.empty()) stride = kernel;
  const auto padding = n.ints("padding", 3);
  if (kernel.size() != 3 || stride.size() != 3 || padding.size() != 3) {
    return reject(Code::kRejectAttribute, "{}: kernel, stride and padding must have three sizes",
                  n.schema().full_name);
  }
  stages.add("kernel_size", kernel, 1);
  stages.add("stride", stride, 1);
  stages.add("padding", padding, 0);
  stages.add("ceil_mode", n.arg("ceil_mode"));
  return std::nullopt;
}

Lowered lower_max_pool3d(const Call& n, Builder& b) {
  if (auto r = check_rank(n)) return *r;
  Stages stages{"aten.max_pool2d.default"};
  if (auto r = read_windows(n, stages)) return *r;
  const auto dilation = n.ints("dilation", 3);
  if (dilation.size() != 3) {
    return reject(Code::kRejectAttribute, "{}: the dilation must have three sizes",
                  n.schema().full_name);
  }
  stages.add("dilation", dilation, 1);
  return lower_stages(n, b, stages, n.in(0));
}

/// The operand of an average. One of 8 bits gets 16, in steps of 1/128 of its own, so that the
/// average of averages is as good as one.
Value* averaged(const Call& n, Builder& b) {
  Value* x = n.in(0);
  if (x->dtype() != DType::kI8 || x->quant() == nullptr || !b.has(Feature::kInt16)) return x;
  const Quant* finer =
      b.module().quant(std::ldexp(x->quant()->scale(), -7), 0, std::numeric_limits<int16_t>::min(),
                       std::numeric_limits<int16_t>::max());
  const TensorType type{DType::kI16, x->shape(), finer};
  x = requantise(b, x, type);
  x->set_type(type);
  return x;
}

std::optional<Reject> check_average(const Call& n) {
  if (auto r = check_rank(n)) return r;
  return n.any_quantised() ? check_activation(n, n.in(0)->type(), "the input") : std::nullopt;
}

Lowered lower_avg_pool3d(const Call& n, Builder& b) {
  if (auto r = check_average(n)) return *r;
  Stages stages{"aten.avg_pool2d.default"};
  if (auto r = read_windows(n, stages)) return *r;
  stages.add("count_include_pad", n.arg("count_include_pad"));
  if (n.has("divisor_override")) {
    if (n.any_quantised()) {
      return reject(Code::kRejectAttribute, "{}: a quantised divisor_override",
                    n.schema().full_name);
    }
    stages.planes.push_back({"divisor_override", n.arg("divisor_override")});
    stages.depth.push_back({"divisor_override", Attr::integer(1)});
  }
  return lower_stages(n, b, stages, averaged(n, b));
}

Lowered lower_adaptive(const Call& n, Builder& b, std::string_view overload, Value* x) {
  const Shape& out = n.out().shape;
  const int d = out.rank() - 3;
  Stages stages{overload};
  stages.add("output_size", {out[d], out[d + 1], out[d + 2]}, out[d + 1] * out[d + 2]);
  return lower_stages(n, b, stages, x);
}

Lowered lower_adaptive_avg_pool3d(const Call& n, Builder& b) {
  if (auto r = check_average(n)) return *r;
  return lower_adaptive(n, b, "aten.adaptive_avg_pool2d.default", averaged(n, b));
}

Lowered lower_adaptive_max_pool3d(const Call& n, Builder& b) {
  if (auto r = check_rank(n)) return *r;
  return lower_adaptive(n, b, "aten.adaptive_max_pool2d.default", n.in(0));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(max_pool3d) = {
    .schemas = schemas(
        "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
        "int[3] dilation=1, bool ceil_mode=False) -> Tensor"),
    .doc = "Greatest elements of windows of three axes: max_pool2d twice.",
    .quant = {same({0, out(0)})},
    .lower = lower_max_pool3d,
};

TOSAIC_ATEN_OP(max_pool3d_with_indices) = {
    .schemas = schemas(
        "aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], "
        "int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)"),
    .doc = "max_pool3d, without the indices.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_alias(n, b, "aten.max_pool3d.default"); },
};

TOSAIC_ATEN_OP(avg_pool3d) = {
    .schemas = schemas(
        "aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, "
        "bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor"),
    .doc = "Averages of windows of three axes: avg_pool2d twice.",
    .quant = {same({0, out(0)})},
    .lower = lower_avg_pool3d,
};

TOSAIC_ATEN_OP(adaptive_avg_pool3d) = {
    .schemas = schemas("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor",
                       "aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor"),
    .doc = "Averages of as many windows as the output has elements: adaptive_avg_pool2d twice.",
    .quant = {same({0, out(0)})},
    .lower = lower_adaptive_avg_pool3d,
};

TOSAIC_ATEN_OP(adaptive_max_pool3d) = {
    .schemas =
        schemas("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)"),
    .doc =
        "Greatest elements of as many windows as the output has elements: adaptive_max_pool2d "
        "twice, without the indices.",
    .quant = {same({0, out(0)})},
    .lower = lower_adaptive_max_pool3d,
};
