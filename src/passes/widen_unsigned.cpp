// SPDX-License-Identifier: Apache-2.0
// Makes the conversion of unsigned integers to floats and to int32 a node of its own, since a TOSA
// tensor holds their bits as signed ones, which CAST would read as such:
//
//   %y: f32[4] = aten.div.Scalar(%x) {other = 255.0}
// =>
//   %a: f32[4] = tosaic.widen_unsigned.default(%x)
//   %y: f32[4] = aten.div.Scalar(%a) {other = 255.0}
//
// PyTorch converts the operands of such an operator to the type of its result first. A node with
// another result (a comparison) stays as it is, and the target refuses it.
#include "aten/call.h"
#include "aten/unsigned.h"
#include "passes/passes.h"

TOSAIC_USE_ATEN_OP(to);
TOSAIC_USE_ATEN_OP(widen_unsigned);

namespace tosaic {
namespace {

Value& widened(Graph& graph, Value& operand, DType dtype, Node& before) {
  const TensorType result{dtype, operand.shape(), nullptr};
  Value* operands[] = {&operand};
  return graph
      .insert({.op = &aten::widen_unsigned,
               .variant = 0,
               .operands = operands,
               .segments = {},
               .results = std::span(&result, 1),
               .loc = before.loc()},
              &before)
      .result();
}

bool is_unsigned_number(const Value* v) {
  return v != nullptr && aten::is_held_as_signed(v->dtype()) && v->quant() == nullptr;
}

/// A node that computes in the type of its result, which is another than that of its operands.
bool promotes(const Node& node) {
  if (!aten::is_aten(node) || node.is(aten::widen_unsigned) || node.num_results() == 0) {
    return false;
  }
  const DType dtype = node.result().dtype();
  return (is_float(dtype) || dtype == DType::kI32) &&
         !aten::takes_held_as_signed(aten::row(node.op()));
}

}  // namespace

Status run_widen_unsigned(Graph& graph, PassContext& context) {
  for (Node& node : graph.nodes()) {
    if (!promotes(node)) continue;
    const bool converts = node.is(aten::to);
    for (int i = 0; i < node.num_operands(); ++i) {
      if (!is_unsigned_number(node.operand(i))) continue;
      Value& wide = widened(graph, *node.operand(i), node.result().dtype(), node);
      context.changed = true;
      if (!converts) {
        graph.set_operand(node, i, &wide);
        continue;
      }
      wide.set_name(node.result().name());
      graph.replace_all_uses(node.result(), wide);
      graph.erase(node);
      break;
    }
  }
  return ok();
}

}  // namespace tosaic
