// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>

#include "aten/arithmetic.h"
#include "aten/integers.h"

// exp(x - max) over its sum along an axis, and its logarithm. Quantised, everything between input
// and output is int32 with 16 good bits (docs/composites.md).

namespace tosaic::aten {
namespace {

/// Sums of more 16-bit exponentials may leave int32.
constexpr int64_t kMaxSize = 32767;

std::optional<Reject> check(const Call& n, int64_t& axis) {
  const std::string& name = n.schema().full_name;
  const Value* x = n.in(0);
  if (!normalise_axis(axis, x->shape().rank()) || x->shape().rank() == 0) {
    return reject(Code::kRejectAttribute, "{}: there is no axis {}", name, axis);
  }
  if (!n.any_quantised()) {
    if (is_float(x->dtype()) && is_float(n.out().dtype)) return std::nullopt;
    return reject(Code::kRejectDtype, "{}: {} to {}; floats are taken", name,
                  dtype_name(x->dtype()), dtype_name(n.out().dtype));
  }
  if (auto r = check_activation(n, x->type(), "the input")) return r;
  if (auto r = check_activation(n, n.out(), "the output")) return r;
  const int64_t size = x->shape()[static_cast<int>(axis)];
  if (size >= 1 && size <= kMaxSize) return std::nullopt;
  return reject(Code::kRejectShape, "{}: {} elements; 1 to {} are taken", name, size, kMaxSize);
}

// ---- Float
// ---------------------------------------------------------------------------------------

struct FloatTerms {
  Value* difference = nullptr;  // x - max
  Value* exponential = nullptr;
  Value* sum = nullptr;
};

/// `safe`: a row of -inf has terms of 0 and the sum 1, not NaN.
FloatTerms float_terms(const Call& n, Builder& b, int32_t axis, bool safe) {
  Value* x = b.cast(n.in(0), n.out().dtype);
  Value* max = b.emit(tosa::reduce_max, {x}, tosa::AxisNanAttrs{.axis = axis});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (safe) max = b.clamp_float(max, std::numeric_limits<float>::lowest(), kInfinity);
  Value* difference = b.emit(tosa::sub, {x, max});
  Value* exponential = b.emit(tosa::exp, {difference});
  Value* sum = b.emit(tosa::reduce_sum, {exponential}, tosa::AxisAttrs{axis});
  if (safe) sum = b.clamp_float(sum, 1, kInfinity);  // which any other row's sum reaches
  return {difference, exponential, sum};
}

Value* float_softmax(const Call& n, Builder& b, int32_t axis, bool safe) {
  const FloatTerms terms = float_terms(n, b, axis, safe);
  return b.mul(terms.exponential, b.emit(tosa::reciprocal, {terms.sum}));
}

Value* float_log_softmax(const Call& n, Builder& b, int32_t axis) {
  const FloatTerms terms = float_terms(n, b, axis, false);
  const TensorType row{n.out().dtype, terms.sum->shape(), nullptr};
  return b.emit(tosa::sub, {terms.difference, b.call("aten.log.default", {terms.sum}, row)});
}

// ---- Quantised
// -----------------------------------------------------------------------------------

struct IntegerTerms {
  Value* difference = nullptr;  // in steps of the input
  Scaled exponential;
  Value* sum = nullptr;
};

IntegerTerms integer_terms(const Call& n, Builder& b, int32_t axis) {
  Integers in(b);
  Value* x = n.in(0);
  const Quant& q = *x->quant();
  Value* max = b.emit(tosa::reduce_max, {x}, tosa::AxisNanAttrs{.axis = axis});
  IntegerTerms terms;
  terms.difference = in.sub(in.centred(x, q), in.centred(max, q));
  terms.exponential = x->dtype() == DType::kI8 ? in.exp_of_bytes(terms.difference, q.scale())
                                               : in.exp(terms.difference, q.scale());
  terms.sum = in.sum(terms.exponential.value, axis);
  return terms;
}

Value* integer_softmax(const Call& n, Builder& b, int32_t axis) {
  Integers in(b);
  const IntegerTerms terms = integer_terms(n, b, axis);
  constexpr int kShift = 15;
  Value* y = in.mul(terms.exponential.value, in.reciprocal(terms.sum), kShift);
  const Quant& to = *n.out().quant;
  const double unit = std::ldexp(1.0, kShift - Integers::kReciprocalBits);
  y = b.rescale(y, n.out().dtype, unit / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, y, n.out());
}

Value* integer_log_softmax(const Call& n, Builder& b, int32_t axis) {
  Integers in(b);
  const IntegerTerms terms = integer_terms(n, b, axis);
  const double scale = n.in(0)->quant()->scale();
  // The differences span the codes; no logarithm of a sum is above 32.
  const double most = scale * (n.in(0)->dtype() == DType::kI8 ? 0x1p8 : 0x1p16) + 32;
  const double log_unit = std::ldexp(1.0, -Integers::kLogBits);
  const double unit = std::max(log_unit, most / 0x1p29);
  Value* x = b.rescale(terms.difference, DType::kI32, scale / unit, 0, 0);
  Value* log = b.rescale(in.log(terms.sum), DType::kI32, log_unit / unit, 0, 0);
  log = in.add(log, std::llrint(std::log(terms.exponential.scale) / unit));
  const Quant& to = *n.out().quant;
  Value* y = b.rescale(in.sub(x, log), n.out().dtype, unit / to.scale(), 0, to.zero_point());
  return clamp_to_range(b, y, n.out());
}

Lowered lower_softmax(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  if (auto r = check(n, axis)) return *r;
  return n.any_quantised() ? integer_softmax(n, b, static_cast<int32_t>(axis))
                           : float_softmax(n, b, static_cast<int32_t>(axis), false);
}

Lowered lower_log_softmax(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  if (auto r = check(n, axis)) return *r;
  return n.any_quantised() ? integer_log_softmax(n, b, static_cast<int32_t>(axis))
                           : float_log_softmax(n, b, static_cast<int32_t>(axis));
}

/// softmax, with 0 where all of a row is -inf, as calls of kernels.
Lowered record_safe_softmax(const Call& n, Builder& b, int64_t axis) {
  Value* x = n.in(0);
  TensorType row = x->type();
  row.shape[static_cast<int>(axis)] = 1;
  Value* max = b.call("aten.amax.default", {x}, row,
                      {{"dim", Attr::ints({&axis, 1})}, {"keepdim", Attr::boolean(true)}});
  Value* known = b.call("aten.gt.Scalar", {max}, {DType::kBool, row.shape, nullptr},
                        {{"other", Attr::real(-std::numeric_limits<double>::infinity())}});
  Value* y = b.call("aten._softmax.default", {x}, n.out(),
                    {{"dim", Attr::integer(axis)}, {"half_to_float", Attr::boolean(false)}});
  Value* zero = b.scalar_float(n.out().dtype, 0, 0);
  return b.call("aten.where.self", {known, y, zero}, n.out());
}

Lowered lower_safe_softmax(const Call& n, Builder& b) {
  int64_t axis = n.i("dim");
  if (auto r = check(n, axis)) return *r;
  if (b.mode() == Builder::Mode::kRecord) return record_safe_softmax(n, b, axis);
  return n.any_quantised() ? integer_softmax(n, b, static_cast<int32_t>(axis))
                           : float_softmax(n, b, static_cast<int32_t>(axis), true);
}

}  // namespace
}  // namespace tosaic::aten

TOSAIC_ATEN_OP(softmax) = {
    .schemas =
        schemas("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                "aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
                "aten::special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"),
    .doc = "exp(x - max) over its sum along an axis; quantised in int32 with tables for exp.",
    .quant = {own(0), own(out(0))},
    .lower = lower_softmax,
    .cpu =
        "aten::_softmax.out(Tensor self, int dim, bool half_to_float=False, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(log_softmax) = {
    .schemas = schemas(
        "aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
        "aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
        "aten::special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor"),
    .doc = "Logarithm of softmax; quantised in int32 with tables for exp and log.",
    .quant = {own(0), own(out(0))},
    .lower = lower_log_softmax,
    .cpu =
        "aten::_log_softmax.out(Tensor self, int dim, bool half_to_float=False, *, "
        "Tensor(a!) out) -> Tensor(a!)",
};

TOSAIC_ATEN_OP(safe_softmax) = {
    .schemas =
        schemas("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor"),
    .doc = "softmax, with zeros where all elements are -inf.",
    .quant = {own(0), own(out(0))},
    .lower = lower_safe_softmax,
};
