// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>
#include <vector>

#include "aten/call.h"
#include "aten/row.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "quant/fold_qdq.h"

TOSAIC_USE_ATEN_OP(to);
TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic {
namespace {

using Reasons = std::unordered_map<const Node*, const Reject*>;

/// A node, and why the NPU leaves it, or the composite that it is a part of.
struct Work {
  Node* node;
  const Reject* left;
};

Diagnostic no_kernel(const Work& work, const Target& target, const Reject& because) {
  const std::string& why = because.why;
  Diagnostic d = error(Code::kNoCpuKernel, "{}: no ExecuTorch kernel computes it{}{}",
                       aten::shown_name(*work.node), why.empty() ? "" : ": ", why);
  d.where = resolve(work.node->loc());
  d.hint = "write it with operators that `tosaic ops` lists";
  if (work.node->is(aten::unknown)) d.hint = try_lower(*work.node, target)->hint;
  if (work.left == nullptr) return d;
  d.notes.push_back(fmt::format("and the NPU does not take it: {}", work.left->why));
  if (!because.hint.empty()) {
    d.hint = because.hint;
  } else if (!work.left->hint.empty()) {
    d.hint = work.left->hint;
  }
  return d;
}

bool has_kernel(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  return !row.cpu.empty() && (row.cpu_takes == nullptr || row.cpu_takes(aten::NodeCall(node).call));
}

/// ExecuTorch's kernel quantises by float64 scales and int64 zero points only, and aborts else.
void widen_parameters(Node& node) {
  const aten::NodeCall view(node);
  for (const Value* v : {view.call.tensor("scales"), view.call.tensor("zero_points")}) {
    if (v == nullptr || !v->is_constant()) continue;
    Graph& graph = node.graph();
    Module& module = graph.module();
    const Constant& given = *v->constant();
    const Constant& wide =
        is_float(v->dtype()) ? module.constant_floats(DType::kF64, v->shape(), float_values(given))
                             : module.constant_ints(DType::kI64, v->shape(), int_values(given));
    for (int i = 0; i < node.num_operands(); ++i) {
      if (node.operand(i) == v) graph.set_operand(node, i, &graph.add_constant(wide));
    }
  }
}

/// ExecuTorch's kernels read places as int64 only, where the program (behind Arm's passes) or a
/// partition has int32: what was narrowed is taken from before that, else it is widened.
void widen_places(Node& node) {
  const aten::NodeCall view(node);
  std::vector<const Value*> places;
  if (view.call.schema().find("index") != nullptr) places.push_back(view.call.tensor("index"));
  if (const aten::SchemaArg* arg = view.call.schema().find("indices"); arg != nullptr) {
    if (arg->kind == aten::ArgKind::kOptionalTensorList) {
      const auto list = view.call.tensors("indices");
      places.insert(places.end(), list.begin(), list.end());
    } else {
      places.push_back(view.call.tensor("indices"));
    }
  }
  Graph& graph = node.graph();
  for (int i = 0; i < node.num_operands(); ++i) {
    Value* v = node.operand(i);
    if (v == nullptr || v->dtype() != DType::kI32 || std::ranges::find(places, v) == places.end()) {
      continue;
    }
    if (v->is_constant()) {
      graph.set_operand(node, i,
                        &graph.add_constant(graph.module().constant_ints(
                            DType::kI64, v->shape(), int_values(*v->constant()))));
      continue;
    }
    const Node* def = v->def();
    const bool is_narrowed = def != nullptr && aten::is_aten(*def) && def->num_operands() == 1 &&
                             def->is(aten::to) && def->operand(0)->dtype() == DType::kI64;
    graph.set_operand(
        node, i,
        is_narrowed ? def->operand(0) : converted(graph, *v, DType::kI64, &node, node.loc()));
  }
}

}  // namespace

Status prepare_cpu(Graph& graph, const Target& target, std::span<const Placement> placements) {
  Reasons reasons;
  for (const Placement& p : placements) {
    if (p.reason && target.is_ethos_u()) reasons[p.node] = &*p.reason;
  }
  std::vector<Work> work;
  for (Node& node : graph.nodes()) {
    const auto reason = reasons.find(&node);
    work.push_back({&node, reason == reasons.end() ? nullptr : reason->second});
  }
  while (!work.empty()) {
    const Work next = work.back();
    Node* node = next.node;
    work.pop_back();
    if (!aten::is_aten(*node)) continue;
    const aten::Row& row = aten::row(node->op());
    const bool is_border = row.has(aten::Trait::kQuantize) || row.has(aten::Trait::kDequantize);
    if (is_border) {
      widen_parameters(*node);
    } else {
      TOSAIC_CHECK_OK(unfold(*node));
      if (!node->is_erased()) widen_places(*node);
    }
    if (node->is_erased() || has_kernel(*node)) continue;  // erased: unfold() replaced it
    Node* before = node->prev();
    Node* after = node->next();
    if (row.lower == nullptr) return no_kernel(next, target, Reject{});
    if (const auto reason = expand(*node)) return no_kernel(next, target, *reason);
    // The calls of the composite may be composites themselves.
    for (Node* n = before == nullptr ? graph.first() : before->next(); n != after; n = n->next()) {
      work.push_back({n, next.left});
    }
  }
  graph.erase_dead_nodes();
  graph.renumber();
  return ok();
}

}  // namespace tosaic
