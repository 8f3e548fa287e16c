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

namespace tosaic {
namespace {

using aten::Trait;

/// Rows that take the integers as they are, or as codes.
bool reads_as_they_are(const aten::Row& row) {
  return row.has(Trait::kView) || row.has(Trait::kQuantize) || row.has(Trait::kDequantize);
}

Value& widened(Graph& graph, Value& operand, DType dtype, Node& before) {
  const OpVariant op = find_op("tosaic.widen_unsigned.default");
  const TensorType result{dtype, operand.shape(), nullptr};
  Value* operands[] = {&operand};
  return graph
      .insert({.op = op.op,
               .variant = op.variant,
               .operands = operands,
               .segments = {},
               .results = std::span(&result, 1),
               .loc = before.loc()},
              &before)
      .result();
}

}  // namespace

Status run_widen_unsigned(Graph& graph, PassContext& context) {
  const OpVariant op = find_op("tosaic.widen_unsigned.default");
  for (Node& node : graph.nodes()) {
    if (!aten::is_aten(node) || node.is(*op.op) || node.num_results() == 0) continue;
    if (reads_as_they_are(aten::row(node.op()))) continue;
    const DType dtype = node.result().dtype();
    if (!is_float(dtype) && dtype != DType::kI32) continue;
    const bool converts = node.is(*find_op("aten.to.dtype").op);
    for (int i = 0; i < node.num_operands(); ++i) {
      Value* operand = node.operand(i);
      if (operand == nullptr || !aten::is_held_as_signed(operand->dtype()) ||
          operand->quant() != nullptr) {
        continue;
      }
      Value& wide = widened(graph, *operand, dtype, node);
      context.changed = true;
      if (converts) {
        wide.set_name(node.result().name());
        graph.replace_all_uses(node.result(), wide);
        graph.erase(node);
        break;
      }
      graph.set_operand(node, i, &wide);
    }
  }
  return ok();
}

}  // namespace tosaic
