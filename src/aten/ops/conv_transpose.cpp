// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/calls.h"

// Transposed convolution: TRANSPOSE_CONV2D. PyTorch's padding is what is cut off the result, and
// its output_padding what is added behind: together TOSA's out_pad. A dilated kernel has zeros
// between its elements.

namespace tosaic::aten {
namespace {

/// [IOHW] -> [OHWI]
constexpr int64_t kWeightToOhwi[] = {1, 2, 3, 0};

std::optional<Reject> check(const Call& n, const Value& x, const Value& w) {
  const int rank = x.shape().rank();
  const std::string& name = n.schema().full_name;
  if ((rank != 3 && rank != 4) || w.shape().rank() != 4) {
    return reject(Code::kRejectShape, "{}: input {} and weight {}; 3 or 4 and 4 axes are taken",
                  name, to_string(x.shape()), to_string(w.shape()));
  }
  for (std::string_view list : {"stride", "padding", "output_padding", "dilation"}) {
    if (n.ints(list, 2).size() != 2) {
      return reject(Code::kRejectAttribute, "{}: {} must have two sizes", name, list);
    }
  }
  for (int64_t d : n.ints("dilation", 2)) {
    if (d == 1 || (d > 1 && w.is_constant())) continue;
    return reject(Code::kRejectAttribute, "{}: dilation {}; other than 1 needs a constant weight",
                  name, d);
  }
  const int64_t groups = n.i("groups");
  if (groups < 1 || w.shape()[0] % groups != 0 || x.shape()[rank - 3] != w.shape()[0]) {
    return reject(Code::kRejectShape, "{}: {} groups of {} input channels", name, groups,
                  w.shape()[0]);
  }
  if (groups > 1 && !w.is_constant()) {
    return reject(Code::kRejectNotConstant,
                  "{}: the weight of a grouped convolution must be a constant", name);
  }
  if (groups > 1 && w.quant() != nullptr && !w.quant()->per_tensor()) {
    return reject(Code::kRejectQuantParams,
                  "{}: {} groups share scales per channel; one scale for all is taken", name,
                  groups);
  }
  return std::nullopt;
}

/// Elements [first, first + count) of an axis.
Value* range(Builder& b, Value* x, int axis, int64_t first, int64_t count) {
  std::vector<int64_t> start(static_cast<size_t>(x->shape().rank()), 0);
  std::vector<int64_t> size(x->shape().begin(), x->shape().end());
  start[static_cast<size_t>(axis)] = first;
  size[static_cast<size_t>(axis)] = count;
  return b.slice(x, start, size);
}

/// The constant weight with zeros between its elements: TRANSPOSE_CONV2D has no dilation.
Value* dilated(Builder& b, Value* w, int64_t down, int64_t across) {
  if ((down == 1 && across == 1) || !w->is_constant()) return w;
  const Shape s = w->shape();
  const Shape to{s[0], s[1], (s[2] - 1) * down + 1, (s[3] - 1) * across + 1};
  const auto place = [&](int64_t p) {
    const int64_t row = p / s[3];
    return (row / s[2] * to[2] + row % s[2] * down) * to[3] + p % s[3] * across;
  };
  const Constant* made = nullptr;
  const auto spread = [&](const auto& values) {
    std::vector<typename std::decay_t<decltype(values)>::value_type> wide(
        static_cast<size_t>(to.num_elements()));
    for (size_t p = 0; p < values.size(); ++p)
      wide[static_cast<size_t>(place(static_cast<int64_t>(p)))] = values[p];
    return wide;
  };
  if (is_float(w->dtype())) {
    made = &b.module().constant_floats(w->dtype(), to, spread(float_values(*w->constant())));
  } else {  // weights have the zero point 0
    made = &b.module().constant_ints(w->dtype(), to, spread(int_values(*w->constant())));
  }
  return &b.graph().add_constant(*made, {w->dtype(), to, w->quant()});
}

Lowered lower_conv_transpose2d(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  if (auto r = check(n, *x, *w)) return *r;
  const auto dilation = n.ints("dilation", 2);
  w = dilated(b, w, dilation[0], dilation[1]);
  const int64_t groups = n.i("groups");
  if (auto r = check_conv_operands(n, *x, *w, n.tensor("bias"), 1)) return *r;
  const auto stride = n.ints("stride", 2);
  const auto padding = n.ints("padding", 2);
  const auto more = n.ints("output_padding", 2);
  const tosa::TransposeConv2dAttrs attrs{
      .out_pad =
          to_int32<4>({-padding[0], more[0] - padding[0], -padding[1], more[1] - padding[1]}),
      .stride = to_int32<2>(stride),
      .acc_type = accumulator_type(x->dtype())};
  const int64_t per_group = w->shape()[1];
  Value* bias = conv_bias(n, b, n.tensor("bias"), *x, *w, per_group * groups);
  Value* zx = b.zero_point(x->dtype(), x->quant() == nullptr ? 0 : x->quant()->zero_point());
  Value* zw = b.zero_point(w->dtype(), 0);
  Value* image = x->shape().rank() == 4 ? x : b.expand_rank(x, 4);
  image = b.layout_transpose(image, kToNhwc);
  const int64_t in_per_group = w->shape()[0] / groups;
  std::vector<Value*> parts;
  for (int64_t g = 0; g < groups; ++g) {
    Value* xg = range(b, image, 3, g * in_per_group, in_per_group);
    Value* wg = b.transpose(range(b, w, 0, g * in_per_group, in_per_group), kWeightToOhwi);
    Value* bg =
        bias->shape().num_elements() == 1 ? bias : range(b, bias, 0, g * per_group, per_group);
    parts.push_back(b.emit(tosa::transpose_conv2d, {xg, wg, bg, zx, zw}, attrs));
  }
  Value* y = finish_accumulators(b, parts, *x, *w, n.out());
  return b.reshape(b.layout_transpose(y, kToNchw), n.out().shape);
}

/// ExecuTorch's kernel takes images with a batch axis only.
bool has_batch(const Call& n) {
  return n.tensor("input")->shape().rank() == 4;
}

Lowered lower_or_record(const Call& n, Builder& b) {
  const bool record = b.mode() == Builder::Mode::kRecord && !has_batch(n);
  return record ? call_with_batch(n, b) : lower_conv_transpose2d(n, b);
}

/// [.., L] -> [.., 1, L]
Shape with_row(const Shape& shape) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  sizes.insert(sizes.end() - 1, 1);
  return Shape(sizes);
}

Lowered lower_conv_transpose1d(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  const int rank = x->shape().rank();
  if ((rank != 2 && rank != 3) || w->shape().rank() != 3 || n.out().shape.rank() != rank) {
    return reject(Code::kRejectShape, "{}: input {} and weight {}; 2 or 3 and 3 axes are taken",
                  n.schema().full_name, to_string(x->shape()), to_string(w->shape()));
  }
  const auto pair = [&n](std::string_view name, int64_t across) {
    std::vector<int64_t> values = n.ints(name, 1);
    values.insert(values.begin(), across);
    return values;
  };
  const TensorType& out = n.out();
  Value* y = b.call("aten.conv_transpose2d.input",
                    {call_view(b, x, with_row(x->shape())), call_view(b, w, with_row(w->shape())),
                     n.tensor("bias")},
                    {out.dtype, with_row(out.shape), out.quant},
                    {{"stride", Attr::ints(pair("stride", 1))},
                     {"padding", Attr::ints(pair("padding", 0))},
                     {"output_padding", Attr::ints(pair("output_padding", 0))},
                     {"groups", n.arg("groups")},
                     {"dilation", Attr::ints(pair("dilation", 1))}});
  return call_view(b, y, out);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(conv_transpose2d) = {
    .schemas = schemas(
        "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
        "SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], "
        "SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor"),
    .doc = "Transposed convolution over two axes: TRANSPOSE_CONV2D, one per group.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 1), bias(2, 0, 1), own(out(0))},
    .lower = lower_or_record,
    .cpu =
        "aten::convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
        "SymInt[] padding, SymInt[] dilation, bool transposed=True, "
        "SymInt[] output_padding=[0, 0], SymInt groups=1, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = has_batch,
};

TOSAIC_ATEN_OP(conv_transpose1d) = {
    .schemas = schemas("aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, "
                       "SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], "
                       "SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor"),
    .doc = "Transposed convolution over one axis: conv_transpose2d over images of one row.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 1), bias(2, 0, 1), own(out(0))},
    .lower = lower_conv_transpose1d,
};
