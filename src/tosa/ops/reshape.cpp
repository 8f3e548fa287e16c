// SPDX-License-Identifier: Apache-2.0
// RESHAPE and IDENTITY: the same elements in the same order.
#include <cstring>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kIdentitySignatures[] = {
    {kIntOrFp, {DType::kBool}},
    {Feature::kInt4, {DType::kI4}},
    {kIntOrFp, {DType::kI8}},
    {kIntOrFp, {DType::kI16}},
    {kIntOrFp, {DType::kI32}},
    {Feature::kInt16, {DType::kI48}},
    {Feature::kF8E4M3, {DType::kF8E4M3}},
    {Feature::kF8E5M2, {DType::kF8E5M2}},
    {Feature::kFp, {DType::kF16}},
    {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

Status infer(InferCall& call) {
  const std::vector<int64_t> sizes = call.shape_value(1);
  if (sizes.size() > size_t{kMaxRank}) {
    return call.fail(Code::kVerifyLevel, "shape has {} entries", sizes.size());
  }
  // A product that leaves the number of elements behind never comes back: sizes are 1 or more.
  const int64_t wanted = call.shape(0).num_elements();
  int64_t product = 1;
  for (const int64_t size : sizes) {
    if (size < 1 || size > wanted / product) {
      product = -1;
      break;
    }
    product *= size;
  }
  if (product != wanted) {
    return call.fail(Code::kVerifyOpRule, "{} does not have the {} elements of {}",
                     to_string(Shape(sizes)), wanted, to_string(call.shape(0)));
  }
  call.add_result(Shape(sizes));
  return ok();
}

Status reference(RefCall& call) {
  std::memcpy(call.out[0].storage.data(), call.in[0]->bytes.data(), call.out[0].bytes.size());
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(reshape) = {
    .number = 57,
    .operands = {{"input1", 0}, {"shape", kShapeOperand, true}},
    .results = kOutput,
    .signatures = kDataSignatures,
    .attrs = fields_of<NoAttrs>(),
    .infer = infer,
    .reference = reference,
};

TOSAIC_TOSA_OP(identity) = {
    .number = 68,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kIdentitySignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = reference,
};
