// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  TOSAIC_CHECK_OK(check_axis(call, call.get<AxisAttrs>().axis));
  call.add_result(call.shape(0));
  return ok();
}

Status reference(RefCall& call) {
  const AxisSplit split(call.in[0]->shape, call.get<AxisAttrs>().axis);
  const size_t run = static_cast<size_t>(split.inner) * element_bytes(call.out[0].dtype);
  const auto size = static_cast<size_t>(split.size);
  const std::byte* from = call.in[0]->bytes.data();
  std::byte* to = call.out[0].storage.data();
  for (int64_t o = 0; o < split.outer; ++o, from += size * run, to += size * run) {
    for (size_t k = 0; k < size; ++k)
      std::memcpy(to + k * run, from + (size - 1 - k) * run, run);
  }
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(reverse) = {
    .number = 58,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kDataSignatures,
    .attrs = fields_of<AxisAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = infer,
    .reference = reference,
};
