// SPDX-License-Identifier: Apache-2.0
#include "numeric/rescale.h"

#include <limits>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI8}},     {Feature::kInt, {DType::kI8, DType::kI16}},
    {Feature::kInt, {DType::kI8, DType::kI32}},    {Feature::kInt, {DType::kI16, DType::kI8}},
    {Feature::kInt, {DType::kI16, DType::kI16}},   {Feature::kInt, {DType::kI16, DType::kI32}},
    {Feature::kInt, {DType::kI32, DType::kI8}},    {Feature::kInt, {DType::kI32, DType::kI16}},
    {Feature::kInt, {DType::kI32, DType::kI32}},   {Feature::kInt16, {DType::kI48, DType::kI8}},
    {Feature::kInt16, {DType::kI48, DType::kI16}}, {Feature::kInt16, {DType::kI48, DType::kI32}},
};

/// A zero point as a number: read without sign where the tensor's integers are.
int64_t extend(DType dtype, int64_t value, bool is_unsigned) {
  if (!is_unsigned) return value;
  return dtype == DType::kI8 ? static_cast<int64_t>(static_cast<uint8_t>(value))
                             : static_cast<int64_t>(static_cast<uint16_t>(value));
}

/// i8 takes every zero point of its range, unsigned 16-bit 0 or 32768, everything else 0.
Status check_rescale_zero_point(const InferCall& call, size_t i, bool is_unsigned) {
  const DType dtype = call.dtype(i);
  if (dtype != DType::kI16 || !is_unsigned) return check_zero_point(call, i);
  if (!(call.shape(i) == Shape{1})) {
    return call.fail(Code::kVerifyRank, "a zero point has sizes {} and must have [1]",
                     to_string(call.shape(i)));
  }
  const int64_t zp = extend(dtype, int_values(*call.in[i]->constant())[0], true);
  if (zp == 0 || zp == 32768) return ok();
  return call.fail(Code::kVerifyOpRule,
                   "the zero point {} of an unsigned 16-bit tensor must be 0 or 32768", zp);
}

/// The ERROR_IF rules about signs and widths; empty when they hold.
std::string_view broken_rule(const RescaleAttrs& attrs, DType in, DType out) {
  const bool is_wide_in = in == DType::kI32 || in == DType::kI48;
  if (attrs.scale32 && in == DType::kI48) return "scale32 must be false for i48";
  if (!attrs.scale32 && attrs.rounding_mode == RoundingMode::kDouble) {
    return "double rounding needs scale32";
  }
  if (attrs.input_unsigned && attrs.output_unsigned) return "only one side may be unsigned";
  if (attrs.input_unsigned && (is_wide_in || out == DType::kI32)) {
    return "an unsigned input must have 8 or 16 bits and must not give i32";
  }
  if (attrs.output_unsigned && (is_wide_in || out == DType::kI32)) {
    return "an unsigned output must have 8 or 16 bits and must not come from i32 or i48";
  }
  return {};
}

Status infer(InferCall& call) {
  const auto attrs = call.get<RescaleAttrs>();
  const DType out = call.signature.types[1];
  if (const auto rule = broken_rule(attrs, call.dtype(0), out); !rule.empty()) {
    return call.fail(Code::kVerifyOpRule, "{}", rule);
  }
  TOSAIC_CHECK_OK(check_rescale_zero_point(call, 3, attrs.input_unsigned));
  TOSAIC_CHECK_OK(check_rescale_zero_point(call, 4, attrs.output_unsigned));
  const DType multiplier_dtype = attrs.scale32 ? DType::kI32 : DType::kI16;
  if (call.dtype(1) != multiplier_dtype) {
    return call.fail(Code::kVerifySignature, "multiplier is {} and must be {}",
                     dtype_name(call.dtype(1)), dtype_name(multiplier_dtype));
  }
  const Shape& in = call.shape(0);
  if (attrs.per_channel && in.rank() < 1) {
    return call.fail(Code::kVerifyOpRule, "per_channel needs rank 1 or more");
  }
  const Shape factors{attrs.per_channel ? in[in.rank() - 1] : 1};
  if (!(call.shape(1) == factors) || !(call.shape(2) == factors)) {
    return call.fail(Code::kVerifyRank,
                     "multiplier and shift have sizes {} and {} and must have {}",
                     to_string(call.shape(1)), to_string(call.shape(2)), to_string(factors));
  }
  return infer_same(call);
}

