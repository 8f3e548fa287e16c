// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {kIntOrFp, {DType::kBool}},           {Feature::kInt, {DType::kI8}},
    {Feature::kInt16, {DType::kI16}},     {Feature::kInt, {DType::kI32}},
    {Feature::kF8E4M3, {DType::kF8E4M3}}, {Feature::kF8E5M2, {DType::kF8E5M2}},
    {Feature::kFp, {DType::kF16}},        {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  const int axis = call.get<AxisAttrs>().axis;
  TOSAIC_CHECK_OK(check_axis(call, axis));
  Shape out = call.shape(0);
  for (size_t i = 1; i < call.in.size(); ++i) {
    const Shape& shape = call.shape(i);
    bool fits = shape.rank() == out.rank();
    for (int other = 0; fits && other < out.rank(); ++other)
      fits = other == axis || shape[other] == out[other];
    if (!fits) {
      return call.fail(Code::kVerifyRank, "sizes {} and {} differ outside of axis {}",
                       to_string(call.shape(0)), to_string(shape), axis);
    }
    out[axis] += shape[axis];
  }
  call.add_result(out);
  return ok();
}

Status reference(RefCall& call) {
  const int axis = call.get<AxisAttrs>().axis;
  const int64_t outer = AxisSplit(call.out[0].shape, axis).outer;
  std::byte* out = call.out[0].storage.data();
  for (int64_t o = 0; o < outer; ++o) {
    for (const HostTensor* in : call.in) {
      const size_t run = in->bytes.size() / static_cast<size_t>(outer);
      std::memcpy(out, in->bytes.data() + static_cast<size_t>(o) * run, run);
      out += run;
    }
  }
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(concat) = {
    .number = 55,
    .operands = {{"input1", 0, false, true}},
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<AxisAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = infer,
    .reference = reference,
};
