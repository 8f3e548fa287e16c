// SPDX-License-Identifier: Apache-2.0
#include "ir/type.h"

#include <fmt/format.h>

#include <iterator>

namespace tosaic {
namespace {

/// What an `i8<0.1,0>` without a range means: the whole range of the type.
bool has_full_range(const Quant& quant, DType dtype) {
  return is_integer(dtype) && dtype != DType::kU64 && quant.qmin == integer_min(dtype) &&
         quant.qmax == integer_max(dtype);
}

}  // namespace

std::string to_string(const TensorType& type) {
  fmt::memory_buffer out;
  auto end = std::back_inserter(out);
  fmt::format_to(end, "{}", dtype_name(type.dtype));
  if (const Quant* quant = type.quant) {
    out.push_back('<');
    if (!quant->per_tensor()) fmt::format_to(end, "axis {}: ", quant->axis);
    for (size_t i = 0; i < quant->scales.size(); ++i) {
      if (i > 0) out.append(std::string_view("; "));
      fmt::format_to(end, "{}", quant->scales[i]);
      // A zero point that is left out is the one before it.
      if (i == 0 || quant->zero_points[i] != quant->zero_points[i - 1]) {
        fmt::format_to(end, ",{}", quant->zero_points[i]);
      }
      if (i == 0 && !has_full_range(*quant, type.dtype)) {
        fmt::format_to(end, ",{}..{}", quant->qmin, quant->qmax);
      }
    }
    out.push_back('>');
  }
  return fmt::to_string(out) + to_string(type.shape);
}

}  // namespace tosaic
