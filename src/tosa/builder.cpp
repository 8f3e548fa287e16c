// SPDX-License-Identifier: Apache-2.0
#include "tosa/builder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>

#include "numeric/fixed_point.h"
#include "support/check.h"

namespace tosaic::tosa {
namespace {

/// Constants of at most this many bytes are cached.
constexpr size_t kSmallBytes = 64;

/// The reject code that tells best what a broken rule is about.
Code reject_code(Code verifier_code) {
  switch (verifier_code) {
    case Code::kVerifySignature:
      return Code::kRejectDtype;
    case Code::kVerifyRank:
    case Code::kDynamicShape:
      return Code::kRejectShape;
    case Code::kVerifyConstant:
      return Code::kRejectNotConstant;
    case Code::kVerifyLevel:
      return Code::kRejectTargetLimit;
    default:
      return Code::kRejectAttribute;
  }
}

bool is_poison(const Value* value) {
  return value == nullptr || value->dtype() == DType::kUnknown;
}

bool is_identity(std::span<const int64_t> perm) {
  for (size_t i = 0; i < perm.size(); ++i) {
    if (perm[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool is_permutation_of(int rank, std::span<const int64_t> perm) {
  if (perm.size() != static_cast<size_t>(rank)) return false;
  uint32_t seen = 0;
  for (const int64_t axis : perm) {
    if (axis < 0 || axis >= rank || (seen >> axis & 1) != 0) return false;
    seen |= uint32_t{1} << axis;
  }
  return true;
}

bool same_type(const Constant& constant, const Value& value) {
  return value.dtype() == constant.dtype && value.shape() == constant.shape;
}

/// Whether every value of `dtype` minus `zero_point` is in the range that the factor's shift
/// allows.
bool fits_input(DType dtype, int64_t zero_point, int shift) {
  if (dtype != DType::kI8 && dtype != DType::kI16) return true;  // decided by the values
  return numeric::fits_scale_32(integer_min(dtype) - zero_point, shift) &&
         numeric::fits_scale_32(integer_max(dtype) - zero_point, shift);
}

}  // namespace

struct Builder::Request {
  const OpDef& op;
  std::span<Value* const> operands;
  AttrList attrs;
  DType wanted = DType::kUnknown;
  bool ask_target = true;
};

// Emission.

Value* Builder::poison() {
  return module().arena().make<Value>();
}

Value* Builder::fail_with(Reject reason) {
  fail(std::move(reason));
  return poison();
}

std::vector<Value*> Builder::make(const Request& request) {
  const std::vector<Value*> nothing(spec(request.op).results.count, poison());
  if (std::any_of(request.operands.begin(), request.operands.end(), is_poison)) {
    // Only a lowering that hands out nullptr gets here without a reason.
    fail(reject(Code::kRejectNoLowering, "tosa.{}: an operand is missing", request.op.name));
    return nothing;
  }
  auto types = infer_types(request.op, request.operands, request.attrs, request.wanted);
  if (!types) {
    fail(Reject{reject_code(types.error().code), types.error().message, types.error().hint});
    return nothing;
  }
  Node& node = graph_.insert({.op = &request.op,
                              .operands = request.operands,
                              .results = *types,
                              .attrs = request.attrs,
                              .loc = loc_},
                             before_);
  if (request.ask_target) {
    if (auto refusal = target_.legal(node)) {
      graph_.erase(node);
      fail(*std::move(refusal));
      return nothing;
    }
  }
  std::vector<Value*> results;
  for (Value& value : node.results())
    results.push_back(&value);
  return results;
}

Value* Builder::emit(const OpDef& op, std::span<Value* const> operands, AttrList attrs) {
  return make({op, operands, attrs})[0];
}

Value* Builder::emit_as(DType result, const OpDef& op, std::span<Value* const> operands,
                        AttrList attrs) {
  return make({op, operands, attrs, result})[0];
}

bool Builder::legal(const OpDef& op, std::span<Value* const> operands, AttrList attrs) {
  return ask(op, operands, attrs, false);
}

bool Builder::whole(const OpDef& op, std::span<Value* const> operands, AttrList attrs) {
  return ask(op, operands, attrs, true);
}

bool Builder::ask(const OpDef& op, std::span<Value* const> operands, AttrList attrs, bool as_one) {
  if (std::any_of(operands.begin(), operands.end(), is_poison)) return false;
  const auto types = infer_types(op, operands, attrs);
  if (!types) return false;
  Node& node = graph_.insert(
      {.op = &op, .operands = operands, .results = *types, .attrs = attrs, .loc = loc_}, before_);
  const bool taken =
      !target_.legal(node) && (!as_one || target_.pieces == nullptr || target_.pieces(node) == 1);
  graph_.erase(node);
  return taken;
}

std::vector<Value*> Builder::emit_all(const OpDef& op, std::span<Value* const> operands,
                                      AttrList attrs) {
  return make({op, operands, attrs});
}

// Constants.

Value* Builder::constant(const Constant& constant) {
  if (constant.num_bytes() > kSmallBytes) return &graph_.add_constant(constant);
  const uint64_t hash = constant.content_hash();
  const auto [begin, end] = small_constants_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    Value* value = it->second;
    if (same_type(constant, *value) && value->constant()->equals(constant)) return value;
  }
  Value* value = &graph_.add_constant(constant);
  small_constants_.emplace(hash, value);
  return value;
}

Value* Builder::constant_ints(DType dtype, const Shape& shape, std::span<const int64_t> values) {
  if (dtype == DType::kUnknown) return poison();  // of an operand that could not be made
  // int32 stands for the program's int64 as well, whose numbers must not be cut.
  const auto lost = std::find_if(values.begin(), values.end(), [dtype](int64_t v) {
    return dtype == DType::kI32 && !numeric::fits<int32_t>(v);
  });
  if (lost != values.end()) {
    return fail_with(reject(Code::kRejectDtype, "{} is outside int32", *lost));
  }
  return constant(module().constant_ints(dtype, shape, values));
}

Value* Builder::constant_floats(DType dtype, const Shape& shape, std::span<const double> values) {
  if (dtype == DType::kUnknown) return poison();
  if (!is_float(dtype)) {
    return fail_with(reject(Code::kRejectDtype, "real numbers as {}", dtype_name(dtype)));
  }
  return constant(module().constant_floats(dtype, shape, values));
}

Value* Builder::scalar_int(DType dtype, int64_t value, int rank) {
  std::array<int64_t, kMaxRank> ones{};
  ones.fill(1);
  return constant_ints(dtype, Shape(std::span(ones).first(static_cast<size_t>(rank))), {&value, 1});
}

Value* Builder::scalar_float(DType dtype, double value, int rank) {
  std::array<int64_t, kMaxRank> ones{};
  ones.fill(1);
  return constant_floats(dtype, Shape(std::span(ones).first(static_cast<size_t>(rank))),
                         {&value, 1});
}

Value* Builder::scalar_number(DType dtype, int64_t value) {
  return is_float(dtype) ? scalar_float(dtype, 0) : scalar_int(dtype, value);
}

Value* Builder::shape_value(std::span<const int64_t> sizes) {
  return constant_ints(DType::kShape, Shape{static_cast<int64_t>(sizes.size())}, sizes);
}

// Operations that fold.

Value* Builder::reshape(Value* x, const Shape& shape) {
  if (is_poison(x)) return poison();
  if (x->shape() == shape) return x;
  if (!shape.is_static() || !x->shape().is_static() ||
      x->shape().num_elements() != shape.num_elements()) {
    return fail_with(reject(Code::kRejectShape, "{} cannot be reshaped to {}",
                            to_string(x->shape()), to_string(shape)));
  }
  if (x->is_constant()) return constant(module().reshaped(*x->constant(), shape));
  if (x->def() != nullptr && x->def()->is(tosa::reshape))
    return reshape(x->def()->operand(0), shape);
  return emit(tosa::reshape, {x, shape_value(shape.sizes())});
}

Value* Builder::transpose(Value* x, std::span<const int64_t> perm, bool ask_target) {
  if (is_poison(x)) return poison();
  if (!is_permutation_of(x->shape().rank(), perm)) {
    return fail_with(reject(Code::kRejectShape, "{} is no permutation of the axes of {}",
                            to_string(Attr::ints(perm)), to_string(x->shape())));
  }
  if (is_identity(perm)) return x;
  if (x->is_constant()) return constant(module().permuted(*x->constant(), perm));
  if (x->def() != nullptr && x->def()->is(tosa::transpose)) {
    // Axis i of the whole is axis perm[i] of the inner result, which is inner[perm[i]] of its
    // operand.
    const auto inner = read_attrs<TransposeAttrs>(*x->def()).perms;
    std::array<int64_t, kMaxRank> both{};
    for (size_t i = 0; i < perm.size(); ++i)
      both[i] = inner[static_cast<size_t>(perm[i])];
    return transpose(x->def()->operand(0), std::span(both).first(perm.size()), ask_target);
  }
  const std::array<Value*, 1> operands = {x};
  const TransposeAttrs attrs{perm};
  return make({.op = tosa::transpose,
               .operands = operands,
               .attrs = write_attrs(attrs, module().arena()),
               .ask_target = ask_target})[0];
}

Value* Builder::slice(Value* x, std::span<const int64_t> start, std::span<const int64_t> size) {
  if (is_poison(x)) return poison();
  if (x->shape() == Shape(size)) return x;
  if (!x->is_constant()) return emit(tosa::slice, {x, shape_value(start), shape_value(size)});
  const Constant* view = x->constant();
  for (int axis = 0; axis < x->shape().rank(); ++axis) {
    const auto a = static_cast<size_t>(axis);
    if (start[a] < 0 || size[a] < 0 || start[a] > x->shape()[axis] - size[a]) {
      return fail_with(reject(Code::kRejectShape, "{} elements from {} on, of a constant of {}",
                              size[a], start[a], to_string(x->shape())));
    }
    if (size[a] != x->shape()[axis]) view = &module().sliced(*view, axis, start[a], size[a]);
  }
  return constant(*view);
}

Value* Builder::transpose(Value* x, std::span<const int64_t> perm) {
  return transpose(x, perm, true);
}

Value* Builder::layout_transpose(Value* x, std::span<const int64_t> perm) {
  return transpose(x, perm, false);
}

Value* Builder::expand_rank(Value* x, int rank) {
  if (is_poison(x) || x->shape().rank() >= rank) return x == nullptr ? poison() : x;
  std::array<int64_t, kMaxRank> sizes{};
  sizes.fill(1);
  const auto end = sizes.begin() + rank;
  std::copy_backward(x->shape().begin(), x->shape().end(), end);
  return reshape(x, Shape(std::span(sizes.begin(), end)));
}

Value* Builder::cast(Value* x, DType dtype) {
  if (is_poison(x)) return poison();
  if (x->dtype() == dtype) return x;
  if (x->is_constant() && x->dtype() == DType::kI64 && dtype != DType::kBool) {
    const std::vector<int64_t> values = int_values(*x->constant());
    if (!is_float(dtype)) return constant_ints(dtype, x->shape(), values);
    // Rounded once to float, as PyTorch does.
    const auto real = [dtype](int64_t v) {
      return dtype == DType::kF64 ? static_cast<double>(v) : double{static_cast<float>(v)};
    };
    std::vector<double> reals(values.size());
    std::transform(values.begin(), values.end(), reals.begin(), real);
    return constant_floats(dtype, x->shape(), reals);
  }
  return emit_as(dtype, tosa::cast, std::span(&x, 1));
}

// Quantised arithmetic.

Value* Builder::rescale_by(Value* x, Value* multiplier, Value* shift, bool scale32,
                           bool per_channel, std::pair<Value*, Value*> zero_points) {
  return emit(
      tosa::rescale, {x, multiplier, shift, zero_points.first, zero_points.second},
      RescaleAttrs{
          .scale32 = scale32, .rounding_mode = RoundingMode::kSingle, .per_channel = per_channel});
}

Value* Builder::rescale(Value* x, DType dtype, double scale, int64_t zp_in, int64_t zp_out) {
  if (is_poison(x)) return poison();
  if (x->dtype() == dtype && scale == 1 && zp_in == zp_out) return x;
  return rescale(x, dtype, std::span<const double>(&scale, 1), zp_in, zp_out);
}

Value* Builder::rescale(Value* x, DType dtype, std::span<const double> scales, int64_t zp_in,
                        int64_t zp_out) {
  if (is_poison(x)) return poison();
  // An int48 has no scale32 form.
  const bool scale32 = x->dtype() != DType::kI48;
  const bool per_channel =
      !std::all_of(scales.begin(), scales.end(), [&scales](double s) { return s == scales[0]; });
  if (per_channel && (x->shape().rank() == 0 ||
                      x->shape()[x->shape().rank() - 1] != static_cast<int64_t>(scales.size()))) {
    return fail_with(reject(Code::kRejectQuantParams, "{} scales do not fit the last axis of {}",
                            scales.size(), to_string(x->shape())));
  }
  const size_t count = per_channel ? scales.size() : 1;
  std::vector<int64_t> multipliers(count);
  std::vector<int64_t> shifts(count);
  for (size_t i = 0; i < count; ++i) {
    bool is_good = false;
    if (scale32) {
      const auto factor = numeric::quantize_scale32(scales[i]);
      is_good = factor && fits_input(x->dtype(), zp_in, factor->shift);
      if (is_good) {
        multipliers[i] = factor->multiplier;
        shifts[i] = factor->shift;
      }
    } else if (const auto factor = numeric::quantize_scale16(scales[i])) {
      is_good = true;
      multipliers[i] = factor->multiplier;
      shifts[i] = factor->shift;
    }
    if (!is_good) {
      return fail_with(reject(Code::kRejectQuantParams,
                              "the scale {} cannot be represented by RESCALE from {} to {}",
                              scales[i], dtype_name(x->dtype()), dtype_name(dtype)));
    }
  }
  const Shape sizes{static_cast<int64_t>(count)};
  return rescale_by(x, constant_ints(scale32 ? DType::kI32 : DType::kI16, sizes, multipliers),
                    constant_ints(DType::kI8, sizes, shifts), scale32, per_channel,
                    {zero_point(x->dtype(), zp_in), zero_point(dtype, zp_out)});
}

Value* Builder::clamp_int(Value* x, int64_t min, int64_t max) {
  if (is_poison(x)) return poison();
  const DType dtype = x->dtype();
  if (!is_integer(dtype)) {
    return fail_with(reject(Code::kRejectDtype, "an integer CLAMP of {}", dtype_name(dtype)));
  }
  min = std::clamp(min, integer_min(dtype), integer_max(dtype));
  max = std::clamp(max, integer_min(dtype), integer_max(dtype));
  const bool cuts_below = min > integer_min(dtype);
  const bool cuts_above = max < integer_max(dtype);
  if (!cuts_below && !cuts_above) return x;
  if (dtype != DType::kI32) {
    return emit(tosa::clamp, {x}, ClampAttrs{Scalar::of(min), Scalar::of(max)});
  }
  const int rank = x->shape().rank();
  if (cuts_below) x = emit(tosa::maximum, {x, scalar_int(dtype, min, rank)}, NanModeAttrs{});
  if (cuts_above) x = emit(tosa::minimum, {x, scalar_int(dtype, max, rank)}, NanModeAttrs{});
  return x;
}

Value* Builder::clamp_float(Value* x, double min, double max) {
  if (is_poison(x)) return poison();
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (min == -kInfinity && max == kInfinity) return x;
  return emit(tosa::clamp, {x}, ClampAttrs{Scalar::of(min), Scalar::of(max)});
}

Value* Builder::mul(Value* a, Value* b, int shift) {
  return emit(tosa::mul, {a, b, scalar_int(DType::kI8, shift)});
}

}  // namespace tosaic::tosa
