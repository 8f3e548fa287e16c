// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "aten/builder.h"

/// Elements by indices that are constants.
namespace tosaic::aten {

/// The numbers of a constant of indices, counted from 0 of an axis of `size`.
std::optional<Reject> read_indices(const Call& call, const Value& index, int64_t size,
                                   std::vector<int64_t>& indices);

/// Places in some neighbouring axes of a tensor, as places in one axis that is as long as all of
/// them.
struct Places {
  int first_axis = 0;
  Shape shape;   ///< what the lists of indices are broadcast to
  Shape merged;  ///< of the tensor with its indexed axes as one
  std::vector<int64_t> list;
};

/// The places that one constant of indices per axis names, as in x[:, i, j]; nullptr stands for an
/// axis that is taken whole.
std::optional<Reject> read_places(const Call& call, std::span<Value* const> lists,
                                  const Shape& shape, Places& places);

/// The places in a flat tensor of sizes `shape` that an index along `axis` names for each of its
/// elements, as gather and scatter have it.
std::optional<Reject> read_flat_places(const Call& call, int64_t axis, const Value& index,
                                       const Shape& shape, Places& places);

/// Elements of an axis: runs of neighbours by slices, many by GATHER where the target has one.
Value* call_take_any(Builder& b, Value* x, int axis, std::span<const int64_t> indices);

/// `x` with `values`, [.., places, ..], at places of an axis, under the parameters of `result`;
/// where a place is named twice, the last one.
Value* call_put(Builder& b, Value* x, Value* values, int axis, std::span<const int64_t> places,
                const TensorType& result);

bool has_repeats(std::span<const int64_t> places);

}  // namespace tosaic::aten
