// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Tensors one after another along an axis: CONCAT. Quantised inputs are brought to the output's
// parameters, which they normally share with it.

namespace tosaic::aten {
namespace {

Lowered lower_cat(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  if (!normalise_axis(axis, n.out().shape.rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  std::vector<Value*> parts;
  for (Value* x : n.tensors("tensors")) {
    // Parts of no elements give nothing; PyTorch lets an empty vector stand among any shapes.
    if (x->shape().is_static() && x->shape().num_elements() == 0) continue;
    if (n.any_quantised()) {
      if (auto r = check_activation(n, x->type(), "an input")) return *r;
      if (auto r = check_activation(n, n.out(), "the output")) return *r;
      x = requantise(b, x, n.out());
    } else {
      x = b.cast(x, n.out().dtype);
    }
    parts.push_back(x);
  }
  if (parts.empty()) {
    return reject(Code::kRejectShape, "{}: all inputs are empty", n.schema().full_name);
  }
  if (parts.size() == 1) return parts[0];
  return b.emit(tosa::concat, parts,
                tosa::write_attrs(tosa::AxisAttrs{static_cast<int32_t>(axis)}, b.module().arena()));
}

/// cat of the inputs with an axis of one element more.
Lowered lower_stack(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  if (!normalise_axis(axis, n.out().shape.rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  Shape shape = n.out().shape;
  shape[static_cast<int>(axis)] = 1;
  std::vector<Value*> parts;
  for (Value* x : n.tensors("tensors")) {
    parts.push_back(b.call("aten.unsqueeze.default", {x}, {x->dtype(), shape, x->quant()},
                           {{"dim", Attr::integer(axis)}}));
  }
  const auto count = static_cast<int16_t>(parts.size());
  const NamedArg dim{"dim", Attr::integer(axis)};
  return b.call_all("aten.cat.default", parts, {&count, 1}, {&n.out(), 1}, {&dim, 1});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(cat) = {
    .schemas = schemas("aten::cat(Tensor[] tensors, int dim=0) -> Tensor",
                       "aten::concat(Tensor[] tensors, int dim=0) -> Tensor",
                       "aten::concatenate(Tensor[] tensors, int dim=0) -> Tensor"),
    .doc = "Tensors one after another along an axis: CONCAT.",
    .quant = {same({0, out(0)})},
    .lower = lower_cat,
    .cpu = "aten::cat.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(stack) = {
    .schemas = schemas("aten::stack(Tensor[] tensors, int dim=0) -> Tensor"),
    .doc = "Tensors of one shape along a new axis: unsqueeze and cat.",
    .quant = {same({0, out(0)})},
    .lower = lower_stack,
    .cpu = "aten::stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
};
