// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Greatest and least element along axes: REDUCE_MAX and REDUCE_MIN, which take quantised values as
// they are.

namespace tosaic::aten {
namespace {

Lowered lower_extremum(const Call& n, Builder& b, const OpDef& op) {
  Value* x = n.in(0);
  if (x->dtype() != n.out().dtype && !n.any_quantised()) {
    return reject(Code::kRejectDtype, "{}: {} to {}", n.schema().full_name, dtype_name(x->dtype()),
                  dtype_name(n.out().dtype));
  }
  if (x->shape().rank() == 0) return with_parameters(n, b, x, n.out());
  std::vector<int64_t> axes;
  if (auto r = read_axes(n, axes)) return *r;
  const Quant* quant = x->quant();
  for (int64_t axis : axes)
    x = b.emit(op, {x}, tosa::AxisNanAttrs{.axis = static_cast<int32_t>(axis)});
  x = b.reshape(x, n.out().shape);
  if (quant == n.out().quant) return x;
  TensorType type = x->type();
  type.quant = quant;
  x->set_type(type);
  return with_parameters(n, b, x, n.out());
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(amax) = {
    .schemas = schemas("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    .doc = "Greatest element along axes: REDUCE_MAX.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_extremum(n, b, tosa::reduce_max); },
    .cpu =
        "aten::amax.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};

TOSAIC_ATEN_OP(amin) = {
    .schemas = schemas("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor"),
    .doc = "Least element along axes: REDUCE_MIN.",
    .quant = {same({0, out(0)})},
    .lower = [](const Call& n, Builder& b) { return lower_extremum(n, b, tosa::reduce_min); },
    .cpu =
        "aten::amin.out(Tensor self, int[1] dim=[], bool keepdim=False, *, Tensor(a!) out) -> "
        "Tensor(a!)",
};
