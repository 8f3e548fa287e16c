// SPDX-License-Identifier: Apache-2.0
// Integer inputs and outputs: the quantize and dequantize nodes at the borders go away, and whoever
// runs the program converts (IO quantisation, docs/quantisation.md).
//
//   graph @main(%x: f32[8]) {              graph @main(%x: i8<s,z>[8]) {
//     %q: i8<s,z>[8] = quantize(%x)    =>    …
//     …                                      return %y
//     %r: f32[8] = dequantize(%y)          }
//     return %r
//   }
//
// An input that something else reads as a float stays float, and so does an output that is computed
// in float.
#include <vector>

#include "passes/passes.h"
#include "quant/qdq.h"

namespace tosaic {
namespace {

/// The type that all uses of a float input quantise it to.
Expected<TensorType> wanted_type(const Value& input) {
  TensorType type;
  for (const Use* use = input.first_use(); use != nullptr; use = use->next()) {
    if (!is_quantize(use->user()) || use->index() != 0) return TensorType{};
    TOSAIC_TRY(const TensorType wanted, quantised_type_of(use->user()));
    if (type.quant != nullptr && type != wanted) return TensorType{};
    type = wanted;
  }
  return type;
}

Status quantise_input(Graph& graph, Value& input, PassContext& context) {
  if (!is_float(input.dtype())) return ok();
  TOSAIC_TRY(const TensorType type, wanted_type(input));
  if (type.quant == nullptr || !type.quant->per_tensor()) return ok();
  std::vector<Node*> nodes;
  for (Use* use = input.first_use(); use != nullptr; use = use->next()) {
    nodes.push_back(&use->user());
  }
  input.set_type(type);
  for (Node* node : nodes) {
    graph.replace_all_uses(node->result(), input);
    graph.erase(*node);
  }
  context.changed = true;
  return ok();
}

Status quantise_output(Graph& graph, int index, PassContext& context) {
  Value* output = graph.output(index);
  Node* node = output == nullptr ? nullptr : output->def();
  if (node == nullptr || !is_dequantize(*node)) return ok();
  TOSAIC_TRY(const TensorType type, quantised_type_of(*node));
  Value* quantised = node->operand(0);
  if (!type.quant->per_tensor() || !same_parameters(quantised->type(), type)) return ok();
  graph.set_operand(graph.return_node(), index, quantised);
  if (!output->has_uses()) graph.erase(*node);
  context.changed = true;
  return ok();
}

}  // namespace

Status run_quantise_io(Graph& graph, PassContext& context) {
  for (Value* input : graph.inputs())
    TOSAIC_CHECK_OK(quantise_input(graph, *input, context));
  for (int i = 0; i < graph.num_outputs(); ++i) {
    TOSAIC_CHECK_OK(quantise_output(graph, i, context));
  }
  return ok();
}

}  // namespace tosaic
