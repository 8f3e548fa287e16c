// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"
#include "tosa/ops/strided_copy.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  const std::vector<int64_t> padding = call.shape_value(1);
  Shape out = call.shape(0);
  if (padding.size() != 2 * static_cast<size_t>(out.rank())) {
    return call.fail(Code::kVerifyRank, "padding has {} entries for rank {}", padding.size(),
                     out.rank());
  }
  if (!(call.shape(2) == Shape{1})) {
    return call.fail(Code::kVerifyRank, "pad_const has sizes {} and must have [1]",
                     to_string(call.shape(2)));
  }
  for (size_t i = 0; i < padding.size(); ++i) {
    // The limit keeps the sum from overflowing; the level is far below.
    if (padding[i] < 0 || padding[i] > INT32_MAX) {
      return call.fail(Code::kVerifyOpRule, "padding {} must be from 0 to {}", padding[i],
                       INT32_MAX);
    }
    out[static_cast<int>(i / 2)] += padding[i];
  }
  call.add_result(out);
  return ok();
}

Status reference(RefCall& call) {
  const Shape& in = call.in[0]->shape;
  HostTensor& out = call.out[0];
  const auto* padding = call.in[1]->data<int64_t>();
  const auto from = contiguous_strides(in);
  const auto to = contiguous_strides(out.shape);
  StridedCopy fill;
  fill.element_bytes = element_bytes(out.dtype);
  fill.add_axis(out.shape.num_elements(), 0, 1);
  fill.run(call.in[2]->bytes.data(), out.storage.data());
  StridedCopy copy;
  copy.element_bytes = fill.element_bytes;
  int64_t offset = 0;
  for (int axis = 0; axis < in.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    offset += padding[2 * i] * to[i];
    copy.add_axis(in[axis], from[i], to[i]);
  }
  copy.run(call.in[0]->bytes.data(),
           out.storage.data() + static_cast<size_t>(offset) * copy.element_bytes);
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(pad) = {
    .number = 56,
    .operands = {{"input1", 0}, {"padding", kShapeOperand, true}, {"pad_const", 0, true}},
    .results = kOutput,
    .signatures = kDataSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kPerAxisOperands,
    .infer = infer,
    .reference = reference,
};
