// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <unordered_map>

#include "aten/builder.h"
#include "aten/unsigned.h"
#include "ir/effects.h"
#include "partition/partition.h"

// Where each node of a program runs.
//
// A node is taken when its row's own lowering succeeds for the target: there is no second list of
// what is supported. Taken nodes are then given stages:
//
//   stage of a taken node     = greatest stage among its operands
//   stage after a CPU node    = greatest among its operands, where a result of stage k counts k + 1
//
// and the taken nodes of one stage are one partition. A partition of stage k depends only on CPU
// nodes that depend on partitions before k, so there are no cycles, and no cut of the graph at its
// CPU nodes gives fewer stages.

TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic {
namespace {

bool is_border(const Node& node) {
  return aten::is_aten(node) && (aten::row(node.op()).has(aten::Trait::kQuantize) ||
                                 aten::row(node.op()).has(aten::Trait::kDequantize));
}

/// Computes nothing: a partition of only such nodes is not worth a call.
bool is_no_op(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  return row.has(aten::Trait::kNoOp) || row.has(aten::Trait::kView);
}

class Stages {
 public:
  explicit Stages(const Module& module) : effects_(module) {}
  /// Stage at which a value can be used: by taken nodes, and by CPU nodes.
  int for_target(const Value& v) const {
    const auto it = after_cpu_.find(&v);
    if (it != after_cpu_.end()) return it->second;
    const auto on = on_target_.find(&v);
    return on == on_target_.end() ? 0 : on->second;
  }
  int for_cpu(const Value& v) const {
    const auto on = on_target_.find(&v);
    return on == on_target_.end() ? for_target(v) : on->second + 1;
  }
  void assign(Placement& p) {
    int stage = 0;
    for (const Use& use : p.node->operands()) {
      if (use.value() == nullptr) continue;
      stage = std::max(stage, p.on_target ? for_target(*use.value()) : for_cpu(*use.value()));
    }
    // Nodes with effects, which no target takes, run in their order: none before the stage of
    // another that stands before it.
    if (!effects_.is_pure(*p.node)) stage = effect_stage_ = std::max(stage, effect_stage_);
    p.partition = p.on_target ? stage : -1;
    for (Value& v : p.node->results())
      (p.on_target ? on_target_ : after_cpu_)[&v] = stage;
  }

 private:
  std::unordered_map<const Value*, int> on_target_;
  std::unordered_map<const Value*, int> after_cpu_;
  Effects effects_;
  int effect_stage_ = 0;
};

int assign_stages(std::vector<Placement>& placements) {
  if (placements.empty()) return 0;
  Stages stages(placements.front().node->graph().module());
  int num = 0;
  for (Placement& p : placements) {
    stages.assign(p);
    num = std::max(num, p.partition + 1);
  }
  return num;
}

/// Sends partitions of nothing but no-ops to the CPU. True when there were any.
bool dissolve(std::vector<Placement>& placements, int num_stages) {
  std::vector<bool> works(static_cast<size_t>(num_stages), false);
  for (const Placement& p : placements) {
    if (p.on_target && !is_no_op(*p.node)) works[static_cast<size_t>(p.partition)] = true;
  }
  bool changed = false;
  for (Placement& p : placements) {
    if (!p.on_target || works[static_cast<size_t>(p.partition)]) continue;
    p.on_target = false;
    p.reason = reject(Code::kRejectNothingToDo,
                      "its partition would hold nothing but nodes that move data");
    changed = true;
  }
  return changed;
}

/// Stages may be empty after a dissolution; partitions are numbered without gaps.
void renumber_partitions(std::vector<Placement>& placements, int num_stages) {
  std::vector<int> number(static_cast<size_t>(num_stages), -1);
  for (const Placement& p : placements) {
    if (p.on_target) number[static_cast<size_t>(p.partition)] = 0;
  }
  int next = 0;
  for (int& n : number) {
    if (n == 0) n = next++;
  }
  for (Placement& p : placements) {
    if (p.on_target) p.partition = number[static_cast<size_t>(p.partition)];
  }
}

Reject no_row(const Node& node) {
  const auto name = aten::shown_name(node);
  if (!name.starts_with("higher_order.")) {
    Reject r = reject(Code::kRejectNoRow, "{}: no operator row serves it", name);
    r.hint = "write it with operators that `tosaic ops` lists, which run_decompositions() may do";
    return r;
  }
  Reject r = reject(Code::kRejectNoRow,
                    "{}: no operator row serves it; graphs that are chosen or repeated while the "
                    "program runs are not lowered",
                    name);
  r.hint = "decide before the export, or compute both sides and choose by torch.where";
  return r;
}

/// TOSA has no float64. Constants of it a row may convert.
std::optional<Reject> has_float64(const Node& node) {
  const auto is_double = [](const Value* v) {
    return v != nullptr && !v->is_constant() && v->dtype() == DType::kF64;
  };
  const bool reads =
      std::ranges::any_of(node.operands(), [&](const Use& use) { return is_double(use.value()); });
  if (!reads && std::ranges::none_of(node.results(), [&](const Value& v) { return is_double(&v); }))
    return std::nullopt;
  Reject r = reject(Code::kRejectDtype, "{}: it computes in float64, which TOSA lacks",
                    aten::shown_name(node));
  r.hint = "convert model and inputs with .float() before the export";
  return r;
}

/// Only rows of indices may find int32 where the program has int64.
std::optional<Reject> reads_64_bits(const Node& node) {
  if (aten::row(node.op()).has(aten::Trait::kIndices)) return std::nullopt;
  for (const Use& use : node.operands()) {
    const Value* v = use.value();
    if (v == nullptr || v->is_constant() || v->dtype() != DType::kI64) continue;
    return reject(Code::kRejectDtype, "{}: it reads {}; TOSA has no 64-bit integers",
                  node.full_name(), to_string(v->type()));
  }
  return std::nullopt;
}

/// A TOSA tensor holds unsigned integers as signed ones of the same bits: what moves them may find
/// these, and rows that say so.
std::optional<Reject> reads_unsigned(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  if (aten::takes_held_as_signed(row) || node.full_name().starts_with("tosaic.")) {
    return std::nullopt;
  }
  const bool keeps = row.has(aten::Trait::kNoOp) && aten::is_held_as_signed(node.result().dtype());
  for (const Use& use : node.operands()) {
    const Value* v = use.value();
    if (v == nullptr || keeps || !aten::is_held_as_signed(v->dtype())) continue;
    Reject r = reject(Code::kRejectDtype, "{}: it reads {}; TOSA computes with signed integers",
                      node.full_name(), to_string(v->type()));
    r.hint = "convert it to a float or to int32 first";
    return r;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Reject> try_lower(const Node& node, const Target& target, Int64 int64) {
  if (!aten::is_aten(node)) {
    return reject(Code::kRejectNoRow, "{} is no operator of PyTorch", node.full_name());
  }
  if (node.is(aten::unknown)) {
    return no_row(node);
  }
  for (const Value& v : node.results()) {
    if (!v.shape().is_static()) {
      Reject r = reject(Code::kRejectShape, "{}: result {} has a symbolic size", node.full_name(),
                        to_string(v.type()));
      r.hint = "give the shapes of the program's inputs: --shape INPUT=SIZE,SIZE,…";
      return r;
    }
  }
  if (auto reason = has_float64(node)) return reason;
  if (int64 == Int64::kRefused) {
    if (auto reason = reads_64_bits(node)) return reason;
  }
  if (auto reason = reads_unsigned(node)) return reason;
  Graph scratch(node.graph().module(), "scratch", Dialect::kTosa);
  std::vector<Value*> operands;
  for (const Use& use : node.operands()) {
    Value* v = use.value();
    if (v == nullptr) {
      operands.push_back(nullptr);
    } else if (v->is_constant()) {
      operands.push_back(&add_held_constant(scratch, *v, int64));
    } else {
      operands.push_back(&scratch.add_input(aten::held_at_run_time(v->type()), v->name()));
    }
  }
  std::vector<TensorType> results;
  for (const Value& v : node.results())
    results.push_back(int64 == Int64::kAsInt32 ? aten::held_at_run_time(v.type()) : v.type());
  const aten::Call call(node.op(), node.variant(), operands, node.segments(), node.attrs(), results,
                        node.loc());
  aten::Builder b(scratch, target, aten::Builder::Mode::kLower, node.loc());
  const aten::Lowered lowered = aten::lower(call, b);
  if (!lowered.ok()) {
    Reject reason = lowered.reason();
    // It may be a call of this node's row that has none.
    if (reason.code == Code::kRejectNoLowering && !reason.why.starts_with(node.full_name())) {
      reason.why = fmt::format("{}: {}", node.full_name(), reason.why);
    }
    return reason;
  }
  return missing_result(node, lowered);
}

Value& add_held_constant(Graph& to, const Value& v, Int64 int64) {
  Module& module = to.module();
  if (int64 == Int64::kAsInt32 && v.dtype() == DType::kI64) {
    const std::vector<int64_t> values = int_values(*v.constant());
    const auto fits = [](int64_t i) { return i == static_cast<int32_t>(i); };
    if (std::ranges::all_of(values, fits)) {
      return to.add_constant(module.constant_ints(DType::kI32, v.shape(), values),
                             aten::held_at_run_time(v.type()), v.name());
    }
  }
  return to.add_constant(aten::held_constant(module, v), aten::held_as(v.type()), v.name());
}

std::optional<Reject> missing_result(const Node& node, const aten::Lowered& lowered) {
  for (int i = 0; i < node.num_results(); ++i) {
    if (lowered.values()[static_cast<size_t>(i)] != nullptr || !node.result(i).has_uses()) continue;
    return reject(Code::kRejectNoLowering, "{}: its result {} is used, which TOSA cannot compute",
                  node.full_name(), i);
  }
  return std::nullopt;
}

std::unordered_map<const Node*, Reject> without_form(const Graph& graph, const Target& target,
                                                     Int64 int64) {
  std::unordered_map<const Node*, Reject> found;
  for (const Node& node : graph.nodes()) {
    const Use* missing = nullptr;
    for (const Use& use : node.operands()) {
      if (use.value() != nullptr && found.contains(use.value()->def())) missing = &use;
    }
    if (missing != nullptr) {
      found.emplace(&node,
                    reject(Code::kRejectNotQuantised,
                           "{}: it reads what {} makes, whose values are not known",
                           aten::shown_name(node), aten::shown_name(*missing->value()->def())));
    } else if (auto reason = try_lower(node, target, int64)) {
      found.emplace(&node, *std::move(reason));
    }
  }
  return found;
}

std::vector<Placement> place(Graph& graph, const Target& target,
                             const std::unordered_map<const Node*, Reject>& evicted) {
  std::vector<Placement> placements;
  placements.reserve(graph.num_nodes());
  for (Node& node : graph.nodes()) {
    Placement p{.node = &node};
    if (const auto it = evicted.find(&node); it != evicted.end()) {
      p.reason = it->second;
    } else if (target.kind == TargetKind::kCpu) {
      p.reason = reject(Code::kRejectTargetOp, "the target is the CPU");
    } else if (!is_border(node)) {
      p.reason = try_lower(node, target);
      p.on_target = !p.reason;
    }
    placements.push_back(std::move(p));
  }
  int num_stages = assign_stages(placements);
  // A TOSA file has no CPU to leave them to.
  while (target.is_ethos_u() && dissolve(placements, num_stages)) {
    num_stages = assign_stages(placements);
  }
  renumber_partitions(placements, num_stages);
  return placements;
}

}  // namespace tosaic
