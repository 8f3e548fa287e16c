// SPDX-License-Identifier: Apache-2.0
// The way back for nodes that stay on the CPU, whose kernels compute in float:
//
//   %y: i8<s,z> = aten.softmax.int(%x)     =>     %d: f32 = dequantize(%x)
//                                                 %r: f32 = aten.softmax.int(%d)
//                                                 %y: i8<s,z> = quantize(%r)
//
// The result is what the program said before folding, bit for bit.
#include <algorithm>
#include <utility>
#include <vector>

#include "ir/verify.h"
#include "quant/fold_qdq.h"
#include "quant/qdq.h"

namespace tosaic {
namespace {

bool is_quantised(const Node& node) {
  const auto has_quant = [](const Value* value) {
    return value != nullptr && value->quant() != nullptr;
  };
  return std::ranges::any_of(node.operands(),
                             [&](const Use& use) { return has_quant(use.value()); }) ||
         std::ranges::any_of(node.results(), [&](const Value& v) { return has_quant(&v); });
}

Status check_per_tensor(const Node& node, const Value& value) {
  if (value.quant()->per_tensor()) return ok();
  return node_error(Code::kNoCpuKernel, node,
                    "a value that is quantised per channel has no kernel on the CPU: {}",
                    to_string(value.type()));
}

/// Floats instead of quantised operands, one dequantize node for each distinct value.
Status unfold_operands(Node& node) {
  Graph& graph = node.graph();
  std::vector<std::pair<Value*, Value*>> made;
  for (int i = 0; i < node.num_operands(); ++i) {
    Value* value = node.operand(i);
    if (value == nullptr || value->quant() == nullptr) continue;
    const auto known = std::ranges::find(made, value, &std::pair<Value*, Value*>::first);
    Value* real = known == made.end() ? nullptr : known->second;
    if (real == nullptr) {
      if (!value->is_constant()) TOSAIC_CHECK_OK(check_per_tensor(node, *value));
      real = value->is_constant() ? &dequantised_constant(*value)
                                  : &insert_dequantize(*value, &node, node.loc());
      made.emplace_back(value, real);
    }
    graph.set_operand(node, i, real);
  }
  return ok();
}

/// Float results, and quantize nodes whose results take over name and uses.
Status unfold_results(Node& node) {
  Graph& graph = node.graph();
  for (Value& result : node.results()) {
    if (result.quant() == nullptr) continue;
    TOSAIC_CHECK_OK(check_per_tensor(node, result));
    const TensorType type = result.type();
    std::vector<const Use*> uses;
    for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
      uses.push_back(use);
    }
    result.set_type({DType::kF32, type.shape, nullptr});
    if (uses.empty()) continue;
    Value& quantised = insert_quantize(result, type, node.next(), node.loc());
    quantised.set_name(result.name());
    result.set_name({});
    for (const Use* use : uses)
      graph.set_operand(use->user(), use->index(), &quantised);
  }
  return ok();
}

}  // namespace

Status unfold(Node& node) {
  if (!is_quantised(node) || is_quantize(node) || is_dequantize(node)) return ok();
  if (node.full_name().starts_with("tosaic.")) {  // the same real numbers in other integers
    Graph& graph = node.graph();
    Value& operand = *node.operand(0);
    Value& result = node.result();
    TOSAIC_CHECK_OK(check_per_tensor(node, operand));
    TOSAIC_CHECK_OK(check_per_tensor(node, result));
    Value& real = insert_dequantize(operand, &node, node.loc());
    Value& quantised = insert_quantize(real, result.type(), &node, node.loc());
    quantised.set_name(result.name());
    graph.replace_all_uses(result, quantised);
    graph.erase(node);
    return ok();
  }
  TOSAIC_CHECK_OK(unfold_operands(node));
  return unfold_results(node);
}

}  // namespace tosaic
