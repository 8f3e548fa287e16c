// SPDX-License-Identifier: Apache-2.0
#include "aten/builder.h"
#include "ir/verify.h"
#include "partition/partition.h"

TOSAIC_USE_ATEN_OP(unknown);

namespace tosaic {
namespace {

/// Lowers node after node into `to`. `map` leads from values of the ATen graph to values of `to`.
class Lowering {
 public:
  Lowering(Graph& to, const Target& target, LoweredValues& map, Int64 int64)
      : to_(to), builder_(to, target), map_(map), int64_(int64) {}

  void add_input(const Value& v) {
    map_[&v] = &to_.add_input(aten::held_at_run_time(v.type()), v.name());
  }

  Status lower(const Node& node) {
    if (node.is(aten::unknown)) {
      return error(Code::kRejectNoRow, "{}: no operator row serves it", aten::shown_name(node))
          .at(resolve(node.loc()));
    }
    operands_.clear();
    results_.clear();
    for (const Use& use : node.operands())
      operands_.push_back(mapped(use.value()));
    for (const Value& v : node.results()) {
      results_.push_back(int64_ == Int64::kAsInt32 ? aten::held_at_run_time(v.type()) : v.type());
    }
    const aten::Call call(node.op(), node.variant(), operands_, node.segments(), node.attrs(),
                          results_, node.loc());
    builder_.set_loc(node.loc());
    const aten::Lowered lowered = aten::lower(call, builder_);
    if (!lowered.ok()) {
      const Reject& reason = lowered.reason();
      return node_error(reason.code, node, "{}", reason.why).with_hint(reason.hint);
    }
    for (int i = 0; i < node.num_results(); ++i) {
      Value* v = lowered.values()[static_cast<size_t>(i)];
      if (v == nullptr) continue;  // nobody uses it
      const TensorType wanted = aten::held_at_run_time(node.result(i).type());
      if (v->shape() != wanted.shape || v->dtype() != wanted.dtype) {
        check_failed("lowered type",
                     fmt::format("{}: lowered to {}, the program says {}", node.full_name(),
                                 to_string(v->type()), to_string(node.result(i).type())));
      }
      map_[&node.result(i)] = with_quant(v, node.result(i).name(), wanted.quant);
    }
    return ok();
  }

  /// An output: constants of int64 are int32, as values are.
  Value* output(Value* v) {
    const bool is_wide = v->is_constant() && v->dtype() == DType::kI64;
    return is_wide ? &add_held_constant(to_, *v, Int64::kAsInt32) : mapped(v);
  }

  Value* mapped(Value* v) {
    if (v == nullptr) return nullptr;
    if (const auto it = map_.find(v); it != map_.end()) return it->second;
    Value* made = &add_held_constant(to_, *v, int64_);
    map_[v] = made;
    return made;
  }

 private:
  /// Lowerings of later nodes read parameters from their operands. A value that already stands for
  /// other parameters (a view of an input) is given another name in the graph.
  Value* with_quant(Value* v, std::string_view name, const Quant* quant) {
    if (v->quant() == quant) return v;
    if (v->quant() != nullptr || v->def() == nullptr) {
      v = builder_.emit(tosa::identity, {v});
    }
    TensorType type = v->type();
    type.quant = quant;
    v->set_type(type);
    if (v->name().empty()) v->set_name(name);
    return v;
  }

  Graph& to_;
  aten::Builder builder_;
  LoweredValues& map_;
  Int64 int64_;
  std::vector<Value*> operands_;
  std::vector<TensorType> results_;
};

}  // namespace

Expected<Graph*> lower_beside(const Graph& graph, const Target& target, LoweredValues& values,
                              const std::unordered_map<const Node*, Reject>& left_out,
                              Int64 int64) {
  Module& module = graph.module();
  Graph& to = module.add_graph(module.unique_graph_name("lowered"), Dialect::kTosa);
  Lowering lowering(to, target, values, int64);
  for (const Value* v : graph.inputs())
    lowering.add_input(*v);
  for (const Node& node : graph.nodes()) {
    if (left_out.contains(&node)) continue;
    if (Status s = lowering.lower(node); !s) {
      module.erase_graph(to.name());
      return std::move(s).error();
    }
  }
  std::vector<Value*> outputs;
  for (Value* v : graph.outputs()) {
    if (!left_out.contains(v->def())) outputs.push_back(lowering.output(v));
  }
  to.set_outputs(outputs);
  return &to;
}

Expected<Graph*> lower_to_tosa(Graph& graph, const Target& target) {
  Module& module = graph.module();
  const std::string_view name = graph.name();
  LoweredValues values;
  TOSAIC_TRY(Graph * to, lower_beside(graph, target, values));
  module.erase_graph(name);
  module.rename_graph(*to, name);
  return to;
}

}  // namespace tosaic
