// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Tensors of one number: constants.

namespace tosaic::aten {
namespace {

/// Greater constants would only make the file large.
constexpr int64_t kMaxElements = int64_t{1} << 24;

Lowered lower_fill(const Call& n, Builder& b, double number) {
  const TensorType& type = n.out();
  if (!type.shape.is_static() || type.shape.num_elements() == 0 ||
      type.shape.num_elements() > kMaxElements) {
    return reject(Code::kRejectShape, "{}: the result has sizes {}", n.schema().full_name,
                  to_string(type.shape));
  }
  const auto count = static_cast<size_t>(type.shape.num_elements());
  Module& module = b.module();
  if (is_float(type.dtype)) {
    return b.constant(
        module.constant_floats(type.dtype, type.shape, std::vector<double>(count, number)));
  }
  const int64_t stored =
      type.quant == nullptr ? static_cast<int64_t>(number) : quantised_value(number, *type.quant);
  const Constant& data =
      module.constant_ints(type.dtype, type.shape, std::vector<int64_t>(count, stored));
  return &b.graph().add_constant(data, type);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(zeros) = {
    .schemas = schemas(
        "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of zeros.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, 0); },
    .cpu = "aten::zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(full) = {
    .schemas = schemas(
        "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of one number.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, n.f("fill_value")); },
    .cpu = "aten::full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)",
};
