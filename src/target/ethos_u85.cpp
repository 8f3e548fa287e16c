// SPDX-License-Identifier: Apache-2.0
#include "target/families.h"

namespace tosaic {

// Vela takes the whole of PRO-INT at level 8K, with int16, int4, double rounding and control flow,
// except TRANSPOSE_CONV2D and CONV3D with weights or bias that are no constants. No operation we
// emit today is among them.
std::optional<Reject> ethos_u85_rows(const Node&, const Target&) {
  return std::nullopt;
}

}  // namespace tosaic
