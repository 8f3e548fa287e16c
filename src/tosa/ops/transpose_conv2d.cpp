// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/convolution.h"

namespace tosaic::tosa {
namespace {

/// Size of the output along one axis.
Expected<int64_t> scattered(const InferCall& call, std::string_view name, int64_t size,
                            int64_t before, int64_t after, int64_t kernel, int64_t stride) {
  if (stride < 1) return call.fail(Code::kVerifyOpRule, "{}: stride {} is below 1", name, stride);
  if (before <= -kernel || after <= -kernel) {
    return call.fail(Code::kVerifyOpRule, "{}: out_pad {}, {} must be above -{}, the kernel", name,
                     before, after, kernel);
  }
  if (kernel > Level{}.max_kernel || stride > Level{}.max_stride || before > Level{}.max_kernel ||
      after > Level{}.max_kernel) {
    return call.fail(Code::kVerifyLevel,
                     "{}: kernel {}, stride {}, out_pad {}, {} are above the "
                     "level's {}",
                     name, kernel, stride, before, after, Level{}.max_kernel);
  }
  const int64_t out = (size - 1) * stride + before + after + kernel;
  if (out < 1) return call.fail(Code::kVerifyOpRule, "{}: nothing is left of the output", name);
  return out;
}

Status infer(InferCall& call) {
  TOSAIC_CHECK_OK(check_rank(call, 0, 4, 4));
  TOSAIC_CHECK_OK(check_rank(call, 1, 4, 4));
  const auto attrs = call.get<TransposeConv2dAttrs>();
  const Shape& in = call.shape(0);
  const Shape& weight = call.shape(1);
  if (weight[3] != in[3]) {
    return call.fail(Code::kVerifyRank, "weight has {} input channels and the input has {}",
                     weight[3], in[3]);
  }
  TOSAIC_CHECK_OK(check_conv_rules(call, attrs.acc_type, weight[0]));
  const auto& pad = attrs.out_pad;
  TOSAIC_TRY(const int64_t height,
             scattered(call, "height", in[1], pad[0], pad[1], weight[1], attrs.stride[0]));
  TOSAIC_TRY(const int64_t width,
             scattered(call, "width", in[2], pad[2], pad[3], weight[2], attrs.stride[1]));
  call.add_result({in[0], height, width, weight[0]});
  return ok();
}

/// Which input and kernel positions meet in one output position of an axis.
struct Meeting {
  int64_t input;
  int64_t kernel;
};
std::vector<Meeting> meetings(int64_t out, int64_t before, int64_t stride, int64_t kernel,
                              int64_t size) {
  std::vector<Meeting> list;
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t at = out - before - k;
    if (at >= 0 && at % stride == 0 && at / stride < size) list.push_back({at / stride, k});
  }
  return list;
}

/// Calls fn(image, y meetings, x meetings, offset of the output pixel) for every output pixel.
template <typename Fn>
void for_each_pixel(const RefCall& call, Fn fn) {
  const auto attrs = call.get<TransposeConv2dAttrs>();
  const Shape& in = call.in[0]->shape;
  const Shape& weight = call.in[1]->shape;
  const Shape& out = call.out[0].shape;
  std::vector<std::vector<Meeting>> columns;
  for (int64_t x = 0; x < out[2]; ++x) {
    columns.push_back(meetings(x, attrs.out_pad[2], attrs.stride[1], weight[2], in[2]));
  }
  int64_t offset = 0;
  for (int64_t n = 0; n < out[0]; ++n) {
    for (int64_t y = 0; y < out[1]; ++y) {
      const auto rows = meetings(y, attrs.out_pad[0], attrs.stride[0], weight[1], in[1]);
      for (int64_t x = 0; x < out[2]; ++x, offset += out[3])
        fn(n, rows, columns[static_cast<size_t>(x)], offset);
    }
  }
}

void convolve_ints(RefCall& call) {
  const Shape& shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const int64_t channels = shape[3];
  const std::vector<int16_t> in = centred(*call.in[0], *call.in[3]);
  const std::vector<int16_t> weight = centred(*call.in[1], *call.in[4]);
  const int64_t max_product = call.in[0]->dtype == DType::kI16 ? 32768 * 255 : 255 * 255;
  std::vector<int64_t> sums(static_cast<size_t>(weight_shape[0]));
  bool fits = true;
  for_each_pixel(call, [&](int64_t n, const std::vector<Meeting>& rows,
                           const std::vector<Meeting>& columns, int64_t offset) {
    std::fill(sums.begin(), sums.end(), 0);
    for (const Meeting& row : rows) {
      for (const Meeting& column : columns) {
        const int16_t* pixel =
            in.data() + ((n * shape[1] + row.input) * shape[2] + column.input) * channels;
        for (size_t oc = 0; oc < sums.size(); ++oc) {
          const int64_t tap =
              (static_cast<int64_t>(oc) * weight_shape[1] + row.kernel) * weight_shape[2] +
              column.kernel;
          sums[oc] += dot(pixel, weight.data() + tap * channels, channels, max_product);
        }
      }
    }
    fits = store_accumulators(call, sums, offset) && fits;
  });
  if (!fits) call.set_unpredictable("an accumulator overflows");
}

void convolve_floats(RefCall& call) {
  const Shape& shape = call.in[0]->shape;
  const Shape& weight_shape = call.in[1]->shape;
  const int64_t channels = shape[3];
  std::vector<float> in_buffer;
  std::vector<float> weight_buffer;
  const float* in = as_floats(*call.in[0], in_buffer).data();
  const float* weight = as_floats(*call.in[1], weight_buffer).data();
  std::vector<float> sums(static_cast<size_t>(weight_shape[0]));
  for_each_pixel(call, [&](int64_t n, const std::vector<Meeting>& rows,
                           const std::vector<Meeting>& columns, int64_t offset) {
    for (size_t oc = 0; oc < sums.size(); ++oc) {
      float sum = 0;
      for (const Meeting& row : rows) {
        for (const Meeting& column : columns) {
          const float* pixel =
              in + ((n * shape[1] + row.input) * shape[2] + column.input) * channels;
          const float* tap = weight + ((static_cast<int64_t>(oc) * weight_shape[1] + row.kernel) *
                                           weight_shape[2] +
                                       column.kernel) *
                                          channels;
          for (int64_t ic = 0; ic < channels; ++ic)
            sum += pixel[ic] * tap[ic];
        }
      }
      sums[oc] = sum;
    }
    store_float_accumulators(call, sums, offset);
  });
}

Status reference(RefCall& call) {
  switch (call.in[0]->dtype) {
    case DType::kI8:
    case DType::kI16:
      convolve_ints(call);
      return ok();
    default:
      convolve_floats(call);
      return ok();
  }
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(transpose_conv2d) = {
    .number = 10,
    .operands = kConvOperands,
    .results = kConvResults,
    .signatures = kConvSignatures,
    .attrs = fields_of<TransposeConv2dAttrs>(),
    .infer = infer,
    .reference = reference,
};
