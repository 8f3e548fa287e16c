// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Axes of size 1 repeated: TILE.

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
