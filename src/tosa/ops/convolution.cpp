// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops/convolution.h"

#include <algorithm>

#include "numeric/fixed_point.h"

namespace tosaic::tosa {
namespace {

bool takes_accumulator(DType out, DType acc_type) {
  if (out == DType::kI32 || out == DType::kI48) return acc_type == out;
  return acc_type == DType::kF32 || (out == DType::kF16 && acc_type == DType::kF16);
}

}  // namespace

Status check_conv_rules(InferCall& call, DType acc_type, int64_t channels) {
  const DType out = call.signature.types[2];
  const bool is_f8 = call.dtype(0) == DType::kF8E4M3 || call.dtype(0) == DType::kF8E5M2;
  if (is_f8 ? acc_type != DType::kF16 : !takes_accumulator(out, acc_type)) {
    return call.fail(Code::kVerifySignature, "there is no form of {} with acc_type {}",
                     dtype_name(call.dtype(0)), dtype_name(acc_type));
  }
  TOSAIC_CHECK_OK(check_zero_point(call, 3));
  TOSAIC_CHECK_OK(check_zero_point(call, 4));
  const Shape& bias = call.shape(2);
  if (bias.rank() != 1 || (bias[0] != 1 && bias[0] != channels)) {
    return call.fail(Code::kVerifyOpRule, "bias has sizes {} and must have [{}] or [1]",
                     to_string(bias), channels);
  }
  return ok();
}

Status infer_conv(InferCall& call, std::array<int64_t, 2> kernel, int64_t channels) {
  const auto attrs = call.get<Conv2dAttrs>();
  TOSAIC_CHECK_OK(check_conv_rules(call, attrs.acc_type, channels));
  const Shape& in = call.shape(0);
  TOSAIC_TRY(const int64_t height, window_size(call, "height", in[1], attrs.pad[0], attrs.pad[1],
                                               kernel[0], attrs.stride[0], attrs.dilation[0]));
  TOSAIC_TRY(const int64_t width, window_size(call, "width", in[2], attrs.pad[2], attrs.pad[3],
                                              kernel[1], attrs.stride[1], attrs.dilation[1]));
  call.add_result({in[0], height, width, channels});
  return ok();
}

std::array<WindowAxis, 2> conv_window(const RefCall& call, std::array<int64_t, 2> kernel) {
  const auto attrs = call.get<Conv2dAttrs>();
  const Shape& in = call.in[0]->shape;
  const Shape& out = call.out[0].shape;
  return {{{in[1], out[1], kernel[0], attrs.stride[0], attrs.dilation[0], attrs.pad[0]},
           {in[2], out[2], kernel[1], attrs.stride[1], attrs.dilation[1], attrs.pad[2]}}};
}

bool store_accumulators(const RefCall& call, std::span<const int64_t> accumulators,
                        int64_t offset) {
  HostTensor& out = call.out[0];
  const HostTensor& bias = *call.in[2];
  const size_t step = bias.shape[0] == 1 ? 0 : 1;
  bool fits = true;
  if (out.dtype == DType::kI32) {
    auto* to = out.mutable_data<int32_t>() + offset;
    for (size_t i = 0; i < accumulators.size(); ++i) {
      const int64_t sum = accumulators[i] + bias.data<int32_t>()[i * step];
      fits = fits && numeric::fits<int32_t>(accumulators[i]) && numeric::fits<int32_t>(sum);
      to[i] = numeric::wrap<int32_t>(sum);
    }
    return fits;
  }
  auto* to = out.mutable_data<int64_t>() + offset;
  for (size_t i = 0; i < accumulators.size(); ++i) {
    const int64_t sum = accumulators[i] + bias.data<int64_t>()[i * step];
    fits = fits && numeric::fits_int48(accumulators[i]) && numeric::fits_int48(sum);
    to[i] = numeric::wrap_int48(sum);
  }
  return fits;
}

void store_float_accumulators(const RefCall& call, std::span<float> accumulators, int64_t offset) {
  HostTensor& out = call.out[0];
  const HostTensor& bias = *call.in[2];
  const size_t step = bias.shape[0] == 1 ? 0 : 1;
  std::vector<float> buffer;
  const std::span<const float> bias_values = as_floats(bias, buffer);
  if (out.dtype != DType::kF32) {
    const bool is_f16 = out.dtype == DType::kF16;
    for (float& a : accumulators)
      a = is_f16 ? numeric::round_to_f16(a) : numeric::round_to_bf16(a);
  }
  for (size_t i = 0; i < accumulators.size(); ++i)
    accumulators[i] += bias_values[i * step];
  store_floats(out, offset, accumulators);
}

std::vector<int16_t> centred(const HostTensor& tensor, const HostTensor& zero_point) {
  std::vector<int16_t> values(static_cast<size_t>(tensor.shape.num_elements()));
  if (tensor.dtype == DType::kI16) {
    std::copy_n(tensor.data<int16_t>(), values.size(), values.begin());
    return values;
  }
  const auto* stored = tensor.data<int8_t>();
  const int32_t zp = zero_point_of(zero_point);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<int16_t>(stored[i] - zp);
  return values;
}

int64_t dot(const int16_t* a, const int16_t* b, int64_t count, int64_t max_product) {
  // As many products as an int32 sum holds for certain; at least one.
  const int64_t chunk = std::max<int64_t>(1, INT32_MAX / std::max<int64_t>(1, max_product));
  int64_t sum = 0;
  for (int64_t begin = 0; begin < count; begin += chunk) {
    const int64_t end = std::min(count, begin + chunk);
    int32_t part = 0;
    for (int64_t i = begin; i < end; ++i)
      part += int32_t{a[i]} * int32_t{b[i]};
    sum += part;
  }
  return sum;
}

}  // namespace tosaic::tosa
