// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Tensors that are filled with one number: constants of one element, repeated by strides of 0.

namespace tosaic::aten {
namespace {

Lowered fill(const Call& n, Builder& b, double value) {
  const TensorType& type = n.out();
  Module& module = b.module();
  const Shape one{1};
  const double stored = type.quant == nullptr
                            ? value
                            : static_cast<double>(quantised_value(value, *type.quant));
  const auto integer = static_cast<int64_t>(stored);
  const Constant& element = is_float(type.dtype)
                                ? module.constant_floats(type.dtype, one, {&stored, 1})
                                : module.constant_ints(type.dtype, one, {&integer, 1});
  const std::vector<int64_t> strides(static_cast<size_t>(type.shape.rank()), 0);
  return b.constant(module.constant_view(type.dtype, type.shape, strides, element.data));
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(zeros) = {
    .schemas = schemas(
        "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A tensor of zeros: a constant.",
    .quant = {own(out(0))},
    .lower = [](const Call& n, Builder& b) { return fill(n, b, 0); },
    .cpu = "aten::zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
};
