// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tosa/op.h"

/// Rows of "supported data types" and argument lists that several operations share.
namespace tosaic::tosa {

inline constexpr Feature kIntOrFp = Feature::kInt | Feature::kFp;

/// Operations that compute in floating point only.
inline constexpr Signature kFloatSignatures[] = {
    {Feature::kFp, {DType::kF16}},
    {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

/// MAXIMUM, MINIMUM, ABS.
inline constexpr Signature kI32OrFloatSignatures[] = {
    {Feature::kInt, {DType::kI32}},
    {Feature::kFp, {DType::kF16}},
    {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

/// ADD and SUB: int32 belongs to both profiles.
inline constexpr Signature kSumSignatures[] = {
    {kIntOrFp, {DType::kI32}},
    {Feature::kFp, {DType::kF16}},
    {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

/// NEGATE, REDUCE_MAX, REDUCE_MIN.
inline constexpr Signature kNumberSignatures[] = {
    {Feature::kInt, {DType::kI8}}, {Feature::kInt, {DType::kI16}},   {Feature::kInt, {DType::kI32}},
    {Feature::kFp, {DType::kF16}}, {Feature::kBf16, {DType::kBF16}}, {Feature::kFp, {DType::kF32}},
};

/// Operations on the bits of integers, shifts among them.
inline constexpr Signature kBitsSignatures[] = {
    {Feature::kInt, {DType::kI8}},
    {Feature::kInt, {DType::kI16}},
    {Feature::kInt, {DType::kI32}},
};

/// Operations that move data.
inline constexpr Signature kDataSignatures[] = {
    {kIntOrFp, {DType::kBool}},           {Feature::kInt, {DType::kI8}},
    {Feature::kInt, {DType::kI16}},       {Feature::kInt, {DType::kI32}},
    {Feature::kF8E4M3, {DType::kF8E4M3}}, {Feature::kF8E5M2, {DType::kF8E5M2}},
    {Feature::kFp, {DType::kF16}},        {Feature::kBf16, {DType::kBF16}},
    {Feature::kFp, {DType::kF32}},
};

inline constexpr ArgList kInput = {{"input", 0}};
inline constexpr ArgList kInput1 = {{"input1", 0}};
inline constexpr ArgList kInput1And2 = {{"input1", 0}, {"input2", 0}};
inline constexpr ArgList kOutput = {{"output", 0}};
/// The result of comparisons.
inline constexpr ArgList kBoolOutput = {{"output", kBoolOperand}};

}  // namespace tosaic::tosa
