// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

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
                "aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor"),
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
