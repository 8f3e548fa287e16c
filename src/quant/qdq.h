// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "aten/row.h"
#include "ir/graph.h"
#include "support/expected.h"

/// The quantize and dequantize nodes of PT2E programs (quantized_decomposed.*), read and made.
namespace tosaic {

bool is_quantize(const Node& node);
bool is_dequantize(const Node& node);

/// The quantised type that a quantize node gives, or that a dequantize node reads: shape of operand
/// 0, integer type and parameters of the other arguments. E0305 where a parameter is out of its
/// range, E0304 for parameters that the program computes (dynamic quantisation).
Expected<TensorType> quantised_type_of(const Node& node);

/// E0304 for a node that computes parameters or that quantises by token or group.
Status check_static_quantisation(const Node& node);

/// The same real numbers for the same stored integers: scales, zero points and axis are equal.
/// The ranges may differ.
bool same_parameters(const TensorType& a, const TensorType& b);

/// `value` (per tensor) as f32, and an f32 value as `type` (per tensor), by a new node in front of
/// `before` (nullptr: at the end).
Value& insert_dequantize(Value& value, Node* before, Loc loc);
Value& insert_quantize(Value& value, const TensorType& type, Node* before, Loc loc);
/// An unsigned type as the signed one that stands for the same real numbers, and the other way;
/// other types as they are.
TensorType signed_type(Module& module, const TensorType& type);
TensorType unsigned_type(Module& module, const TensorType& type);
/// A quantised value under the parameters of `type`: tosaic.requantize, with tosaic.from_unsigned
/// and tosaic.to_unsigned around it where a side is unsigned.
Value& insert_requantize(Value& value, const TensorType& type, Node* before, Loc loc);

/// The numbers that a quantised constant stands for, as an f32 constant value.
Value& dequantised_constant(const Value& value);

}  // namespace tosaic
