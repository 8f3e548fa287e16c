// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <type_traits>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/nan_mode.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8}}, {Feature::kInt16, {DType::kI16}},
    {Feature::kFp, {DType::kF16}}, {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

Status infer(InferCall& call) {
  const auto attrs = call.get<ClampAttrs>();
  const DType dtype = call.dtype(0);
  for (const Scalar& limit : {attrs.min_val, attrs.max_val}) {
    if (limit.is_float != is_float(dtype) || (limit.is_float && std::isnan(limit.f)) ||
        (!limit.is_float && (limit.i < integer_min(dtype) || limit.i > integer_max(dtype)))) {
      return call.fail(Code::kVerifyOpRule, "min_val and max_val must be values of {}",
                       dtype_name(dtype));
    }
  }
  if (attrs.max_val.is_float ? attrs.max_val.f < attrs.min_val.f
                             : attrs.max_val.i < attrs.min_val.i) {
    return call.fail(Code::kVerifyOpRule, "max_val is below min_val");
  }
  return infer_same(call);
}

/// A limit as the element type holds it.
template <typename E>
typename E::Value limit_value(const Scalar& limit) {
  if constexpr (std::is_floating_point_v<typename E::Value>) {
    return E::load(E::store(static_cast<float>(limit.f)));
  } else {
    return static_cast<typename E::Value>(limit.i);
  }
}

Status reference(RefCall& call) {
  const auto attrs = call.get<ClampAttrs>();
  return visit_number(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    const auto lo = limit_value<E>(attrs.min_val);
    const auto hi = limit_value<E>(attrs.max_val);
    map_elements<E, E>(call, [&](typename E::Value v) {
      return min_of(max_of(v, lo, attrs.nan_mode), hi, attrs.nan_mode);
    });
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(clamp) = {
    .number = 11,
    .operands = kInput,
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<ClampAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer,
    .reference = reference,
};
