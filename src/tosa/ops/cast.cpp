// SPDX-License-Identifier: Apache-2.0
// CAST between bool, integers and floating point.
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr DType kBool = DType::kBool;
constexpr DType kI8 = DType::kI8;
constexpr DType kI16 = DType::kI16;
constexpr DType kI32 = DType::kI32;
constexpr DType kE4 = DType::kF8E4M3;
constexpr DType kE5 = DType::kF8E5M2;
constexpr DType kF16 = DType::kF16;
constexpr DType kBF16 = DType::kBF16;
constexpr DType kF32 = DType::kF32;

constexpr Signature kSignatures[] = {
    {Feature::kInt, {kBool, kI8}},    {Feature::kInt, {kBool, kI16}},
    {Feature::kInt, {kBool, kI32}},   {Feature::kInt, {kI8, kBool}},
    {Feature::kInt, {kI8, kI16}},     {Feature::kInt, {kI8, kI32}},
    {Feature::kFp, {kI8, kF16}},      {Feature::kBf16, {kI8, kBF16}},
    {Feature::kFp, {kI8, kF32}},      {Feature::kInt, {kI16, kBool}},
    {Feature::kInt, {kI16, kI8}},     {Feature::kInt, {kI16, kI32}},
    {Feature::kFp, {kI16, kF16}},     {Feature::kBf16, {kI16, kBF16}},
    {Feature::kFp, {kI16, kF32}},     {Feature::kInt, {kI32, kBool}},
    {Feature::kInt, {kI32, kI8}},     {Feature::kInt, {kI32, kI16}},
    {Feature::kFp, {kI32, kF16}},     {Feature::kBf16, {kI32, kBF16}},
    {Feature::kFp, {kI32, kF32}},     {Feature::kBf16, {kBF16, kI8}},
    {Feature::kBf16, {kBF16, kI16}},  {Feature::kBf16, {kBF16, kI32}},
    {Feature::kBf16, {kBF16, kE4}},   {Feature::kBf16, {kBF16, kE5}},
    {Feature::kBf16, {kBF16, kF32}},  {Feature::kF8E4M3, {kE4, kF16}},
    {Feature::kF8E4M3, {kE4, kBF16}}, {Feature::kF8E4M3, {kE4, kF32}},
    {Feature::kF8E5M2, {kE5, kF16}},  {Feature::kF8E5M2, {kE5, kBF16}},
    {Feature::kF8E5M2, {kE5, kF32}},  {Feature::kFp, {kF16, kI8}},
    {Feature::kFp, {kF16, kI16}},     {Feature::kFp, {kF16, kI32}},
    {Feature::kF8E4M3, {kF16, kE4}},  {Feature::kF8E5M2, {kF16, kE5}},
    {Feature::kFp, {kF16, kF32}},     {Feature::kFp, {kF32, kI8}},
    {Feature::kFp, {kF32, kI16}},     {Feature::kFp, {kF32, kI32}},
    {Feature::kF8E4M3, {kF32, kE4}},  {Feature::kF8E5M2, {kF32, kE5}},
    {Feature::kBf16, {kF32, kBF16}},  {Feature::kFp, {kF32, kF16}},
};

Status infer(InferCall& call) {
  if (call.wanted == DType::kUnknown) {
    return call.fail(Code::kVerifyTypes, "the dtype of the result must be given");
  }
  return infer_same(call);
}

/// An int32 as a float from which a second rounding, to f16 or bf16, gives what one rounding of the
/// integer would: rounded to odd, so that no tie appears that was none.
float int_to_float_odd(int32_t value) {
  float rounded = static_cast<float>(value);
  const double error = static_cast<double>(rounded) - value;
  if (error == 0) return rounded;
  auto bits = std::bit_cast<uint32_t>(rounded);
  // Towards zero first, then the last bit stands for what was cut off.
  if ((error > 0) == (rounded > 0)) --bits;
  return std::bit_cast<float>(bits | 1);
}

/// Nearest integer, ties to even, saturated to T; NaN gives 0.
template <typename T>
T float_to_int(float value) {
  if (std::isnan(value)) return 0;
  const double rounded = std::nearbyint(double{value});
  if (rounded <= std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
  if (rounded >= std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
  return static_cast<T>(rounded);
}

/// The nearest integer is one that T holds.
template <typename T>
bool is_held(float value) {
  const double rounded = std::nearbyint(double{value});
  return rounded >= std::numeric_limits<T>::min() && rounded <= std::numeric_limits<T>::max();
}

template <typename Out, typename In>
typename Out::Value convert(In value) {
  using To = typename Out::Value;
  if constexpr (std::is_floating_point_v<To> && std::is_integral_v<In>) {
    return std::is_same_v<Out, PlainElement<float>> ? static_cast<float>(value)
                                                    : int_to_float_odd(value);
  } else if constexpr (std::is_floating_point_v<In> && std::is_integral_v<To>) {
    return float_to_int<To>(value);
  } else if constexpr (std::is_integral_v<To>) {
    return numeric::wrap<To>(value);
  } else {
    return value;
  }
}

/// Calls `fn` with the element type of bool (0 or 1 in a byte), i8, i16, i32 or a float.
template <typename Fn>
Status visit_castable(const Node& node, DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kBool:
    case DType::kI8:
      fn(PlainElement<int8_t>{});
      return ok();
    case DType::kI16:
      fn(PlainElement<int16_t>{});
      return ok();
    case DType::kI32:
      fn(PlainElement<int32_t>{});
      return ok();
    default:
      return visit_float(node, dtype, fn);
  }
}

Status reference(RefCall& call) {
  const DType from = call.in[0]->dtype;
  const DType to = call.out[0].dtype;
  Status status;
  TOSAIC_CHECK_OK(visit_castable(call.node, from, [&]<typename In>(In) {
    using Value = typename In::Value;
    if (to == DType::kBool) {
      map_elements<In, PlainElement<uint8_t>>(call, [](Value v) { return v != 0; });
      return;
    }
    status = visit_castable(call.node, to, [&]<typename Out>(Out) {
      map_elements<In, Out>(call, [&](Value v) {
        if constexpr (std::is_floating_point_v<Value> &&
                      std::is_same_v<typename Out::Value, int32_t>) {
          call.wraps = call.wraps || !is_held<int32_t>(v);
        }
        return convert<Out>(v);
      });
    });
  }));
  return status;
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(cast) = {
    .number = 65,
    .operands = kInput,
    .results = {{"output", 1}},
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer,
    .reference = reference,
};
