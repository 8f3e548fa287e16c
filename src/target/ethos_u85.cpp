// SPDX-License-Identifier: Apache-2.0
#include "target/families.h"
#include "tosa/ops.h"

namespace tosaic {

// Vela takes the whole of PRO-INT at level 8K, with int16, int4, double rounding and control flow,
// except TRANSPOSE_CONV2D and CONV3D with weights or bias that are no constants.
std::optional<Reject> ethos_u85_rows(const Node& node, const Target& target) {
  if (!node.is(tosa::transpose_conv2d) && !node.is(tosa::conv3d)) return std::nullopt;
  if (node.operand(1)->is_constant() && node.operand(2)->is_constant()) return std::nullopt;
  return reject(Code::kRejectNotConstant, "{}: weights and bias must be constants on {}",
                node.full_name(), target.display_name);
}

}  // namespace tosaic
