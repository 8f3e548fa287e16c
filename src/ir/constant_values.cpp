// SPDX-License-Identifier: Apache-2.0
// Constants as numbers: for small ones, such as shifts and zero points.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "ir/graph.h"
#include "support/check.h"

namespace tosaic {
namespace {

/// A binary float of at most 16 bits. ir may not include numeric/, and here speed does not matter:
/// one description serves the four types.
struct SmallFloat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;  ///< without: the greatest code is NaN, and PyTorch saturates below it

  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  uint32_t infinity() const { return ((1u << exponent_bits) - 1) << mantissa_bits; }
  uint32_t nan() const {
    return has_infinity ? infinity() | 1u << (mantissa_bits - 1)
                        : (1u << (exponent_bits + mantissa_bits)) - 1;
  }
};

SmallFloat small_float(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return {5, 10, true};
    case DType::kBF16:
      return {8, 7, true};
    case DType::kF8E5M2:
      return {5, 2, true};
    default:
      return {4, 3, false};
  }
}

/// Nearest, ties to even.
uint32_t encode(double value, const SmallFloat& format) {
  const uint32_t sign =
      std::signbit(value) ? 1u << (format.exponent_bits + format.mantissa_bits) : 0;
  if (std::isnan(value)) return sign | format.nan();
  const double magnitude = std::fabs(value);
  if (magnitude == 0) return sign;
  const uint32_t too_big = format.has_infinity ? format.infinity() : format.nan() - 1;
  if (std::isinf(magnitude)) return sign | too_big;
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  if (exponent > format.bias() + 1) return sign | too_big;
  // In units of the last place; a carry goes on into the exponent field by itself.
  const double units = std::nearbyint(std::ldexp(magnitude, format.mantissa_bits - exponent));
  const uint32_t code =
      (static_cast<uint32_t>(exponent + format.bias() - 1) << format.mantissa_bits) +
      static_cast<uint32_t>(units);
  return sign | std::min(code, too_big);
}

double decode(uint32_t code, const SmallFloat& format) {
  const int width = format.exponent_bits + format.mantissa_bits;
  const double sign = (code >> width) & 1 ? -1.0 : 1.0;
  const uint32_t abs = code & ((1u << width) - 1);
  const uint32_t mantissa = abs & ((1u << format.mantissa_bits) - 1);
  const int exponent = static_cast<int>(abs >> format.mantissa_bits);
  if (format.has_infinity && abs == format.infinity()) {
    return sign * std::numeric_limits<double>::infinity();
  }
  if (abs > (format.has_infinity ? format.infinity() : format.nan() - 1)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const uint32_t units = exponent == 0 ? mantissa : mantissa | 1u << format.mantissa_bits;
  return sign * std::ldexp(units, std::max(exponent, 1) - format.bias() - format.mantissa_bits);
}

template <typename T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <typename T>
void store(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof(T));
}

void store_int(DType dtype, int64_t value, std::byte* to) {
  switch (element_bytes(dtype)) {
    case 1:
      return store(to, static_cast<uint8_t>(dtype == DType::kBool ? value != 0 : value));
    case 2:
      return store(to, static_cast<uint16_t>(value));
    case 4:
      return store(to, static_cast<uint32_t>(value));
    default:
      return store(to, value);
  }
}

int64_t load_int(DType dtype, const std::byte* from) {
  switch (dtype) {
    case DType::kBool:
    case DType::kU8:
      return load<uint8_t>(from);
    case DType::kI4:
    case DType::kI8:
      return load<int8_t>(from);
    case DType::kI16:
      return load<int16_t>(from);
    case DType::kU16:
      return load<uint16_t>(from);
    case DType::kI32:
      return load<int32_t>(from);
    case DType::kU32:
      return load<uint32_t>(from);
    default:
      return load<int64_t>(from);
  }
}

void store_float(DType dtype, double value, std::byte* to) {
  switch (element_bytes(dtype)) {
    case 1:
      return store(to, static_cast<uint8_t>(encode(value, small_float(dtype))));
    case 2:
      return store(to, static_cast<uint16_t>(encode(value, small_float(dtype))));
    case 4:
      return store(to, static_cast<float>(value));
    default:
      return store(to, value);
  }
}

double load_float(DType dtype, const std::byte* from) {
  switch (element_bytes(dtype)) {
    case 1:
      return decode(load<uint8_t>(from), small_float(dtype));
    case 2:
      return decode(load<uint16_t>(from), small_float(dtype));
    case 4:
      return load<float>(from);
    default:
      return load<double>(from);
  }
}

bool holds_ints(DType dtype) {
  return is_integer(dtype) || dtype == DType::kBool || dtype == DType::kShape;
}

template <typename T, typename Load>
std::vector<T> values_of(const Constant& constant, Load load_one) {
  std::vector<std::byte> bytes(constant.num_bytes());
  constant.materialise(bytes);
  std::vector<T> values(static_cast<size_t>(constant.shape.num_elements()));
  const size_t step = element_bytes(constant.dtype);
  for (size_t i = 0; i < values.size(); ++i) {
    values[i] = load_one(constant.dtype, bytes.data() + i * step);
  }
  return values;
}

template <typename T, typename Store>
std::vector<std::byte> bytes_of(DType dtype, std::span<const T> values, Store store_one) {
  const size_t step = element_bytes(dtype);
  std::vector<std::byte> bytes(values.size() * step);
  for (size_t i = 0; i < values.size(); ++i)
    store_one(dtype, values[i], bytes.data() + i * step);
  return bytes;
}

}  // namespace

const Constant& Module::constant_ints(DType dtype, const Shape& shape,
                                      std::span<const int64_t> values) {
  if (is_float(dtype)) {
    return constant_floats(dtype, shape, std::vector<double>(values.begin(), values.end()));
  }
  TOSAIC_CHECK(holds_ints(dtype), "dtype of a constant made of numbers");
  return constant(dtype, shape, bytes_of(dtype, values, store_int));
}

const Constant& Module::constant_floats(DType dtype, const Shape& shape,
                                        std::span<const double> values) {
  TOSAIC_CHECK(is_float(dtype), "dtype of a constant made of real numbers");
  return constant(dtype, shape, bytes_of(dtype, values, store_float));
}

std::vector<int64_t> int_values(const Constant& constant) {
  TOSAIC_CHECK(holds_ints(constant.dtype), "dtype of a constant read as integers");
  return values_of<int64_t>(constant, load_int);
}

std::vector<double> float_values(const Constant& constant) {
  TOSAIC_CHECK(is_float(constant.dtype), "dtype of a constant read as real numbers");
  return values_of<double>(constant, load_float);
}

}  // namespace tosaic
