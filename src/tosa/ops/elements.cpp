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

namespace {

/// Calls `fn` with the element type of a floating-point tensor narrower than f32.
template <typename Fn>
void visit_narrow(DType dtype, Fn&& fn) {
  switch (dtype) {
    case DType::kF16:
      return fn(F16Element{});
    case DType::kBF16:
      return fn(BF16Element{});
    case DType::kF8E4M3:
      return fn(Float8Element<numeric::kF8E4M3>{});
    case DType::kF8E5M2:
      return fn(Float8Element<numeric::kF8E5M2>{});
    default:
      TOSAIC_CHECK(false, "a tensor holds no narrow floats");
  }
}

}  // namespace

std::span<const float> as_floats(const HostTensor& tensor, std::vector<float>& buffer) {
  const auto count = static_cast<size_t>(tensor.shape.num_elements());
  if (tensor.dtype == DType::kF32) return {tensor.data<float>(), count};
  buffer.resize(count);
  visit_narrow(tensor.dtype, [&]<typename E>(E) {
    std::transform(tensor.data<typename E::Stored>(), tensor.data<typename E::Stored>() + count,
                   buffer.begin(), E::load);
  });
  return buffer;
}

void store_floats(HostTensor& tensor, int64_t offset, std::span<const float> values) {
  if (tensor.dtype == DType::kF32) {
    std::copy(values.begin(), values.end(), tensor.mutable_data<float>() + offset);
    return;
  }
  visit_narrow(tensor.dtype, [&]<typename E>(E) {
    std::transform(values.begin(), values.end(), tensor.mutable_data<typename E::Stored>() + offset,
                   E::store);
  });
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
