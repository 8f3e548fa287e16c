// SPDX-License-Identifier: Apache-2.0
// Unsigned inputs and outputs (`--io-dtype uint8`): int8 values at the borders become uint8 of the
// same real values, for cameras and for programs that came from uint8 frameworks.
//
//   graph @main(%x: i8<s,z>[8]) {          graph @main(%x: u8<s,z+128>[8]) {
//     %y: i8<s,z> = relu(%x)         =>      %a: i8<s,z> = tosaic.from_unsigned(%x)
//     return %y                              %y: i8<s,z> = relu(%a)
//   }                                        %b: u8<s,z+128> = tosaic.to_unsigned(%y)
//                                            return %b
//                                          }
//
// 16-bit values have no unsigned form that is of use; they and floats stay.
#include <unordered_map>
#include <vector>

#include "passes/passes.h"
#include "quant/qdq.h"

namespace tosaic {
namespace {

bool is_int8(const Value& v) {
  return v.dtype() == DType::kI8 && v.quant() != nullptr && v.quant()->per_tensor();
}

void unsign_input(Graph& graph, Value& input) {
  const TensorType type = input.type();
  std::vector<const Use*> uses;
  for (const Use* use = input.first_use(); use != nullptr; use = use->next())
    uses.push_back(use);
  input.set_type(unsigned_type(graph.module(), type));
  if (uses.empty()) return;
  Value& inner = insert_requantize(input, type, graph.first(), nullptr);
  for (const Use* use : uses)
    graph.set_operand(use->user(), use->index(), &inner);
}

}  // namespace

Status run_unsign_io(Graph& graph, PassContext& context) {
  for (Value* input : graph.inputs()) {
    if (!is_int8(*input)) continue;
    unsign_input(graph, *input);
    context.changed = true;
  }
  std::unordered_map<const Value*, Value*> made;
  std::vector<Value*> outputs = graph.outputs();
  for (Value*& output : outputs) {
    if (output == nullptr || !is_int8(*output)) continue;
    Value*& outer = made[output];
    if (outer == nullptr) {
      const Loc loc = output->def() == nullptr ? nullptr : output->def()->loc();
      outer =
          &insert_requantize(*output, unsigned_type(graph.module(), output->type()), nullptr, loc);
      outer->set_name(output->name());
    }
    output = outer;
    context.changed = true;
  }
  graph.set_outputs(outputs);
  return ok();
}

}  // namespace tosaic
