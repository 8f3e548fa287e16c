// SPDX-License-Identifier: Apache-2.0
// Functions of one real number, computed in double and rounded once: the specification gives error
// bounds, and this is as near as it gets.
#include <cmath>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

template <typename Fn>
Status compute(RefCall& call, Fn fn) {
  return visit_float(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    map_elements<E, E>(call, [fn](float x) { return static_cast<float>(fn(double{x})); });
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(sigmoid) = {
    .number = 13,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference =
        [](RefCall& call) {
          return compute(call, [](double x) { return 1 / (1 + std::exp(-x)); });
        },
};

TOSAIC_TOSA_OP(tanh) = {
    .number = 14,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::tanh(x); }); },
};

TOSAIC_TOSA_OP(exp) = {
    .number = 37,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::exp(x); }); },
};

TOSAIC_TOSA_OP(reciprocal) = {
    .number = 42,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return 1 / x; }); },
};

TOSAIC_TOSA_OP(rsqrt) = {
    .number = 43,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference =
        [](RefCall& call) { return compute(call, [](double x) { return 1 / std::sqrt(x); }); },
};

TOSAIC_TOSA_OP(erf) = {
    .number = 12,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::erf(x); }); },
};

TOSAIC_TOSA_OP(ceil) = {
    .number = 34,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::ceil(x); }); },
};

TOSAIC_TOSA_OP(cos) = {
    .number = 36,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::cos(x); }); },
};

TOSAIC_TOSA_OP(floor) = {
    .number = 38,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference =
        [](RefCall& call) { return compute(call, [](double x) { return std::floor(x); }); },
};

TOSAIC_TOSA_OP(log) = {
    .number = 39,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::log(x); }); },
};

TOSAIC_TOSA_OP(sin) = {
    .number = 44,
    .operands = kInput1,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<NoAttrs>(),
    .axis_rule = AxisRule::kElementwise,
    .infer = infer_same,
    .reference = [](RefCall& call) { return compute(call, [](double x) { return std::sin(x); }); },
};
