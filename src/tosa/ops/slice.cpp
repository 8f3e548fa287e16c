// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"
#include "tosa/ops/strided_copy.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  const std::vector<int64_t> start = call.shape_value(1);
  const std::vector<int64_t> size = call.shape_value(2);
  const Shape& in = call.shape(0);
  const auto rank = static_cast<size_t>(in.rank());
  if (start.size() != rank || size.size() != rank) {
    return call.fail(Code::kVerifyRank, "start and size have {} and {} entries for rank {}",
                     start.size(), size.size(), rank);
  }
  for (size_t i = 0; i < rank; ++i) {
    const int64_t whole = in[static_cast<int>(i)];
    if (start[i] < 0 || size[i] < 1 || start[i] >= whole || size[i] > whole - start[i]) {
      return call.fail(Code::kVerifyOpRule, "axis {}: start {} and size {} leave the size {}", i,
                       start[i], size[i], whole);
    }
  }
  call.add_result(Shape(size));
  return ok();
}

Status reference(RefCall& call) {
  const Shape& out = call.out[0].shape;
  const auto* start = call.in[1]->data<int64_t>();
  const auto from = contiguous_strides(call.in[0]->shape);
  const auto to = contiguous_strides(out);
  StridedCopy copy;
  copy.element_bytes = element_bytes(call.out[0].dtype);
  int64_t offset = 0;
  for (int axis = 0; axis < out.rank(); ++axis) {
    const auto i = static_cast<size_t>(axis);
    offset += start[i] * from[i];
    copy.add_axis(out[axis], from[i], to[i]);
  }
  copy.run(call.in[0]->bytes.data() + static_cast<size_t>(offset) * copy.element_bytes,
           call.out[0].storage.data());
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(slice) = {
    .number = 59,
    .operands = {{"input1", 0}, {"start", kShapeOperand, true}, {"size", kShapeOperand, true}},
    .results = kOutput,
    .signatures = kDataSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kPerAxisOperands,
    .infer = infer,
    .reference = reference,
};
