// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include "aten/elementwise.h"

// The value, times a slope per channel (axis 1) where it is negative.
//
// Quantised: positive and negative parts in int32, each times an integer, so that their sum has the
// scale of the input over 2^bits:
//
//   y = max(q, 0) * 2^bits + min(q, 0) * round(slope * 2^bits)

namespace tosaic::aten {
namespace {

/// Shape in which one slope per channel broadcasts against `x`.
Shape slope_shape(const Shape& x, int64_t count) {
  Shape shape = x;
  for (int axis = 0; axis < x.rank(); ++axis)
    shape[axis] = axis == 1 ? count : 1;
  return shape;
}

Lowered lower_float(const Call& n, Builder& b, const Shape& shape) {
  FloatCalls f(b, n.out());
  Value* x = n.in(0);
  Value* slope = n.in(1);
  if (slope->is_constant()) {
    slope = b.reshape(slope, shape);
  } else if (slope->shape() != shape) {
    slope = b.call("aten.view.default", {slope}, {slope->dtype(), shape, nullptr},
                   {{"size", Attr::ints(shape.sizes())}});
  }
  Value* negative = b.call("aten.clamp.default", {x}, n.out(), {{"max", Attr::integer(0)}});
  return f.add(f.unary("aten.relu.default", x), f.mul(negative, slope));
}

/// Real values of the slopes, a constant.
std::vector<double> slope_values(const Value& slope) {
  if (is_float(slope.dtype())) return float_values(*slope.constant());
  std::vector<double> values;
  const Quant& quant = *slope.quant();
  for (int64_t q : int_values(*slope.constant())) {
    const size_t i = quant.per_tensor() ? 0 : values.size();
    values.push_back(static_cast<double>(q - quant.zero_points[i]) * quant.scales[i]);
  }
  return values;
}

/// So many fraction bits that products of stored values with the factors fit int32: those have 9
/// bits, or 16 without a zero point.
int fraction_bits(const std::vector<double>& slopes, DType dtype) {
  double largest = 1;
  for (double s : slopes)
    largest = std::max(largest, std::abs(s));
  return (dtype == DType::kI8 ? 20 : 15) - static_cast<int>(std::ceil(std::log2(largest)));
}

Lowered lower_quantised(const Call& n, Builder& b, const Shape& shape) {
  Value* x = n.in(0);
  const Value& slope = *n.in(1);
  if (auto r = check_activation(n, x->type(), "the input")) return *r;
  if (auto r = check_activation(n, n.out(), "the output")) return *r;
  const auto count = static_cast<size_t>(slope.shape().num_elements());
  if (!slope.is_constant() || (slope.quant() != nullptr && !slope.quant()->per_tensor() &&
                               slope.quant()->scales.size() != count)) {
    return reject(Code::kRejectNotConstant, "{}: the slopes must be constants",
                  n.schema().full_name);
  }
  const std::vector<double> slopes = slope_values(slope);
  if (!std::ranges::all_of(slopes, [](double s) { return std::isfinite(s); })) {
    return reject(Code::kRejectAttribute, "{}: a slope is not finite", n.schema().full_name);
  }
  const int bits = fraction_bits(slopes, x->dtype());
  if (!(bits > 0)) {
    return reject(Code::kRejectAttribute, "{}: a slope is too large", n.schema().full_name);
  }
  std::vector<int64_t> factors;
  for (double s : slopes)
    factors.push_back(std::llround(std::ldexp(s, bits)));
  const int rank = n.out().shape.rank();
  Value* q = centred(b, x, rank);
  Value* zero = b.scalar_int(DType::kI32, 0, rank);
  Value* positive = b.emit(tosa::maximum, {q, zero}, tosa::NanModeAttrs{});
  Value* negative = b.emit(tosa::minimum, {q, zero}, tosa::NanModeAttrs{});
  Value* sum =
      b.emit(tosa::add, {b.mul(positive, b.scalar_int(DType::kI32, int64_t{1} << bits, rank)),
                         b.mul(negative, b.constant_ints(DType::kI32, shape, factors))});
  const Quant& to = *n.out().quant;
  const double scale = std::ldexp(x->quant()->scale() / to.scale(), -bits);
  return clamp_to_range(b, b.rescale(sum, n.out().dtype, scale, 0, to.zero_point()), n.out());
}

Lowered lower_prelu(const Call& n, Builder& b) {
  const Shape& x = n.in(0)->shape();
  const int64_t count = n.in(1)->shape().num_elements();
  if (count != 1 && (x.rank() < 2 || x[1] != count)) {
    return reject(Code::kRejectShape, "{}: {} slopes for an input of {}", n.schema().full_name,
                  count, to_string(x));
  }
  const Shape shape = slope_shape(x, count);
  return n.any_quantised() ? lower_quantised(n, b, shape) : lower_float(n, b, shape);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(prelu) = {
    .schemas = schemas("aten::prelu(Tensor self, Tensor weight) -> Tensor"),
    .doc =
        "The value, times a slope per channel where it is negative: of relu, clamp and mul; "
        "quantised in int32.",
    .quant = {own(0), weight(1, 0), own(out(0))},
    .lower = lower_prelu,
};

TOSAIC_ATEN_OP(prelu_kernel) = {
    .schemas = schemas("aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor"),
    .doc = "prelu whose slopes have the input's rank: of relu, clamp and mul; quantised in int32.",
    .quant = {own(0), own(1), own(out(0))},
    .lower = lower_prelu,
};