/// Parameters of each channel (of the whole tensor).
std::vector<numeric::RescaleParams> channel_params(const RefCall& call, const RescaleAttrs& attrs) {
  const DType out = call.out[0].dtype;
  std::vector<numeric::RescaleParams> params(static_cast<size_t>(call.in[1]->shape.num_elements()));
  const auto zero_point = [&call](size_t i, bool is_unsigned) {
    const HostTensor& tensor = *call.in[i];
    const int64_t value = tensor.dtype == DType::kI8    ? *tensor.data<int8_t>()
                          : tensor.dtype == DType::kI16 ? *tensor.data<int16_t>()
                                                        : 0;
    return extend(tensor.dtype, value, is_unsigned);
  };
  for (size_t c = 0; c < params.size(); ++c) {
    numeric::RescaleParams& p = params[c];
    p.multiplier = attrs.scale32 ? call.in[1]->data<int32_t>()[c] : call.in[1]->data<int16_t>()[c];
    p.shift = call.in[2]->data<int8_t>()[c];
    p.scale32 = attrs.scale32;
    p.rounding = attrs.rounding_mode == RoundingMode::kDouble ? numeric::Rounding::kDouble
                                                              : numeric::Rounding::kSingle;
    p.input_zp = zero_point(3, attrs.input_unsigned);
    p.output_zp = zero_point(4, attrs.output_unsigned);
    p.out_min = attrs.output_unsigned ? 0 : integer_min(out);
    p.out_max = attrs.output_unsigned ? integer_max(out) - integer_min(out) : integer_max(out);
  }
  return params;
}

template <typename In, typename Out>
void compute(RefCall& call, const RescaleAttrs& attrs) {
  const std::vector<numeric::RescaleParams> params = channel_params(call, attrs);
  const DType dtype = call.in[0]->dtype;
  const auto* in = call.in[0]->data<In>();
  auto* out = call.out[0].mutable_data<Out>();
  const auto channels = static_cast<int64_t>(params.size());
  const int64_t count = call.out[0].shape.num_elements();
  const int64_t run = channels == 1 ? count : channels;
  const size_t step = channels == 1 ? 0 : 1;
  bool unpredictable = false;
  for (int64_t begin = 0; begin < count; begin += run) {
    const numeric::RescaleParams* p = params.data();
    for (int64_t i = begin; i < begin + run; ++i, p += step) {
      const auto result = numeric::rescale(extend(dtype, in[i], attrs.input_unsigned), *p);
      unpredictable |= result.unpredictable;
      out[i] = static_cast<Out>(result.value);
    }
  }
  if (unpredictable) call.set_unpredictable("a value or factor is out of range");
}

template <typename In>
void compute_from(RefCall& call, const RescaleAttrs& attrs) {
  switch (call.out[0].dtype) {
    case DType::kI8:
      return compute<In, int8_t>(call, attrs);
    case DType::kI16:
      return compute<In, int16_t>(call, attrs);
    default:
      return compute<In, int32_t>(call, attrs);
  }
}

Status reference(RefCall& call) {
  const auto attrs = call.get<RescaleAttrs>();
  switch (call.in[0]->dtype) {
    case DType::kI8:
      compute_from<int8_t>(call, attrs);
      return ok();
    case DType::kI16:
      compute_from<int16_t>(call, attrs);
      return ok();
    case DType::kI32:
      compute_from<int32_t>(call, attrs);
      return ok();
    default:
      compute_from<int64_t>(call, attrs);
      return ok();
  }
}

/// Rounding modes other than single belong to extensions.
Feature needs(const Node& node) {
  switch (read_attrs<RescaleAttrs>(node).rounding_mode) {
    case RoundingMode::kDouble:
      return Feature::kDoubleRound;
    case RoundingMode::kInexact:
      return Feature::kInexactRound;
    default:
      return Feature::kNone;
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(rescale) = {
    .number = 66,
    .operands = {{"input", 0},
                 {"multiplier", kAnyOperand, true},
                 {"shift", kI8Operand, true},
                 {"input_zp", 0, true},
                 {"output_zp", 1, true}},
    .results = {{"output", 1}},
    .signatures = kSignatures,
    .attrs = fields_of<RescaleAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .needs = needs,
    .infer = infer,
    .reference = reference,
};
