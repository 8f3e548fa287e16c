// SPDX-License-Identifier: Apache-2.0
#include "aten/arithmetic.h"

// Tensors whose numbers the program states: constants.

namespace tosaic::aten {
namespace {

/// Greater constants would only make the file large.
constexpr int64_t kMaxElements = int64_t{1} << 24;

/// A constant of number(i) for each element i of the result.
template <typename Fn>
Lowered lower_numbers(const Call& n, Builder& b, Fn number) {
  const TensorType& type = n.out();
  if (!type.shape.is_static() || type.shape.num_elements() == 0 ||
      type.shape.num_elements() > kMaxElements) {
    return reject(Code::kRejectShape, "{}: the result has sizes {}", n.schema().full_name,
                  to_string(type.shape));
  }
  const auto count = static_cast<size_t>(type.shape.num_elements());
  Module& module = b.module();
  if (is_float(type.dtype)) {
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = number(i);
    return b.constant(module.constant_floats(type.dtype, type.shape, values));
  }
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = type.quant == nullptr ? static_cast<int64_t>(number(i))
                                      : quantised_value(number(i), *type.quant);
  }
  return &b.graph().add_constant(module.constant_ints(type.dtype, type.shape, values), type);
}

Lowered lower_fill(const Call& n, Builder& b, double number) {
  return lower_numbers(n, b, [=](size_t) { return number; });
}

Lowered lower_arange(const Call& n, Builder& b) {
  const auto given = [&](std::string_view name, double otherwise) {
    return n.schema().find(name) == nullptr ? otherwise : n.f(name);
  };
  const double start = given("start", 0);
  const double step = given("step", 1);
  return lower_numbers(n, b, [=](size_t i) { return start + static_cast<double>(i) * step; });
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

TOSAIC_ATEN_OP(ones) = {
    .schemas = schemas(
        "aten::ones(SymInt[] size, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of ones.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, 1); },
    .cpu = "aten::ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
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

TOSAIC_ATEN_OP(scalar_tensor) = {
    .schemas = schemas(
        "aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of one number, without axes.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, n.f("s")); },
    .cpu = "aten::scalar_tensor.out(Scalar s, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(arange) = {
    .schemas = schemas(
        "aten::arange(Scalar end, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "0, 1, 2 and so on: a constant.",
    .traits = Trait::kView,
    .lower = lower_arange,
    .cpu = "aten::arange.out(Scalar end, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(arange_start) = {
    .schemas = schemas("aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, "
                       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
                       "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, "
                       "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                       "bool? pin_memory=None) -> Tensor"),
    .doc = "Numbers in equal steps: a constant.",
    .traits = Trait::kView,
    .lower = lower_arange,
    .cpu =
        "aten::arange.start_out(Scalar start, Scalar end, Scalar step=1, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(zeros_like) = {
    .schemas = schemas(
        "aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    .doc = "A constant of zeros, of another value's sizes.",
    .quant = {own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, 0); },
    .cpu =
        "aten::full_like.out(Tensor self, Scalar fill_value=0, *, "
        "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ones_like) = {
    .schemas = schemas(
        "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"),
    .doc = "A constant of ones, of another value's sizes.",
    .quant = {own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, 1); },
    .cpu =
        "aten::full_like.out(Tensor self, Scalar fill_value=1, *, "
        "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(full_like) = {
    .schemas = schemas("aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, "
                       "Layout? layout=None, Device? device=None, bool? pin_memory=None, "
                       "MemoryFormat? memory_format=None) -> Tensor"),
    .doc = "A constant of one number, of another value's sizes.",
    .quant = {own(out(0))},
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, n.f("fill_value")); },
    .cpu =
        "aten::full_like.out(Tensor self, Scalar fill_value, *, "
        "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
};
