// SPDX-License-Identifier: Apache-2.0
// GATHER: rows of K by index. SCATTER: rows written to indices of K.
#include <cstring>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI32}},
    {Feature::kInt, {DType::kI16, DType::kI32}},
    {Feature::kInt, {DType::kI32, DType::kI32}},
    {Feature::kF8E4M3, {DType::kF8E4M3, DType::kI32}},
    {Feature::kF8E5M2, {DType::kF8E5M2, DType::kI32}},
    {Feature::kFp, {DType::kF16, DType::kI32}},
    {Feature::kBf16, {DType::kBF16, DType::kI32}},
    {Feature::kFp, {DType::kF32, DType::kI32}},
};

Status check_indices(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 3, 3));
  TOSAIC_CHECK_OK(check_rank(call, 1, 2, 2));
  if (call.shape(1)[0] != call.shape(0)[0]) {
    return call.fail(Code::kVerifyRank, "the indices have a batch of {} and the values of {}",
                     call.shape(1)[0], call.shape(0)[0]);
  }
  return ok();
}

Status infer_gather(InferCall& call) {
  TOSAIC_CHECK_OK(check_indices(call));
  call.add_result({call.shape(0)[0], call.shape(1)[1], call.shape(0)[2]});
  return ok();
}

Status infer_scatter(InferCall& call) {
  TOSAIC_CHECK_OK(check_indices(call));
  TOSAIC_CHECK_OK(check_rank(call, 2, 3, 3));
  const Shape wanted{call.shape(0)[0], call.shape(1)[1], call.shape(0)[2]};
  if (call.shape(2) != wanted) {
    return call.fail(Code::kVerifyRank, "the input has sizes {} and must have {}",
                     to_string(call.shape(2)), to_string(wanted));
  }
  if (wanted[1] > call.shape(0)[1]) {
    return call.fail(Code::kVerifyOpRule, "{} rows cannot be written to {} without meeting",
                     wanted[1], call.shape(0)[1]);
  }
  call.add_result(call.shape(0));
  return ok();
}

/// Sizes N, K, W and the bytes of one row of C elements.
struct Rows {
  explicit Rows(const RefCall& call)
      : batch(call.in[0]->shape[0]),
        rows(call.in[0]->shape[1]),
        indices(call.in[1]->shape[1]),
        bytes(static_cast<size_t>(call.in[0]->shape[2]) * element_bytes(call.in[0]->dtype)) {}
  size_t offset(int64_t row) const { return static_cast<size_t>(row) * bytes; }
  int64_t batch;
  int64_t rows;
  int64_t indices;
  size_t bytes;
};

Status gather_rows(RefCall& call) {
  const Rows r(call);
  const auto* index = call.in[1]->data<int32_t>();
  std::byte* to = call.out[0].storage.data();
  for (int64_t n = 0; n < r.batch; ++n) {
    for (int64_t w = 0; w < r.indices; ++w, ++index, to += r.bytes) {
      if (*index < 0 || *index >= r.rows) {
        call.set_unpredictable("an index is outside of the values");
        std::memset(to, 0, r.bytes);
        continue;
      }
      std::memcpy(to, call.in[0]->bytes.data() + r.offset(n * r.rows + *index), r.bytes);
    }
  }
  return ok();
}

Status scatter_rows(RefCall& call) {
  const Rows r(call);
  const auto* index = call.in[1]->data<int32_t>();
  const std::byte* from = call.in[2]->bytes.data();
  std::byte* out = call.out[0].storage.data();
  std::memcpy(out, call.in[0]->bytes.data(), call.in[0]->bytes.size());
  for (int64_t n = 0; n < r.batch; ++n) {
    std::vector<bool> written(static_cast<size_t>(r.rows), false);
    for (int64_t w = 0; w < r.indices; ++w, ++index, from += r.bytes) {
      if (*index < 0 || *index >= r.rows) {
        call.set_unpredictable("an index is outside of the values");
        continue;
      }
      const auto row = static_cast<size_t>(*index);
      if (written[row]) call.set_unpredictable("two rows are written to one index");
      written[row] = true;
      std::memcpy(out + r.offset(n * r.rows + *index), from, r.bytes);
    }
  }
  return ok();
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(gather) = {
    .number = 62,
    .operands = {{"values", 0}, {"indices", 1}},
    .results = kOutput,
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .infer = infer_gather,
    .reference = gather_rows,
};

TOSAIC_TOSA_OP(scatter) = {
    .number = 63,
    .operands = {{"values_in", 0}, {"indices", 1}, {"input", 0}},
    .results = {{"values_out", 0}},
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .infer = infer_scatter,
    .reference = scatter_rows,
};
