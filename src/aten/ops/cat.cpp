// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "aten/arithmetic.h"
#include "aten/calls.h"

// Tensors one after another along an axis: CONCAT. Quantised inputs are brought to the output's
// parameters, which they normally share with it.

namespace tosaic::aten {
namespace {

/// ExecuTorch's kernels copy the bytes of other dtypes than the result's.
bool is_of_one_dtype(const Call& n) {
  return std::ranges::all_of(n.tensors("tensors"),
                             [&](const Value* x) { return x->dtype() == n.out().dtype; });
}

Lowered lower_cat(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  if (!normalise_axis(axis, n.out().shape.rank())) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", n.schema().full_name, axis);
  }
  std::vector<Value*> parts;
  if (b.mode() == Builder::Mode::kRecord && !is_of_one_dtype(n)) {
    for (Value* x : n.tensors("tensors"))
      parts.push_back(call_to(b, x, n.out().dtype));
    return call_cat(b, parts, static_cast<int>(axis), n.out());
  }
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
  return side_by_side(b, parts, static_cast<int>(axis));
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
  return call_cat(b, parts, static_cast<int>(axis), n.out());
}

/// cat along `axis` of the inputs with the shapes that `with_axes` gives them.
Lowered call_joined(const Call& n, Builder& b, int axis, Shape (*with_axes)(const Shape&)) {
  std::vector<Value*> parts;
  for (Value* x : n.tensors("tensors"))
    parts.push_back(call_view(b, x, with_axes(x->shape())));
  if (parts.empty()) {
    return reject(Code::kRejectShape, "{}: there are no inputs", n.schema().full_name);
  }
  return call_cat(b, parts, axis, n.out());
}

Shape at_least_1d(const Shape& s) {
  return s.rank() == 0 ? Shape{1} : s;
}
/// A vector as a row.
Shape at_least_2d(const Shape& s) {
  return s.rank() > 1 ? s : Shape{1, s.num_elements()};
}
/// A vector as a column.
Shape with_columns(const Shape& s) {
  return s.rank() > 1 ? s : Shape{s.num_elements(), 1};
}
Shape at_least_3d(const Shape& s) {
  if (s.rank() > 2) return s;
  return s.rank() == 2 ? Shape{s[0], s[1], 1} : Shape{1, s.num_elements(), 1};
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
    .cpu_takes = is_of_one_dtype,
};

TOSAIC_ATEN_OP(stack) = {
    .schemas = schemas("aten::stack(Tensor[] tensors, int dim=0) -> Tensor"),
    .doc = "Tensors of one shape along a new axis: unsqueeze and cat.",
    .quant = {same({0, out(0)})},
    .lower = lower_stack,
    .cpu = "aten::stack.out(Tensor[] tensors, int dim=0, *, Tensor(a!) out) -> Tensor(a!)",
    .cpu_takes = is_of_one_dtype,
};

TOSAIC_ATEN_OP(hstack) = {
    .schemas = schemas("aten::hstack(Tensor[] tensors) -> Tensor"),
    .doc = "Tensors one after another along the second axis, or along the only one: cat.",
    .traits = Trait::kAlias,
    .lower =
        [](const Call& n, Builder& b) {
          return call_joined(n, b, n.out().shape.rank() > 1 ? 1 : 0, at_least_1d);
        },
};

TOSAIC_ATEN_OP(vstack) = {
    .schemas = schemas("aten::vstack(Tensor[] tensors) -> Tensor",
                       "aten::row_stack(Tensor[] tensors) -> Tensor"),
    .doc = "Tensors one after another along the first axis, vectors as rows: cat.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_joined(n, b, 0, at_least_2d); },
};

TOSAIC_ATEN_OP(dstack) = {
    .schemas = schemas("aten::dstack(Tensor[] tensors) -> Tensor"),
    .doc = "Tensors one after another along the third axis: cat.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_joined(n, b, 2, at_least_3d); },
};

TOSAIC_ATEN_OP(column_stack) = {
    .schemas = schemas("aten::column_stack(Tensor[] tensors) -> Tensor"),
    .doc = "Tensors one after another along the second axis, vectors as columns: cat.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_joined(n, b, 1, with_columns); },
};
