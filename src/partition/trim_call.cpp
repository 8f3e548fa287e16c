// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "partition/partition.h"
#include "tosa/reference.h"

// A call of a partition passes what its graph reads and takes what somebody needs, no more: Vela
// drops inputs that nothing reads, and the runtime counts on the arguments that its payload has.

namespace tosaic {
namespace {

/// The call with some of its operands and results, in its place.
Node& rebuilt(Node& call, std::span<Value* const> operands, std::span<const int> results,
              const MovedValue& moved) {
  Graph& graph = call.graph();
  std::vector<TensorType> types;
  for (int i : results)
    types.push_back(call.result(i).type());
  Node& made = graph.insert({.op = &call.op(),
                             .variant = call.variant(),
                             .operands = operands,
                             .segments = {},
                             .results = types,
                             .attrs = call.attrs(),
                             .loc = call.loc()},
                            &call);
  for (int i = 0; i < made.num_results(); ++i) {
    Value& from = call.result(results[static_cast<size_t>(i)]);
    made.result(i).set_name(from.name());
    graph.replace_all_uses(from, made.result(i));
    if (moved) moved(from, made.result(i));
  }
  graph.erase(call);
  return made;
}

/// Computes a graph without inputs, whose results then stand for those of the call.
Expected<bool> fold_call(Node& call, const Graph& callee, const MovedValue& moved) {
  Graph& graph = call.graph();
  tosa::Reference reference(callee);
  TOSAIC_TRY(const std::vector<tosa::HostTensor> outputs, reference.run({}));
  for (int i = 0; i < call.num_results(); ++i) {
    const Value& result = call.result(i);
    const tosa::HostTensor& output = outputs[static_cast<size_t>(i)];
    if (output.dtype != result.dtype() || output.shape != result.shape()) return false;
  }
  for (int i = 0; i < call.num_results(); ++i) {
    Value& result = call.result(i);
    const Constant& constant = graph.module().constant(result.dtype(), result.shape(),
                                                       outputs[static_cast<size_t>(i)].bytes);
    Value& value = graph.add_constant(constant, result.type(), result.name());
    graph.replace_all_uses(result, value);
    if (moved) moved(result, value);
  }
  graph.erase(call);
  return true;
}

}  // namespace

Node& drop_unread_results(Node& call, Graph& callee, const MovedValue& moved) {
  std::vector<int> read;
  std::vector<Value*> outputs;
  for (int i = 0; i < call.num_results(); ++i) {
    if (!call.result(i).has_uses()) continue;
    read.push_back(i);
    outputs.push_back(callee.output(i));
  }
  if (static_cast<int>(read.size()) == call.num_results()) return call;
  callee.set_outputs(outputs);
  callee.erase_dead_nodes();
  std::vector<Value*> operands;
  for (const Use& use : call.operands())
    operands.push_back(use.value());
  return rebuilt(call, operands, read, moved);
}

Status drop_unread_inputs(Node& call, Graph& callee, const MovedValue& moved) {
  std::vector<Value*> operands;
  for (const Use& use : call.operands())
    operands.push_back(use.value());
  for (int i = call.num_operands() - 1; i >= 0; --i) {
    if (callee.inputs()[static_cast<size_t>(i)]->has_uses()) continue;
    callee.erase_input(i);
    operands.erase(operands.begin() + i);
  }
  if (operands.empty()) {
    TOSAIC_TRY(const bool folded, fold_call(call, callee, moved));
    if (folded) return ok();
  }
  if (static_cast<int>(operands.size()) == call.num_operands()) return ok();
  std::vector<int> all;
  for (int i = 0; i < call.num_results(); ++i)
    all.push_back(i);
  rebuilt(call, operands, all, moved);
  return ok();
}

}  // namespace tosaic
