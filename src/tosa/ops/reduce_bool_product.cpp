// SPDX-License-Identifier: Apache-2.0
// REDUCE_ALL, REDUCE_ANY and REDUCE_PRODUCT.
#include <algorithm>
#include <vector>

#include "tosa/ops.h"
#include "tosa/ops/elements.h"
#include "tosa/ops/reduce.h"
#include "tosa/ops/signatures.h"

namespace tosaic::tosa {
namespace {

constexpr Signature kBoolSignatures[] = {{kIntOrFp, {DType::kBool}}};

/// Whether `wanted` is among the elements (any), or all of them are it.
Status reduce_truth(RefCall& call, bool is_all) {
  const AxisSplit split(call.in[0]->shape, call.get<AxisAttrs>().axis);
  const auto* in = call.in[0]->data<uint8_t>();
  auto* out = call.out[0].mutable_data<uint8_t>();
  for (int64_t o = 0; o < split.outer; ++o, out += split.inner) {
    std::fill_n(out, split.inner, static_cast<uint8_t>(is_all));
    for (int64_t k = 0; k < split.size; ++k, in += split.inner) {
      for (int64_t i = 0; i < split.inner; ++i) {
        const bool truth = in[i] != 0;
        out[i] = static_cast<uint8_t>(is_all ? out[i] != 0 && truth : out[i] != 0 || truth);
      }
    }
  }
  return ok();
}

/// In the order of the axis, rounded to the dtype after each product.
Status reduce_product_of(RefCall& call) {
  const AxisSplit split(call.in[0]->shape, call.get<AxisAttrs>().axis);
  return visit_float(call.node, call.in[0]->dtype, [&]<typename E>(E) {
    const auto* in = call.in[0]->data<typename E::Stored>();
    auto* out = call.out[0].mutable_data<typename E::Stored>();
    for (int64_t o = 0; o < split.outer; ++o, out += split.inner) {
      std::fill_n(out, split.inner, E::store(1.0f));
      for (int64_t k = 0; k < split.size; ++k, in += split.inner) {
        for (int64_t i = 0; i < split.inner; ++i)
          out[i] = E::store(E::load(out[i]) * E::load(in[i]));
      }
    }
  });
}

}  // namespace
}  // namespace tosaic::tosa

TOSAIC_TOSA_OP(reduce_all) = {
    .number = 49,
    .operands = kInput,
    .results = kOutput,
    .signatures = kBoolSignatures,
    .attrs = fields_of<AxisAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = [](InferCall& call) { return infer_reduce(call, call.get<AxisAttrs>().axis); },
    .reference = [](RefCall& call) { return reduce_truth(call, true); },
};

TOSAIC_TOSA_OP(reduce_any) = {
    .number = 50,
    .operands = kInput,
    .results = kOutput,
    .signatures = kBoolSignatures,
    .attrs = fields_of<AxisAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = [](InferCall& call) { return infer_reduce(call, call.get<AxisAttrs>().axis); },
    .reference = [](RefCall& call) { return reduce_truth(call, false); },
};

TOSAIC_TOSA_OP(reduce_product) = {
    .number = 53,
    .operands = kInput,
    .results = kOutput,
    .signatures = kFloatSignatures,
    .attrs = fields_of<AxisAttrs>(),
    .axis_rule = AxisRule::kAxisAttr,
    .infer = [](InferCall& call) { return infer_reduce(call, call.get<AxisAttrs>().axis); },
    .reference = reduce_product_of,
};
