// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "ir/type.h"

namespace tosaic {

/// One step still to be done on a float constant when its bytes are written: multiply along an
/// axis, then quantise. Both parts are optional.
struct ConstantStage {
  int axis = -1;                   ///< of `scales` (in the view's axes)
  std::span<const double> scales;  ///< empty: no multiplication
  const Quant* quant = nullptr;    ///< nullptr: stays float; its axis is in the view's axes
};

/// Immutable tensor data: a strided view of bytes that somebody keeps alive (a mapped file, the
/// module's arena), with at most one pending stage. Weights are never copied before they are
/// written: a permuted or sliced weight is another view of the same bytes.
struct Constant {
  DType dtype = DType::kUnknown;         ///< after the stage
  DType stored_dtype = DType::kUnknown;  ///< of the bytes; equals dtype when there is no stage
  Shape shape;
  std::array<int64_t, kMaxRank> strides{};  ///< in elements; 0 repeats
  const std::byte* data = nullptr;  ///< of element [0,…,0]; elements as element_bytes says
  const ConstantStage* stage = nullptr;

  /// Elements lie in C order without gaps, and nothing is pending: `data` can be used as it is.
  bool is_plain() const;
  size_t num_bytes() const;  ///< element_bytes(dtype) * elements
  /// Bytes when is_plain().
  std::span<const std::byte> plain_bytes() const;
  /// Writes num_bytes() bytes in C order, with the stage applied.
  void materialise(std::span<std::byte> out) const;
  /// A 64-bit hash of type, sizes and content after the stage (not of quantisation parameters).
  uint64_t content_hash() const;
  /// Same type, sizes and content.
  bool equals(const Constant& other) const;
};

/// C-order strides of a shape.
std::array<int64_t, kMaxRank> contiguous_strides(const Shape& shape);

}  // namespace tosaic
