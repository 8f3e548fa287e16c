// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"
#include "aten/calls.h"

// Tensors repeated along axes: TILE. How often follows from the sizes of the result.

namespace tosaic::aten {
namespace {

Lowered lower_expand(const Call& n, Builder& b) {
  const Shape& to = n.out().shape;
  Value* x = b.expand_rank(with_parameters(n, b, n.in(0), n.out()), to.rank());
  if (x->shape().rank() != to.rank()) {
    return reject(Code::kRejectShape, "{}: {} to {}", n.schema().full_name,
                  to_string(n.in(0)->shape()), to_string(to));
  }
  std::vector<int64_t> multiples;
  for (int axis = 0; axis < to.rank(); ++axis) {
    multiples.push_back(to[axis] / std::max<int64_t>(x->shape()[axis], 1));
  }
  if (x->shape() == to) return x;
  return b.emit(tosa::tile, {x, b.shape_value(multiples)});
}

Value* call_expand(Builder& b, Value* x, const TensorType& type) {
  if (x->shape() == type.shape) return x;
  return b.call("aten.expand.default", {x}, type, {{"size", Attr::ints(type.shape.sizes())}});
}

Lowered lower_broadcast_tensors(const Call& n, Builder& b) {
  std::vector<Value*> values;
  for (Value* x : n.operands())
    values.push_back(call_expand(b, x, {x->dtype(), n.out().shape, x->quant()}));
  return values;
}

/// Vector i along axis i of a grid; with indexing "xy" the first two axes change places.
Lowered lower_meshgrid(const Call& n, Builder& b) {
  const bool swaps = n.schema().find("indexing") != nullptr && n.s("indexing") == "xy";
  std::vector<Value*> values;
  for (Value* x : n.operands()) {
    const auto i = static_cast<int>(values.size());
    const int axis = swaps && i < 2 && n.operands().size() > 1 ? 1 - i : i;
    TensorType type{x->dtype(), n.out().shape, x->quant()};
    Shape row = type.shape;
    for (int a = 0; a < row.rank(); ++a)
      row[a] = a == axis ? row[a] : 1;
    if (row.num_elements() != x->shape().num_elements()) {
      return reject(Code::kRejectShape, "{}: {} along axis {} of {}", n.schema().full_name,
                    to_string(x->shape()), axis, to_string(type.shape));
    }
    values.push_back(call_expand(b, call_view(b, x, row), type));
  }
  return values;
}

Lowered lower_tile(const Call& n, Builder& b) {
  if (b.mode() == Builder::Mode::kLower) return lower_expand(n, b);
  // repeat takes no fewer numbers than there are axes.
  std::vector<int64_t> repeats = n.ints("dims");
  const auto rank = static_cast<size_t>(n.out().shape.rank());
  if (repeats.size() < rank) repeats.insert(repeats.begin(), rank - repeats.size(), 1);
  return b.call("aten.repeat.default", {n.in(0)}, n.out(), {{"repeats", Attr::ints(repeats)}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(expand) = {
    .schemas =
        schemas("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
                "aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor",
                "aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)"),
    .doc = "Axes of size 1 repeated: TILE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_expand,
    .cpu =
        "aten::expand_copy.out(Tensor self, SymInt[] size, *, bool implicit=False, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(expand_as) = {
    .schemas = schemas("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)"),
    .doc = "Axes of size 1 repeated to another tensor's sizes: TILE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower =
        [](const Call& n, Builder& b) {
          if (b.mode() == Builder::Mode::kLower) return lower_expand(n, b);
          return Lowered(b.call("aten.expand.default", {n.in(0)}, n.out(),
                                {{"size", Attr::ints(n.out().shape.sizes())}}));
        },
};

TOSAIC_ATEN_OP(repeat) = {
    .schemas = schemas("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor"),
    .doc = "Copies side by side along each axis: TILE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_expand,
    .cpu = "aten::repeat.out(Tensor self, SymInt[] repeats, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(tile) = {
    .schemas = schemas("aten::tile(Tensor self, SymInt[] dims) -> Tensor"),
    .doc = "Copies side by side along each axis: TILE.",
    .traits = Trait::kView,
    .quant = {same({0, out(0)})},
    .lower = lower_tile,
};

TOSAIC_ATEN_OP(broadcast_tensors) = {
    .schemas = schemas("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]"),
    .doc = "Axes of size 1 repeated until all have the same sizes: expand.",
    .traits = Trait::kAlias,
    .lower = lower_broadcast_tensors,
};

TOSAIC_ATEN_OP(meshgrid) = {
    .schemas = schemas("aten::meshgrid(Tensor[] tensors) -> Tensor[]",
                       "aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]"),
    .doc = "Vectors along the axes of a grid: expand.",
    .traits = Trait::kAlias,
    .lower = lower_meshgrid,
};
