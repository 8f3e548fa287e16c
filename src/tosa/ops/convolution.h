// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "tosa/ops/elements.h"
#include "tosa/ops/window.h"

/// What CONV2D, DEPTHWISE_CONV2D and MATMUL share.
namespace tosaic::tosa {

/// Types in, weight, out of the convolutions.
inline constexpr Signature kConvSignatures[] = {
    {Feature::kInt, {DType::kI8, DType::kI8, DType::kI32}},
    {Feature::kInt4, {DType::kI8, DType::kI4, DType::kI32}},
    {Feature::kInt16, {DType::kI16, DType::kI8, DType::kI48}},
    {Feature::kF8E4M3, {DType::kF8E4M3, DType::kF8E4M3, DType::kF16}},
    {Feature::kF8E5M2, {DType::kF8E5M2, DType::kF8E5M2, DType::kF16}},
    {Feature::kFp, {DType::kF16, DType::kF16, DType::kF16}},
    {Feature::kBf16, {DType::kBF16, DType::kBF16, DType::kBF16}},
    {Feature::kFp, {DType::kF32, DType::kF32, DType::kF32}},
};
inline constexpr ArgList kConvOperands = {
    {"input", 0}, {"weight", 1}, {"bias", 2}, {"input_zp", 0, true}, {"weight_zp", 1, true}};
inline constexpr ArgList kConvResults = {{"output", 2}};

/// Accumulator type, zero points and bias of a convolution with `channels` outputs.
Status check_conv_rules(InferCall& call, DType acc_type, int64_t channels);

/// Checks everything of a convolution but the weight's axes, and adds its result.
/// `kernel` is {KH, KW}, `channels` that of the output.
Status infer_conv(InferCall& call, std::array<int64_t, 2> kernel, int64_t channels);

/// Axes y and x of a convolution's window.
std::array<WindowAxis, 2> conv_window(const RefCall& call, std::array<int64_t, 2> kernel);

/// Adds the bias to accumulators that no step overflowed and stores them as int32, or as int48 when
/// that is the result's dtype. False when a result does not fit: it is then wrapped.
bool store_accumulators(const RefCall& call, std::span<const int64_t> accumulators, int64_t offset);
/// The same in floating point: rounded to the result's dtype before and after the sum.
void store_float_accumulators(const RefCall& call, std::span<float> accumulators, int64_t offset);

/// An i8, i4 or i16 tensor minus its zero point: exact in 16 bits.
std::vector<int16_t> centred(const HostTensor& tensor, const HostTensor& zero_point);

/// Sum of products, exact. `max_product` bounds the magnitude of one.
int64_t dot(const int16_t* a, const int16_t* b, int64_t count, int64_t max_product);

}  // namespace tosaic::tosa
