// SPDX-License-Identifier: Apache-2.0
// Operators on quantised values instead of `dequantize -> operator -> quantize`
// (docs/quantisation.md).
//
//   %d: f32 = dequantize(%x)                 %y: i8<s,z> = aten.relu.default(%x)
//   %r: f32 = aten.relu.default(%d)     =>
//   %y: i8  = quantize(%r, s, z)
//
// One walk in execution order. Each float result of a dequantize node has a twin, the quantised
// value that it stands for. A node whose float operands all have twins takes them when it is known
// what its results become, which the quantize nodes behind it tell. Between the node and a quantize
// node may stand
//   - nodes that move data: q(view(y)) = view(q(y)),
//   - clamping activations: q(relu(y)) = relu(q(y)), since q is monotonic,
// which then become quantised nodes with equal parameters of operand and result. All of this
// computes the same integers as the program; the only rule that does not is described at
// propagate().
#include "quant/fold_qdq.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "aten/row.h"
#include "quant/fold_operands.h"
#include "quant/qdq.h"

namespace tosaic {
namespace {

using aten::Trait;

/// A result is never computed in more versions than this.
constexpr size_t kMaxVersions = 8;

/// May stand between a node and the quantize node that gives its parameters.
bool is_transparent(const Node& node) {
  if (!aten::is_aten(node) || node.num_operands() != 1 || node.num_results() != 1) return false;
  return node.result().dtype() == DType::kF32 && node.operand(0) != nullptr &&
         node.operand(0)->dtype() == DType::kF32 &&
         (moves_data(node) || aten::row(node.op()).has(Trait::kActivation));
}

/// Results are float32 (the arithmetic of dequantize nodes) or no floats at all; what moves data
/// does not convert it.
bool has_foldable_results(const Node& node) {
  for (const Value& result : node.results()) {
    if (is_float(result.dtype()) && result.dtype() != DType::kF32) return false;
    if (moves_data(node) && node.num_operands() > 0 && node.operand(0) != nullptr &&
        node.operand(0)->dtype() != result.dtype()) {
      return false;
    }
  }
  return true;
}

/// The uses of one float result, followed through transparent nodes to quantize nodes.
struct Demands {
  struct Entry {
    Value* value;
    int parent;  ///< entry that `via` reads; -1 for the result itself
    Node* via;   ///< the transparent node that gives the value
  };
  struct Demand {
    Node* quantize;
    int entry;
    size_t version;
  };
  std::vector<Entry> entries;
  std::vector<Demand> demands;
  std::vector<TensorType> versions;  ///< distinct types; shapes have no meaning
};

/// "dtype and quant of `type` with the sizes of `value`".
TensorType retyped(const Value& value, const TensorType& type) {
  return {type.dtype, value.shape(), type.quant};
}

struct BorderKey {
  const Value* value;
  const Quant* quant;
  DType dtype;
  bool operator==(const BorderKey&) const = default;
};
struct BorderHash {
  size_t operator()(const BorderKey& key) const {
    return std::hash<const void*>()(key.value) * 31 + std::hash<const void*>()(key.quant) +
           static_cast<size_t>(key.dtype);
  }
};

class Folding {
 public:
  explicit Folding(Graph& graph) : graph_(graph) {}

  Status run() {
    for (Node& node : graph_.nodes()) {
      TOSAIC_CHECK_OK(check_static_quantisation(node));
      if (is_quantize(node)) {
        TOSAIC_CHECK_OK(visit_quantize(node));
      } else if (is_dequantize(node)) {
        TOSAIC_CHECK_OK(visit_dequantize(node));
      } else if (aten::is_aten(node)) {
        TOSAIC_CHECK_OK(visit_operator(node));
      }
    }
    if (changed_) graph_.erase_dead_nodes();
    return ok();
  }
  bool changed() const { return changed_; }

 private:
  Expected<TensorType> type_of(const Node& node) {
    if (const auto it = types_.find(&node); it != types_.end()) return it->second;
    TOSAIC_TRY(const TensorType type, quantised_type_of(node));
    types_.emplace(&node, type);
    return type;
  }

  void replace(Node& quantize, Value& by) {
    graph_.replace_all_uses(quantize.result(), by);
    graph_.erase(quantize);
    changed_ = true;
  }

  Status visit_quantize(Node& node);
  Value& border(Value& real, const TensorType& type, Node& quantize);
  void move_before_views(Node& quantize, const TensorType& type);
  Status visit_dequantize(Node& node);
  Status visit_operator(Node& node);

