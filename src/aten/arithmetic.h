// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "aten/builder.h"

/// Pieces of lowerings that several rows share.
namespace tosaic::aten {

/// Reject when a quantised tensor is not per tensor, or not of one of the activation dtypes.
std::optional<Reject> check_activation(const Call& call, const TensorType& type,
                                       std::string_view what);

/// Brings a quantised value to the parameters of `type` by one RESCALE; itself when they are equal.
Value* requantise(Builder& b, Value* x, const TensorType& type);

/// Operand of a row that keeps parameters (views, pooling), under those of `type`, a result: itself
/// when nothing is quantised. The builder fails when only one of the two is.
Value* with_parameters(const Call& call, Builder& b, Value* x, const TensorType& type);

/// Limits a value of quantised `type` to its qmin and qmax where they are narrower than its dtype.
Value* clamp_to_range(Builder& b, Value* x, const TensorType& type);

/// The stored integer of a real value under per-tensor parameters, limited to [qmin, qmax].
int64_t quantised_value(double real, const Quant& quant);

/// A real number as PyTorch makes it an integer of a dtype, its fraction cut off; nothing where the
/// dtype does not hold it.
std::optional<int64_t> whole(double number, DType dtype);

/// The axes of operand 0 that the argument `dim` names, sorted and counted from 0: all of them when
/// it names none.
std::optional<Reject> read_axes(const Call& call, std::vector<int64_t>& axes);

/// TOSA wants windows that tile the padded input exactly; PyTorch drops what is left over. Takes it
/// off the padding after (`pad`: top, bottom, left, right), and where that is too little off the
/// input, by a SLICE. `x` is NHWC; `window` is the extent with dilation. A stride along an axis
/// with one output position becomes 1.
Value* fit_windows(Builder& b, Value* x, std::array<int64_t, 2> window,
                   std::vector<int64_t>& stride, std::vector<int64_t>& pad);

template <size_t N>
std::array<int32_t, N> to_int32(const std::vector<int64_t>& v) {
  std::array<int32_t, N> a{};
  for (size_t i = 0; i < N; ++i)
    a[i] = static_cast<int32_t>(v[i]);
  return a;
}

/// Permutations between PyTorch's layout and TOSA's.
inline constexpr int64_t kToNhwc[] = {0, 2, 3, 1};
inline constexpr int64_t kToNchw[] = {0, 3, 1, 2};

// ---- Convolution-like operators (conv, linear) ------------------------------------------------

/// Bias operand for a convolution with `num_channels` outputs: the program's own in the
/// accumulator's type (int32, int48 with 16-bit activations), quantised at s_in * s_w when it is
/// float; zeros when absent. Float convolutions: as it is.
Value* conv_bias(const Call& call, Builder& b, Value* bias, const Value& x, const Value& w,
                 int64_t num_channels);

/// Accumulator type for an input dtype: i8 -> i32, i16 -> i48, f32 -> f32, f16 -> f32.
DType accumulator_type(DType input);

/// CONCAT along an axis; a single part is the result itself.
Value* side_by_side(Builder& b, std::span<Value* const> parts, int axis);

/// RESCALE of an accumulator (last axis = channels) to the program's output type, with the limits
/// of its quantised range. Float: the accumulator itself.
Value* finish_accumulator(Builder& b, Value* accumulator, const Value& x, const Value& w,
                          const TensorType& result);
/// The same for the groups of a convolution, which are joined along the channels. Each
/// has a RESCALE of its own: NPUs make it with the convolution, and an int48 cannot be joined.
Value* finish_accumulators(Builder& b, std::span<Value* const> groups, const Value& x,
                           const Value& w, const TensorType& result);

/// Reject unless weight and bias are constants and weight quantisation is symmetric (zero points 0)
/// and per tensor or along `channel_axis`.
std::optional<Reject> check_conv_operands(const Call& call, const Value& x, const Value& w,
                                          const Value* bias, int channel_axis);

}  // namespace tosaic::aten
