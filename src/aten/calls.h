// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "aten/builder.h"

/// Calls of rows that move data, for composites: lowered at once, or recorded for the CPU. Results
/// have the parameters of the operand.
namespace tosaic::aten {

/// The same elements under other sizes. A constant becomes another constant, which keeps what its
/// integers mean; the axis of its parameters stays where it is.
Value* call_view(Builder& b, Value* x, const Shape& shape);
/// The view as a composite's result.
Value* call_view(Builder& b, Value* x, const TensorType& type);

/// The same numbers, which are not quantised, in another dtype; `x` itself when it has it.
Value* call_to(Builder& b, Value* x, DType dtype);

/// Elements [first, first + count) of an axis.
Value* call_slice(Builder& b, Value* x, int axis, int64_t first, int64_t count);
/// Elements first, first + step, … of an axis.
Value* call_steps(Builder& b, Value* x, int axis, int64_t first, int64_t count, int64_t step);

/// Elements of an axis by index; each run of neighbours is a slice of its own.
Value* call_take(Builder& b, Value* x, int axis, std::span<const int64_t> indices);

Value* call_cat(Builder& b, std::span<Value* const> parts, int axis, const TensorType& type);

/// Result axis i is axis perm[i] of `x`.
Value* call_permute(Builder& b, Value* x, std::span<const int64_t> perm);

/// The same call with an axis of one element before operand 0 and the result.
Lowered call_with_batch(const Call& call, Builder& b);

/// The same call of another overload, one with the same operands, which has the first result only.
Lowered call_alias(const Call& call, Builder& b, std::string_view full_name);

}  // namespace tosaic::aten
