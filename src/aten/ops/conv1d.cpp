// SPDX-License-Identifier: Apache-2.0
#include "aten/calls.h"

// Convolution over one axis: conv2d over images of one row.

namespace tosaic::aten {
namespace {

/// [.., L] -> [.., 1, L]
Shape with_row(const Shape& shape) {
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  sizes.insert(sizes.end() - 1, 1);
  return Shape(sizes);
}

Lowered lower_conv1d(const Call& n, Builder& b) {
  Value* x = n.tensor("input");
  Value* w = n.tensor("weight");
  const int rank = x->shape().rank();
  if ((rank != 2 && rank != 3) || w->shape().rank() != 3 || n.out().shape.rank() != rank) {
    return reject(Code::kRejectShape, "{}: input {} and weight {}; 2 or 3 and 3 axes are taken",
                  n.schema().full_name, to_string(x->shape()), to_string(w->shape()));
  }
  const bool is_text = n.arg("padding").kind() == Attr::Kind::kString;
  const auto stride = n.ints("stride", 1);
  const auto dilation = n.ints("dilation", 1);
  const auto pad = is_text ? std::vector<int64_t>{0} : n.ints("padding", 1);
  if (stride.size() != 1 || dilation.size() != 1 || pad.size() != 1) {
    return reject(Code::kRejectAttribute, "{}: stride, padding and dilation must have one size",
                  n.schema().full_name);
  }
  const int64_t stride2[] = {1, stride[0]};
  const int64_t dilation2[] = {1, dilation[0]};
  const int64_t pad2[] = {0, pad[0]};
  const TensorType& out = n.out();
  Value* y = b.call(is_text ? "aten.conv2d.padding" : "aten.conv2d.default",
                    {call_view(b, x, with_row(x->shape())), call_view(b, w, with_row(w->shape())),
                     n.tensor("bias")},
                    {out.dtype, with_row(out.shape), out.quant},
                    {{"stride", Attr::ints(stride2)},
                     {"padding", is_text ? n.arg("padding") : Attr::ints(pad2)},
                     {"dilation", Attr::ints(dilation2)},
                     {"groups", n.arg("groups")}});
  return call_view(b, y, out);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(conv1d) = {
    .schemas = schemas(
        "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], "
        "SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"),
    .doc = "Convolution over one axis: conv2d over images of one row.",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 0), bias(2, 0, 1), own(out(0))},
    .lower = lower_conv1d,
    .cpu =
        "aten::convolution.out(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, "
        "SymInt[] padding, SymInt[] dilation, bool transposed=False, "
        "SymInt[] output_padding=[0], SymInt groups=1, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = [](const Call& n) { return n.tensor("input")->shape().rank() == 3; },
};

TOSAIC_ATEN_OP(conv1d_padding) = {
    .schemas = schemas("aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
                       "SymInt[1] stride=[1], "
                       "str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor"),
    .doc = "conv1d with padding \"same\" or \"valid\".",
    .traits = Trait::kFusesActivation,
    .quant = {own(0), weight(1, 0), bias(2, 0, 1), own(out(0))},
    .lower = lower_conv1d,
};
