// SPDX-License-Identifier: Apache-2.0
#include "tosa/ops/elements.h"

#include <algorithm>

#include "ir/verify.h"
#include "support/check.h"

namespace tosaic::tosa {

Diagnostic no_reference(const Node& node, DType dtype) {
  return node_error(Code::kUnsupportedFeature, node, "{} cannot be computed on the host",
                    dtype_name(dtype));
}

std::span<const float> as_floats(const HostTensor& tensor, std::vector<float>& buffer) {
  const auto count = static_cast<size_t>(tensor.shape.num_elements());
  if (tensor.dtype == DType::kF32) return {tensor.data<float>(), count};
  buffer.resize(count);
  const auto* stored = tensor.data<uint16_t>();
  const bool is_f16 = tensor.dtype == DType::kF16;
  for (size_t i = 0; i < count; ++i)
    buffer[i] = is_f16 ? F16Element::load(stored[i]) : BF16Element::load(stored[i]);
  return buffer;
}

void store_floats(HostTensor& tensor, int64_t offset, std::span<const float> values) {
  if (tensor.dtype == DType::kF32) {
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>() + offset);
    return;
  }
  auto* stored = tensor.mutable_data<uint16_t>() + offset;
  const bool is_f16 = tensor.dtype == DType::kF16;
  for (size_t i = 0; i < values.size(); ++i)
    stored[i] = is_f16 ? F16Element::store(values[i]) : BF16Element::store(values[i]);
}

int32_t zero_point_of(const HostTensor& tensor) {
  return tensor.dtype == DType::kI8 ? *tensor.data<int8_t>() : 0;
}

AxisSplit::AxisSplit(const Shape& shape, int64_t axis) {
  TOSAIC_CHECK(axis >= 0 && axis < shape.rank(), "an axis is outside of a shape");
  for (int i = 0; i < shape.rank(); ++i)
    (i < axis ? outer : (i == axis ? size : inner)) *= shape[i];
}

}  // namespace tosaic::tosa
