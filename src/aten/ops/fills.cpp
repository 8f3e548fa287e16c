// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <optional>

#include "aten/arithmetic.h"

// Tensors whose numbers the program states: constants.

namespace tosaic::aten {
namespace {

/// Greater constants would only make the file large.
constexpr int64_t kMaxElements = int64_t{1} << 24;

/// As PyTorch converts the numbers of a program, which takes -n for 2^bits - n where the dtype is
/// unsigned.
bool holds(DType dtype, int64_t number) {
  switch (dtype) {
    case DType::kU8:
      return number > -0x100 && number < 0x100;
    case DType::kU16:
      return number > -0x10000 && number < 0x10000;
    case DType::kI8:
    case DType::kI16:
    case DType::kI32:
      return number >= integer_min(dtype) && number <= integer_max(dtype);
    default:
      return true;
  }
}

/// A finite number that float32, through which smaller floats are made, does not hold.
bool overflows(DType dtype, double number) {
  return dtype != DType::kF64 && std::isfinite(number) &&
         std::abs(number) > std::numeric_limits<float>::max();
}

/// A number as an integer, its fraction cut off. Nothing for what int64 does not hold.
std::optional<int64_t> whole(int64_t number) {
  return number;
}
std::optional<int64_t> whole(double number) {
  return aten::whole(number, DType::kI64);
}

Lowered refuse_number(const Call& n, double number) {
  return reject(Code::kRejectDtype, "{}: {} holds no {}", n.schema().full_name,
                dtype_name(n.out().dtype), number);
}

/// A constant of number(i), an int64_t or a double, for each element i of the result.
template <typename Fn>
Lowered lower_numbers(const Call& n, Builder& b, Fn number) {
  const TensorType type = held_as(n.out());
  if (!type.shape.is_static() || type.shape.num_elements() == 0 ||
      type.shape.num_elements() > kMaxElements) {
    return reject(Code::kRejectShape, "{}: the result has sizes {}", n.schema().full_name,
                  to_string(type.shape));
  }
  const DType dtype = n.out().dtype;
  const auto count = static_cast<size_t>(type.shape.num_elements());
  Module& module = b.module();
  if (is_float(dtype)) {
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i) {
      const auto value = number(i);
      values[i] = static_cast<double>(value);
      if (overflows(dtype, values[i])) return refuse_number(n, values[i]);
      // Rounded once to float, as PyTorch does.
      if (dtype != DType::kF64) values[i] = static_cast<float>(value);
    }
    return b.constant(module.constant_floats(dtype, type.shape, values));
  }
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) {
    const auto value = number(i);
    if (type.quant != nullptr) {
      values[i] = quantised_value(static_cast<double>(value), *type.quant);
      continue;
    }
    if (dtype == DType::kBool) {
      values[i] = value != 0;
      continue;
    }
    const auto integer = whole(value);
    if (!integer || !holds(dtype, *integer)) return refuse_number(n, static_cast<double>(value));
    values[i] = *integer;
  }
  return &b.graph().add_constant(module.constant_ints(type.dtype, type.shape, values), type);
}

bool is_whole(const Attr& number) {
  return number.kind() != Attr::Kind::kFloat;
}
int64_t integer_of(const Attr& number) {
  return number.kind() == Attr::Kind::kBool ? int64_t{number.as_bool()} : number.as_int();
}
double real_of(const Attr& number) {
  return is_whole(number) ? static_cast<double>(integer_of(number)) : number.as_real();
}

Lowered lower_fill(const Call& n, Builder& b, const Attr& number) {
  if (is_whole(number)) {
    return lower_numbers(n, b, [value = integer_of(number)](size_t) { return value; });
  }
  return lower_numbers(n, b, [value = number.as_real()](size_t) { return value; });
}

/// Where a row of numbers starts, ends, or its step: a whole number where the result is integer.
Attr limit_of(const Call& n, std::string_view name, int64_t otherwise) {
  if (n.schema().find(name) == nullptr) return Attr::integer(otherwise);
  const Attr given = n.arg(name);
  if (is_whole(given) || is_float(n.out().dtype) || n.out().quant != nullptr) return given;
  const auto integer = whole(given.as_real());
  return integer ? Attr::integer(*integer) : given;
}

Lowered lower_arange(const Call& n, Builder& b) {
  const Attr start = limit_of(n, "start", 0);
  const Attr step = limit_of(n, "step", 1);
  if (is_whole(start) && is_whole(step)) {
    // Unsigned, as a broken program may count beyond the last number.
    const auto from = static_cast<uint64_t>(integer_of(start));
    const auto by = static_cast<uint64_t>(integer_of(step));
    return lower_numbers(n, b, [=](size_t i) { return static_cast<int64_t>(from + i * by); });
  }
  return lower_numbers(n, b, [from = real_of(start), by = real_of(step)](size_t i) {
    return from + static_cast<double>(i) * by;
  });
}

