// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"
#include "tosa/ops/strided_copy.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  const std::vector<int64_t> multiples = call.shape_value(1);
  Shape out = call.shape(0);
  if (multiples.size() != static_cast<size_t>(out.rank())) {
    return call.fail(Code::kVerifyRank, "multiples has {} entries for rank {}", multiples.size(),
                     out.rank());
  }
  for (size_t i = 0; i < multiples.size(); ++i) {
    // The limit keeps the product from overflowing; the level is far below.
    if (multiples[i] < 1 || multiples[i] > INT32_MAX) {
      return call.fail(Code::kVerifyOpRule, "multiple {} must be 1 or more", multiples[i]);
    }
    out[static_cast<int>(i)] *= multiples[i];
  }
  call.add_result(out);
  return ok();
}

Status reference(RefCall& call) {
  const Shape& in = call.in[0]->shape;
  const Shape& out = call.out[0].shape;
  const auto from = contiguous_strides(in);
  const auto to = contiguous_strides(out);
  StridedCopy copy;
  copy.element_bytes = element_bytes(call.out[0].dtype);
  for (int axis = 0; axis < in.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    copy.add_axis(out[axis] / in[axis], 0, to[i] * in[axis]);
    copy.add_axis(in[axis], from[i], to[i]);
  }
  copy.run(call.in[0]->bytes.data(), call.out[0].storage.data());
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(tile) = {
    .number = 60,
    .operands = {{"input1", 0}, {"multiples", kShapeOperand, true}},
    .results = kOutput,
    .signatures = kDataSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kPerAxisOperands,
    .infer = infer,
    .reference = reference,
};
