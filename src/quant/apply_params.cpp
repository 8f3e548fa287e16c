// SPDX-License-Identifier: Apache-2.0
// Float nodes become nodes on quantised values where the target takes them so:
//
//   %y: f32 = aten.relu.default(%x)         %q: i8<s,z> = quantize(%x)
//   return %y                          =>   %y: i8<t,u> = aten.relu.default(%q)
//                                           %d: f32 = dequantize(%y)
//                                           return %d
#include "quant/apply_params.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "aten/row.h"
#include "quant/qdq.h"
#include "quant/quantised_form.h"

namespace tosaic {
namespace {

using aten::Trait;

bool moves_data(const Node& node) {
  const aten::Row& row = aten::row(node.op());
  return row.has(Trait::kView) || row.has(Trait::kNoOp);
}

class Application {
 public:
  Application(Graph& graph, const ChosenParameters& chosen, const Target& target)
      : graph_(graph), chosen_(chosen), target_(target) {}

  Expected<FloatNodes> run() {
    const auto type_of = [this](const Value& value) -> std::optional<TensorType> {
      const auto it = chosen_.types.find(&value);
      return it == chosen_.types.end() ? std::nullopt : std::optional(it->second);
    };
    for (Node& node : graph_.nodes()) {
      nodes_.push_back(&node);
      TOSAIC_TRY(Planned planned, quantised_form(node, type_of, chosen_.precision, target_));
      if (planned.form) {
        forms_.emplace(&node, *std::move(planned.form));
      } else if (planned.why_not) {
        rejected_.emplace(&node, *std::move(planned.why_not));
      }
    }
    leave_lonely_views();
    for (Node* node : nodes_) {
      if (const auto form = forms_.find(node); form != forms_.end()) {
        quantise(*node, form->second);
      } else {
        use_floats(*node);
      }
    }
    if (target_.kind == TargetKind::kTosaInt) quantise_passed_inputs();
    use_floats(graph_.return_node());
    return std::move(rejected_);
  }

 private:
  bool is_fed_by(const Node& node, const std::unordered_map<const Node*, bool>& wanted) const {
    return std::ranges::any_of(node.operands(), [&](const Use& use) {
      const Node* def = use.value() == nullptr ? nullptr : use.value()->def();
      const auto it = wanted.find(def);
      return it != wanted.end() && it->second;
    });
  }
  static bool feeds(const Node& node, const std::unordered_map<const Node*, bool>& wanted) {
    for (const Value& result : node.results()) {
      for (const Use* use = result.first_use(); use != nullptr; use = use->next()) {
        const auto it = wanted.find(&use->user());
        if (it != wanted.end() && it->second) return true;
      }
    }
    return false;
  }

  /// What only moves data between float nodes stays float.
  void leave_lonely_views() {
    std::unordered_map<const Node*, bool> wanted;
    for (const Node* node : nodes_) {
      if (!forms_.contains(node)) continue;
      wanted[node] = !moves_data(*node) || is_fed_by(*node, wanted);
    }
    for (auto it = nodes_.rbegin(); it != nodes_.rend(); ++it) {
      const auto found = wanted.find(*it);
      if (found == wanted.end() || found->second) continue;
      found->second = feeds(**it, wanted);
    }
    for (const auto& [node, is_wanted] : wanted) {
      if (is_wanted) continue;
      forms_.erase(node);
      rejected_.emplace(
          node, reject(Code::kRejectNothingToDo, "{}: moves data between nodes that stay float",
                       aten::shown_name(*node)));
    }
  }

  /// The value in quantised form: itself, or what a quantize node makes of a float.
  Value& quantised(Value& value, const TensorType& type) {
    if (value.quant() != nullptr) return value;
    Value*& known = quantised_[&value];
    if (known == nullptr) {
      Node* def = value.def();
      Node* before = def != nullptr ? def->next() : nodes_.front();
      known = &insert_quantize(value, type, before,
                               def != nullptr ? def->loc() : value.first_use()->user().loc());
    }
    return *known;
  }

  void quantise(Node& node, const QuantisedForm& form) {
    for (int i = 0; i < node.num_operands(); ++i) {
      const QuantisedForm::Operand& operand = form.operands[static_cast<size_t>(i)];
      if (!operand.changes) continue;
      Value* value = node.operand(i);
      Value& made = operand.constant != nullptr
                        ? graph_.add_constant(*operand.constant, operand.type, value->name())
                        : quantised(*value, operand.type);
      if (&made != value) graph_.set_operand(node, i, &made);
    }
    for (int i = 0; i < node.num_results(); ++i)
      node.result(i).set_type(form.results[static_cast<size_t>(i)]);
  }

  Value& real(Value& value, Node* before) {
    Value*& known = real_[&value];
    if (known == nullptr) {
      known = &insert_dequantize(value, before, value.def()->loc());
      known->set_name(value.name());
    }
    return *known;
  }

  void use_floats(Node& node) {
    for (int i = 0; i < node.num_operands(); ++i) {
      Value* value = node.operand(i);
      if (value == nullptr || value->def() == nullptr || value->quant() == nullptr) continue;
      graph_.set_operand(node, i, &real(*value, value->def()->next()));
    }
  }

  /// A file of integers has no float beside the integers that its nodes read.
  void quantise_passed_inputs() {
    for (int i = 0; i < graph_.num_outputs(); ++i) {
      const auto known = quantised_.find(graph_.output(i));
      if (known == quantised_.end() || !known->first->is_input()) continue;
      graph_.set_operand(graph_.return_node(), i, known->second);
    }
  }

  Graph& graph_;
  const ChosenParameters& chosen_;
  const Target& target_;
  std::vector<Node*> nodes_;
  std::unordered_map<const Node*, QuantisedForm> forms_;
  FloatNodes rejected_;
  std::unordered_map<const Value*, Value*> quantised_;
  std::unordered_map<const Value*, Value*> real_;
};

}  // namespace

Expected<FloatNodes> apply_parameters(Graph& graph, const ChosenParameters& chosen,
                                      const Target& target) {
  return Application(graph, chosen, target).run();
}

}  // namespace tosaic