  Expected<bool> collect(Value& result, Demands& demands);
  size_t version_of(Demands& demands, const TensorType& type);
  void give_up(const Demands& demands, int entry);
  void apply(Node& node, std::span<Value* const> operands, int result, const Demands& demands);
  Value& make_version(Node& node, std::span<Value* const> operands, int result,
                      const TensorType& type);
  Status fold_one_result(Node& node, std::span<Value* const> operands, bool& folded);
  Status fold_results(Node& node, std::span<Value* const> operands, bool& folded);
  void set_operands(Node& node, std::span<Value* const> operands);
  Expected<TensorType> parameters_to_keep(Value& result, const TensorType& operand);
  Status propagate(Node& node, std::span<Value* const> operands);

  Graph& graph_;
  Twins twins_;
  std::unordered_map<const Node*, TensorType> types_;  // of quantize nodes, read ahead
  std::unordered_map<BorderKey, Value*, BorderHash> borders_;
  std::unordered_set<const Value*> not_demanded_;  // values with a use that needs the float
  bool changed_ = false;
};

Status Folding::visit_quantize(Node& node) {
  TOSAIC_TRY(const TensorType type, type_of(node));
  Value& operand = *node.operand(0);
  if (operand.is_constant() && (operand.dtype() == DType::kF32 || operand.dtype() == DType::kF64)) {
    ConstantStage stage;
    stage.quant = type.quant;
    const Constant& data = graph_.module().staged(*operand.constant(), stage, type.dtype);
    replace(node, graph_.add_constant(data, type, operand.name()));
    return ok();
  }
  if (Value* twin = twins_.find(operand)) {
    const bool fits = same_parameters(twin->type(), type) &&
                      type.quant->qmin <= twin->quant()->qmin &&
                      type.quant->qmax >= twin->quant()->qmax;
    if (fits) {
      replace(node, *twin);
    } else if (twin->quant()->per_tensor() && type.quant->per_tensor()) {
      Value& other = insert_requantize(*twin, type, &node, node.loc());
      other.set_name(node.result().name());
      replace(node, other);
    }
    if (node.is_erased()) return ok();
  }
  // A float value of the program becomes quantised here; one such node per value and parameters.
  Value*& known = borders_[{&operand, type.quant, type.dtype}];
  if (known != nullptr) {
    replace(node, *known);
    return ok();
  }
  known = &node.result();
  node.result().set_type(type);
  changed_ = true;
  if (type.quant->per_tensor()) move_before_views(node, type);
  return ok();
}

/// The quantised form of a float value, by a new quantize node if there is none yet.
Value& Folding::border(Value& real, const TensorType& type, Node& quantize) {
  Value*& known = borders_[{&real, type.quant, type.dtype}];
  if (known == nullptr) {
    Node* before = real.def() == nullptr ? graph_.first() : real.def()->next();
    known = &insert_quantize(real, retyped(real, type), before, quantize.loc());
  }
  return *known;
}

/// q(view(y)) = view(q(y)): what moves the data of a float does it on the quantised value, unless
/// there is less of it behind the move.
void Folding::move_before_views(Node& quantize, const TensorType& type) {
  std::vector<Node*> views;
  Value* real = quantize.operand(0);
  while (real->def() != nullptr && aten::is_aten(*real->def()) && moves_data(*real->def()) &&
         is_transparent(*real->def()) && real->def()->operand(0)->quant() == nullptr) {
    views.push_back(real->def());
    real = views.back()->operand(0);
  }
  if (views.empty()) return;
  const Shape& from = real->shape();
  const Shape& to = quantize.result().shape();
  const bool is_less =
      !from.is_static() || !to.is_static() || from.num_elements() > to.num_elements();
  if (is_less && !borders_.contains({real, type.quant, type.dtype})) return;
  Value* value = &border(*real, type, quantize);
  for (auto view = views.rbegin(); view != views.rend(); ++view) {
    Node& copy = graph_.insert({.op = &(*view)->op(),
                                .variant = (*view)->variant(),
                                .operands = {&value, 1},
                                .segments = (*view)->segments(),
                                .results = std::vector{retyped((*view)->result(), type)},
                                .attrs = (*view)->attrs(),
                                .loc = (*view)->loc()},
                               &quantize);
    value = &copy.result();
  }
  value->set_name(quantize.result().name());
  borders_[{quantize.operand(0), type.quant, type.dtype}] = value;
  replace(quantize, *value);
}

Status Folding::visit_dequantize(Node& node) {
  TOSAIC_TRY(const TensorType type, quantised_type_of(node));
  if (node.result().dtype() != DType::kF32) return ok();
  Value& operand = *node.operand(0);
  if (operand.quant() == nullptr && operand.is_constant()) {
    Value*& typed = borders_[{&operand, type.quant, type.dtype}];
    if (typed == nullptr) typed = &graph_.add_constant(*operand.constant(), type, operand.name());
    twins_.add(node.result(), *typed);
    return ok();
  }
  if (operand.quant() == nullptr && operand.is_input()) {
    // An integer input means what all of its uses say. Uses with several meanings keep their nodes.
    for (const Use* use = operand.first_use(); use != nullptr; use = use->next()) {
      if (!is_dequantize(use->user())) return ok();
    }
    operand.set_type(type);
    changed_ = true;
  }
  // Integers that are read with other parameters than they were made with are not the same numbers:
  // such a node stays.
  if (same_parameters(operand.type(), type)) twins_.add(node.result(), operand);
  return ok();
}

size_t Folding::version_of(Demands& demands, const TensorType& type) {
  auto& versions = demands.versions;
  const auto it = std::ranges::find_if(versions, [&](const TensorType& known) {
    return known.dtype == type.dtype && known.quant == type.quant;
  });
  const auto version = static_cast<size_t>(it - versions.begin());
  if (version == versions.size()) versions.push_back(type);
  return version;
}

/// Remembers that an entry and those before it are needed as floats, which keeps the walk linear.
void Folding::give_up(const Demands& demands, int entry) {
  for (; entry >= 0; entry = demands.entries[static_cast<size_t>(entry)].parent) {
    not_demanded_.insert(demands.entries[static_cast<size_t>(entry)].value);
  }
}

/// False when some use needs the float, or when nothing uses the result.
Expected<bool> Folding::collect(Value& result, Demands& demands) {
  demands.entries.push_back({&result, -1, nullptr});
  for (size_t i = 0; i < demands.entries.size(); ++i) {
    Value* value = demands.entries[i].value;
    bool is_needed = not_demanded_.contains(value);
    for (Use* use = value->first_use(); use != nullptr && !is_needed; use = use->next()) {
      Node& user = use->user();
      if (is_quantize(user)) {
        TOSAIC_TRY(const TensorType type, type_of(user));
        demands.demands.push_back({&user, static_cast<int>(i), version_of(demands, type)});
        is_needed = !type.quant->per_tensor() || demands.versions.size() > kMaxVersions;
      } else if (is_transparent(user)) {
        demands.entries.push_back({&user.result(), static_cast<int>(i), &user});
      } else {
        is_needed = true;
      }
    }
    if (is_needed) {
      give_up(demands, static_cast<int>(i));
      return false;
    }
  }
  return !demands.demands.empty();
}

void Folding::set_operands(Node& node, std::span<Value* const> operands) {
  for (size_t i = 0; i < operands.size(); ++i) {
    const int index = static_cast<int>(i);
    if (operands[i] != node.operand(index)) graph_.set_operand(node, index, operands[i]);
  }
}

/// The result of `node` on `operands` in one more version.
Value& Folding::make_version(Node& node, std::span<Value* const> operands, int result,
                             const TensorType& type) {
  std::vector<TensorType> types;
  for (const Value& value : node.results())
    types.push_back(value.type());
  types[static_cast<size_t>(result)] = retyped(node.result(result), type);
  Node& copy = graph_.insert({.op = &node.op(),
                              .variant = node.variant(),
                              .operands = operands,
                              .segments = node.segments(),
                              .results = types,
                              .attrs = node.attrs(),
                              .loc = node.loc()},
                             &node);
  copy.result(result).set_name(node.result(result).name());
  return copy.result(result);
}

/// Makes the node, and the transparent nodes behind it, quantised: the node itself in the first
/// version, copies of it in the others. Exact: each quantize node gets the integers that it would
/// have computed from the float.
void Folding::apply(Node& node, std::span<Value* const> operands, int result,
                    const Demands& demands) {
  set_operands(node, operands);
  for (size_t version = 0; version < demands.versions.size(); ++version) {
    const TensorType& type = demands.versions[version];
    std::vector<bool> needed(demands.entries.size(), false);
    for (const Demands::Demand& demand : demands.demands) {
      if (demand.version != version) continue;
      for (int i = demand.entry; i >= 0; i = demands.entries[static_cast<size_t>(i)].parent) {
        if (needed[static_cast<size_t>(i)]) break;
        needed[static_cast<size_t>(i)] = true;
      }
    }
    std::vector<Value*> made(demands.entries.size(), nullptr);
    for (size_t i = 0; i < made.size(); ++i) {
      const Demands::Entry& entry = demands.entries[i];
      if (!needed[i]) continue;
      if (version == 0) {
        entry.value->set_type(retyped(*entry.value, type));
        made[i] = entry.value;
      } else if (entry.via == nullptr) {
        made[i] = &make_version(node, operands, result, type);
      } else {
        made[i] = &make_version(*entry.via, {&made[static_cast<size_t>(entry.parent)], 1}, 0, type);
      }
    }
    for (const Demands::Demand& demand : demands.demands) {
      if (demand.version == version) {
        replace(*demand.quantize, *made[static_cast<size_t>(demand.entry)]);
      }
    }
  }
}

/// Parameters for a result of which some uses need the float: those that a quantize node behind it
/// asks for, else the operand's. Only nodes that move data may stand between: an activation's
/// parameters do not hold what it cuts off.
Expected<TensorType> Folding::parameters_to_keep(Value& result, const TensorType& operand) {
  constexpr size_t kMostValues = 16;  // keeps the walk linear
  std::vector<Value*> values = {&result};
  const Node* first = nullptr;
  for (size_t i = 0; i < values.size() && i < kMostValues; ++i) {
    for (const Use* use = values[i]->first_use(); use != nullptr; use = use->next()) {
      Node& user = use->user();
      if (is_quantize(user) && (first == nullptr || user.order() < first->order())) {
        TOSAIC_TRY(const TensorType type, type_of(user));
        if (type.quant->per_tensor() && type.dtype == operand.dtype) first = &user;
      } else if (is_transparent(user) && moves_data(user)) {
        values.push_back(&user.result());
      }
    }
  }
  if (first == nullptr) return operand;
  return type_of(*first);
}

/// Results that need no quantize node: of nodes that move data, which is exact, and of poolings. An
/// average whose float the program uses gets rounded here: without this, such islands of PT2E
/// programs would stay on the CPU.
Status Folding::propagate(Node& node, std::span<Value* const> operands) {
  const auto first = std::ranges::find_if(
      operands, [](const Value* v) { return v != nullptr && v->quant() != nullptr; });
  set_operands(node, operands);
  const TensorType kept = (*first)->type();
  for (Value& result : node.results()) {
    const bool was_float = is_float(result.dtype());
    if (!was_float && result.dtype() != kept.dtype) continue;
    TensorType type = kept;
    if (!moves_data(node)) {
      TOSAIC_TRY(type, parameters_to_keep(result, kept));
    }
    result.set_type(retyped(result, type));
    if (!was_float || !result.has_uses()) continue;
    std::vector<const Use*> uses;
    for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
      uses.push_back(use);
    }
    Value& real = insert_dequantize(result, node.next(), node.loc());
    for (const Use* use : uses)
      graph_.set_operand(use->user(), use->index(), &real);
    twins_.add(real, result);
  }
  changed_ = true;
  return ok();
}

Status Folding::fold_one_result(Node& node, std::span<Value* const> operands, bool& folded) {
  Demands demands;
  TOSAIC_TRY(folded, collect(node.result(), demands));
  if (folded) apply(node, operands, 0, demands);
  return ok();
}

/// Several results: each in one version, those that nobody uses as they are. Results that are no
/// floats (of comparisons) ask for nothing.
Status Folding::fold_results(Node& node, std::span<Value* const> operands, bool& folded) {
  std::vector<Demands> demands(node.results().size());
  folded = !operands.empty() &&
           std::ranges::none_of(node.results(), [](const Value& v) { return is_float(v.dtype()); });
  if (folded) {
    set_operands(node, operands);
    changed_ = true;
    return ok();
  }
  for (int i = 0; i < node.num_results(); ++i) {
    Value& result = node.result(i);
    if (!is_float(result.dtype()) || !result.has_uses()) continue;
    Demands& own = demands[static_cast<size_t>(i)];
    TOSAIC_TRY(const bool fits, collect(result, own));
    folded = fits && own.versions.size() == 1;
    if (!folded) return ok();
  }
  for (int i = 0; folded && i < node.num_results(); ++i) {
    const Demands& own = demands[static_cast<size_t>(i)];
    if (!own.demands.empty()) apply(node, operands, i, own);
  }
  return ok();
}

Status Folding::visit_operator(Node& node) {
  if (node.num_results() == 0 || node.result().quant() != nullptr) return ok();
  if (!has_foldable_results(node)) return ok();
  std::vector<Value*> operands;
  if (!quantised_operands(node, twins_, operands)) return ok();
  const bool keeps = keeps_parameters(node, operands);
  if (keeps && moves_data(node)) return propagate(node, operands);
  bool folded = false;
  if (node.num_results() == 1 && is_float(node.result().dtype())) {
    TOSAIC_CHECK_OK(fold_one_result(node, operands, folded));
  } else {
    TOSAIC_CHECK_OK(fold_results(node, operands, folded));
  }
  return !folded && keeps && !adds_number(node) ? propagate(node, operands) : ok();
}

}  // namespace

Status run_fold_qdq(Graph& graph, PassContext& context) {
  Folding folding(graph);
  TOSAIC_CHECK_OK(folding.run());
  if (folding.changed()) context.changed = true;
  return ok();
}

}  // namespace tosaic
