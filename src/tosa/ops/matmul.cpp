// SPDX-License-Identifier: Apache-2.0
// MATMUL: [N, H, C] times [N, C, W].
#include <algorithm>
#include <vector>

#include "numeric/fixed_point.h"
#include "tosa/ops.h"
#include "tosa/ops/convolution.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI32}},
    {Feature::kInt16, {DType::kI16, DType::kI48}},
    {Feature::kF8E4M3, {DType::kF8E4M3, DType::kF16}},
    {Feature::kF8E5M2, {DType::kF8E5M2, DType::kF16}},
    {Feature::kFp, {DType::kF16, DType::kF16}},
    {Feature::kFp, {DType::kF16, DType::kF32}},
    {Feature::kBf16, {DType::kBF16, DType::kF32}},
    {Feature::kFp, {DType::kF32, DType::kF32}},
};

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 3, 3));
  TOSAIC_CHECK_OK(check_rank(call, 1, 3, 3));
  TOSAIC_CHECK_OK(check_zero_point(call, 2));
  TOSAIC_CHECK_OK(check_zero_point(call, 3));
  const Shape& a = call.shape(0);
  const Shape& b = call.shape(1);
  if (a[0] != b[0] || a[2] != b[1]) {
    return call.fail(Code::kVerifyRank, "sizes {} and {} do not fit each other", to_string(a),
                     to_string(b));
  }
  call.add_result({a[0], a[1], b[2]});
  return ok();
}

void multiply_ints(RefCall& call) {
  const Shape& a_shape = call.in[0]->shape;
  const int64_t depth = a_shape[2];
  const int64_t columns = call.in[1]->shape[2];
  const std::vector<int16_t> a = centred(*call.in[0], *call.in[2]);
  const std::vector<int16_t> b = centred(*call.in[1], *call.in[3]);
  const bool is_i8 = call.in[0]->dtype == DType::kI8;
  const int64_t max_product = is_i8 ? int64_t{255} * 255 : int64_t{1} << 30;
  std::vector<int16_t> b_columns(static_cast<size_t>(depth * columns));
  int64_t offset = 0;
  bool fits = true;
  for (int64_t n = 0; n < a_shape[0]; ++n) {
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t w = 0; w < columns; ++w)
        b_columns[static_cast<size_t>(w * depth + k)] =
            b[static_cast<size_t>((n * depth + k) * columns + w)];
    }
    for (int64_t h = 0; h < a_shape[1]; ++h) {
      const int16_t* row = a.data() + (n * a_shape[1] + h) * depth;
      for (int64_t w = 0; w < columns; ++w, ++offset) {
        const int64_t sum = dot(row, b_columns.data() + w * depth, depth, max_product);
        if (is_i8) {
          fits = fits && numeric::fits<int32_t>(sum);
          call.out[0].mutable_data<int32_t>()[offset] = numeric::wrap<int32_t>(sum);
        } else {
          fits = fits && numeric::fits_int48(sum);
          call.out[0].mutable_data<int64_t>()[offset] = numeric::wrap_int48(sum);
        }
      }
    }
  }
  if (!fits) call.set_unpredictable("an accumulator overflows");
}

/// In the order of C for each element; all columns side by side.
void multiply_floats(RefCall& call) {
  const Shape& a_shape = call.in[0]->shape;
  const int64_t depth = a_shape[2];
  const int64_t columns = call.in[1]->shape[2];
  std::vector<float> a_buffer;
  std::vector<float> b_buffer;
  const float* a = as_floats(*call.in[0], a_buffer).data();
  const float* b = as_floats(*call.in[1], b_buffer).data();
  std::vector<float> sums(static_cast<size_t>(columns));
  int64_t offset = 0;
  for (int64_t n = 0; n < a_shape[0]; ++n, b += depth * columns) {
    for (int64_t h = 0; h < a_shape[1]; ++h, a += depth, offset += columns) {
      std::fill(sums.begin(), sums.end(), 0.0f);
      for (int64_t k = 0; k < depth; ++k) {
        const float* row = b + k * columns;
        float* sum = sums.data();
        for (int64_t w = 0; w < columns; ++w)
          sum[w] += a[k] * row[w];
      }
      store_floats(call.out[0], offset, sums);
    }
  }
}

Status reference(RefCall& call) {
  switch (call.in[0]->dtype) {
    case DType::kI8:
    case DType::kI16:
      multiply_ints(call);
      return ok();
    default:
      multiply_floats(call);
      return ok();
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(matmul) = {
    .number = 7,
    .operands = {{"A", 0}, {"B", 0}, {"A_zp", 0, true}, {"B_zp", 0, true}},
    .results = {{"output", 1}},
    .signatures = kSignatures,
    .attrs = fields_of<NoAttrs>(),
    .infer = infer,
    .reference = reference,
};
