// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

/// Computed in double and rounded once, as the functions of one number are.
Status reference(RefCall& call) {
  return visit_float(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    map_pairs<E, E>(call, [](float base, float exponent) {
      return static_cast<float>(std::pow(double{base}, double{exponent}));
    });
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(pow) = {
    .number = 29,
    .operands = kInput1And2,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .num_data = 2,
    .infer = infer_broadcast,
    .reference = reference,
};
