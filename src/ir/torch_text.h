// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <string>

#include "ir/graph.h"

namespace tosaic {

/// A type by PyTorch's and NumPy's names, "float32[1,3,224,224]", for who writes arrays.
inline std::string torch_text(const TensorType& type) {
  return fmt::format("{}[{}]", torch_name(type.dtype),
                     fmt::join(type.shape.begin(), type.shape.end(), ","));
}

}  // namespace tosaic
