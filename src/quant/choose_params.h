// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "quant/observe.h"

namespace tosaic {

enum class Precision : uint8_t {
  kInt8,     ///< activations and weights int8, bias int32
  kInt16x8,  ///< activations int16, weights int8, bias int48
};

/// Parameters of an activation with values in `range`. int8: asymmetric, the range with 0 in it
/// spans the 256 codes; int16: symmetric, zero point 0. A tensor of zeros gets those of [-1, 1].
/// The scale is a normal float32 number.
TensorType activation_type(Module& module, const Range& range, Precision precision,
                           const Shape& shape);

/// The activation that a node's only result goes into alone, whose parameters it takes; nullptr
/// without one.
const Node* fused_activation(const Node& node);

/// int8 parameters in [-127, 127] of a constant float weight, one scale per index of `axis`.
/// `least_scales` (of as many elements, or empty) bounds them from below. Channels of zeros get the
/// greatest of the other channels' scales. E0305 for a weight that is not finite.
Expected<const Quant*> weight_quant(Module& module, const Constant& weight, int axis,
                                    std::span<const double> least_scales);

/// Parameters for a program's activations.
struct ChosenParameters {
  Precision precision = Precision::kInt8;
  /// Of each float32 input, constant and node result: its type when it is quantised.
  std::unordered_map<const Value*, TensorType> types;
  /// Values that the samples left at one number, in order of execution.
  std::vector<const Value*> constant_values;
};

/// Values that rows bind together (cat, pooling, views) share the union of their ranges. What an
/// activation is fused into gets the activation's parameters.
ChosenParameters choose_parameters(const Graph& graph, const Observations& observations,
                                   Precision precision);

}  // namespace tosaic
