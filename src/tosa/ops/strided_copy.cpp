// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops/strided_copy.h"

#include <cstring>

namespace tosaic::tosa {
namespace {

using Axis = StridedCopy::Axis;

/// Copies along `axis` and the `inner_axes` behind it.
template <typename T>
void copy_axis(const Axis* axis, size_t inner_axes, const T* from, T* to) {
  if (inner_axes == 0) {
    if (axis->from == 1 && axis->to == 1) {
      std::memcpy(to, from, static_cast<size_t>(axis->size) * sizeof(T));
      return;
    }
    for (int64_t i = 0; i < axis->size; ++i)
      to[i * axis->to] = from[i * axis->from];
    return;
  }
  for (int64_t i = 0; i < axis->size; ++i)
    copy_axis(axis + 1, inner_axes - 1, from + i * axis->from, to + i * axis->to);
}

/// Axes of more than one element, neighbours merged where both strides allow it. At least one.
StridedCopy merge(const StridedCopy& copy) {
  StridedCopy merged;
  merged.element_bytes = copy.element_bytes;
  for (size_t i = 0; i < copy.rank; ++i) {
    const Axis& axis = copy.axes[i];
    if (axis.size == 1) continue;
    Axis* last = merged.rank == 0 ? nullptr : &merged.axes[merged.rank - 1];
    if (last != nullptr && last->from == axis.from * axis.size && last->to == axis.to * axis.size) {
      *last = {last->size * axis.size, axis.from, axis.to};
    } else {
      merged.add_axis(axis.size, axis.from, axis.to);
    }
  }
  if (merged.rank == 0) merged.add_axis(1, 1, 1);
  return merged;
}

template <typename T>
void run_as(const StridedCopy& copy, const std::byte* from, std::byte* to) {
  copy_axis<T>(copy.axes.data(), copy.rank - 1, reinterpret_cast<const T*>(from),
               reinterpret_cast<T*>(to));
}

}  // namespace

void StridedCopy::run(const std::byte* from, std::byte* to) const {
  const StridedCopy merged = merge(*this);
  switch (element_bytes) {
    case 1:
      return run_as<uint8_t>(merged, from, to);
    case 2:
      return run_as<uint16_t>(merged, from, to);
    case 4:
      return run_as<uint32_t>(merged, from, to);
    default:
      return run_as<uint64_t>(merged, from, to);
  }
}

}  // namespace tosaic::tosa
