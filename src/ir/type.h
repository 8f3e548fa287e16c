// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ir/dtype.h"
#include "ir/shape.h"

namespace tosaic {

/// Affine quantisation: real = scale * (q - zero_point). Interned by Module::quant(), so equal
/// parameters have equal addresses.
struct Quant {
  std::span<const double> scales;        ///< one, or one per index along `axis`
  std::span<const int32_t> zero_points;  ///< as many as scales
  int axis = -1;                         ///< -1: per tensor
  int64_t qmin = 0;                      ///< least and greatest stored value
  int64_t qmax = 0;

  bool per_tensor() const { return axis < 0; }
  double scale() const { return scales[0]; }
  int32_t zero_point() const { return zero_points[0]; }
};

/// Type of a value: element type as stored, sizes, and what the stored integers mean.
struct TensorType {
  DType dtype = DType::kUnknown;
  Shape shape;
  const Quant* quant = nullptr;  ///< nullptr: the values stand for themselves

  bool operator==(const TensorType&) const = default;
};

/// "i8<0.1,0>[1,4,4,8]": the form of text IR (docs/ir.md). Per axis "i8<0.1,0;0.2,0:axis 0>[2,3]";
/// a range that is not the whole of the type's "i8<0.1,0:range -127,127>[4]".
std::string to_string(const TensorType& type);

}  // namespace tosaic