/// From `start` to `end`, both included, with the rounding of PyTorch: from the nearer end.
Lowered lower_linspace(const Call& n, Builder& b, bool is_exponent) {
  const double start = real_of(limit_of(n, "start", 0));
  const double end = real_of(limit_of(n, "end", 0));
  const int64_t steps = n.i("steps");
  if (steps != n.out().shape.num_elements()) {
    return reject(Code::kRejectShape, "{}: {} steps give {}", n.schema().full_name, steps,
                  to_string(n.out().shape));
  }
  const double step = steps > 1 ? (end - start) / static_cast<double>(steps - 1) : 0;
  return lower_numbers(n, b, [=, &n](size_t at) {
    const auto i = static_cast<int64_t>(at);
    const double value = i < steps / 2 || steps == 1
                             ? start + static_cast<double>(i) * step
                             : end - static_cast<double>(steps - 1 - i) * step;
    return is_exponent ? std::pow(n.f("base"), value) : value;
  });
}

Lowered lower_eye(const Call& n, Builder& b) {
  const Shape& s = n.out().shape;
  if (s.rank() != 2) {
    return reject(Code::kRejectShape, "{}: the result has sizes {}", n.schema().full_name,
                  to_string(s));
  }
  const auto columns = static_cast<size_t>(s[1]);
  return lower_numbers(n, b, [=](size_t i) { return int64_t{i / columns == i % columns}; });
}

Lowered call_full(const Call& n, Builder& b, const Attr& value) {
  return b.call("aten.full.default", {}, n.out(),
                {{"size", Attr::ints(n.out().shape.sizes())},
                 {"fill_value", value},
                 {"dtype", Attr::dtype(n.out().dtype)}});
}

/// The numbers of a new tensor are not defined before it is written: zeros.
Lowered call_zeros(const Call& n, Builder& b) {
  return b.call(
      "aten.zeros.default", {}, n.out(),
      {{"size", Attr::ints(n.out().shape.sizes())}, {"dtype", Attr::dtype(n.out().dtype)}});
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(zeros) = {
    .schemas = schemas(
        "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of zeros.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, Attr::integer(0)); },
    .cpu = "aten::zeros.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(ones) = {
    .schemas = schemas(
        "aten::ones(SymInt[] size, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of ones.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, Attr::integer(1)); },
    .cpu = "aten::ones.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(full) = {
    .schemas = schemas(
        "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of one number.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, n.arg("fill_value")); },
    .cpu = "aten::full.out(SymInt[] size, Scalar fill_value, *, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(scalar_tensor) = {
    .schemas = schemas(
        "aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "A constant of one number, without axes.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, n.arg("s")); },
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
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, Attr::integer(0)); },
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
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, Attr::integer(1)); },
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
    .lower = [](const Call& n, Builder& b) { return lower_fill(n, b, n.arg("fill_value")); },
    .cpu =
        "aten::full_like.out(Tensor self, Scalar fill_value, *, "
        "MemoryFormat? memory_format=None, Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(linspace) = {
    .schemas = schemas(
        "aten::linspace(Scalar start, Scalar end, int steps, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"),
    .doc = "Numbers at equal distances between two: a constant.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_linspace(n, b, false); },
};

TOSAIC_ATEN_OP(logspace) = {
    .schemas = schemas("aten::logspace(Scalar start, Scalar end, int steps, float base=10., *, "
                       "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                       "bool? pin_memory=None) -> Tensor"),
    .doc = "Powers of exponents at equal distances: a constant.",
    .traits = Trait::kView,
    .lower = [](const Call& n, Builder& b) { return lower_linspace(n, b, true); },
};

TOSAIC_ATEN_OP(eye) = {
    .schemas = schemas("aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, "
                       "Device? device=None, bool? pin_memory=None) -> Tensor",
                       "aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, "
                       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
                       "Tensor"),
    .doc = "Ones on the diagonal of zeros: a constant.",
    .traits = Trait::kView,
    .lower = lower_eye,
};

TOSAIC_ATEN_OP(empty) = {
    .schemas = schemas(
        "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, "
        "Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, "
        "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
        "bool? pin_memory=None) -> Tensor",
        "aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
        "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "aten::zero(Tensor self) -> Tensor", "aten::zero_(Tensor(a!) self) -> Tensor(a!)"),
    .doc = "A tensor that is to be written, and one of zeros: zeros.",
    .traits = Trait::kAlias,
    .lower = call_zeros,
};

TOSAIC_ATEN_OP(new_full) = {
    .schemas = schemas("aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, "
                       "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
                       "bool? pin_memory=None) -> Tensor"),
    .doc = "full, with another value's dtype.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_full(n, b, n.arg("fill_value")); },
};

TOSAIC_ATEN_OP(new_ones) = {
    .schemas = schemas("aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, "
                       "Layout? layout=None, Device? device=None, bool? pin_memory=None) -> "
                       "Tensor"),
    .doc = "ones, with another value's dtype.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_full(n, b, Attr::integer(1)); },
};

TOSAIC_ATEN_OP(fill) = {
    .schemas = schemas("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor",
                       "aten::fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"),
    .doc = "full, of another value's sizes.",
    .traits = Trait::kAlias,
    .lower = [](const Call& n, Builder& b) { return call_full(n, b, n.arg("value")); },
};
