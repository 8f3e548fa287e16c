// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"
#include "tosa/ops/strided_copy.h"

namespace tosaic::tosa {
namespace {

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 1, kMaxRank));
  const auto perms = call.get<TransposeAttrs>().perms;
  const Shape& in = call.shape(0);
  Shape out = in;
  uint32_t seen = 0;
  bool is_permutation = perms.size() == static_cast<size_t>(in.rank());
  for (size_t i = 0; is_permutation && i < perms.size(); ++i) {
    is_permutation = perms[i] >= 0 && perms[i] < in.rank() && (seen >> perms[i] & 1) == 0;
    if (!is_permutation) break;
    seen |= uint32_t{1} << perms[i];
    out[static_cast<int>(i)] = in[static_cast<int>(perms[i])];
  }
  if (!is_permutation) {
    return call.fail(Code::kVerifyOpRule, "perms {} is no permutation of the {} axes",
                     to_string(Attr::ints(perms)), in.rank());
  }
  call.add_result(out);
  return ok();
}

Status reference(RefCall& call) {
  const auto perms = call.get<TransposeAttrs>().perms;
  const Shape& out = call.out[0].shape;
  const auto from = contiguous_strides(call.in[0]->shape);
  const auto to = contiguous_strides(out);
  StridedCopy copy;
  copy.element_bytes = element_bytes(call.out[0].dtype);
  for (size_t i = 0; i < perms.size(); ++i)
    copy.add_axis(out[static_cast<int>(i)], from[static_cast<size_t>(perms[i])], to[i]);
  copy.run(call.in[0]->bytes.data(), call.out[0].storage.data());
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(transpose) = {
    .number = 61,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kDataSignatures,
    .attrs = fields_of<TransposeAttrs>(),
    .infer = infer,
    .reference = reference,
};
