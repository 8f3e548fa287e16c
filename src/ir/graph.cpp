// SPDX-License-Identifier: Apache-2.0
#include "ir/graph.h"

#include <algorithm>
#include <limits>

#include "ir/effects.h"
#include "support/check.h"

namespace tosaic {
namespace {

constexpr uint32_t kLastOrder = std::numeric_limits<uint32_t>::max();
/// Room between appended nodes: a rewrite inserts several nodes before one without moving others.
constexpr uint32_t kOrderGap = 1u << 12;

}  // namespace

size_t Value::num_uses() const {
  size_t count = 0;
  for (const Use* use = first_use_; use != nullptr; use = use->next_)
    ++count;
  return count;
}

Graph::Graph(Module& module, std::string_view name, Dialect dialect)
    : module_(&module), name_(name), dialect_(dialect) {
  return_ = module.arena().make<Node>();
  return_->op_ = &kReturnOp;
  return_->graph_ = this;
  return_->order_ = kLastOrder;
  head_ = return_;
}

Value& Graph::add_input(const TensorType& type, std::string_view name) {
  Value* value = module_->arena().make<Value>();
  value->type_ = type;
  value->name_ = module_->intern(name);
  value->graph_ = this;
  value->index_ = static_cast<uint32_t>(inputs_.size());
  inputs_.push_back(value);
  return *value;
}

Value& Graph::add_constant(const Constant& constant, const TensorType& type,
                           std::string_view name) {
  TOSAIC_CHECK(type.dtype == constant.dtype && type.shape == constant.shape,
               "a constant's value has its dtype and shape");
  Value* value = module_->arena().make<Value>();
  value->type_ = type;
  value->name_ = module_->intern(name);
  value->constant_ = &constant;
  value->graph_ = this;
  constants_.push_back(value);
  return *value;
}

Value& Graph::add_constant(const Constant& constant) {
  return add_constant(constant, {constant.dtype, constant.shape, nullptr});
}

void Graph::erase_input(int index) {
  const auto at = static_cast<size_t>(index);
  TOSAIC_CHECK(at < inputs_.size() && !inputs_[at]->has_uses(), "an erased input has no uses");
  inputs_.erase(inputs_.begin() + index);
  for (size_t i = at; i < inputs_.size(); ++i)
    inputs_[i]->index_ = static_cast<uint32_t>(i);
}

std::vector<Value*> Graph::constants() const {
  std::vector<Value*> used;
  std::copy_if(constants_.begin(), constants_.end(), std::back_inserter(used),
               [](const Value* value) { return value->has_uses(); });
  return used;
}

void Graph::set_outputs(std::span<Value* const> outputs) {
  // The caller's span may come from the operands that are about to go.
  const std::vector<Value*> values(outputs.begin(), outputs.end());
  for (Use& use : return_->operands_)
    unlink(use);
  fill_operands(*return_, values);
}

std::vector<Value*> Graph::outputs() const {
  std::vector<Value*> values;
  values.reserve(return_->operands_.size());
  for (const Use& use : return_->operands_)
    values.push_back(use.value_);
  return values;
}

Node& Graph::insert(const NodeSpec& spec, Node* before) {
  TOSAIC_CHECK(spec.op != nullptr && spec.op != &kReturnOp, "operator of a new node");
  Arena& arena = module_->arena();
  Node* node = arena.make<Node>();
  node->op_ = spec.op;
  node->variant_ = spec.variant;
  node->loc_ = spec.loc;
  node->attrs_ = module_->copy_attrs(spec.attrs);
  node->segments_ = arena.copy(spec.segments);
  node->results_ = arena.make_span<Value>(spec.results.size());
  for (size_t i = 0; i < spec.results.size(); ++i) {
    Value& result = node->results_[i];
    result.type_ = spec.results[i];
    result.def_ = node;
    result.graph_ = this;
    result.index_ = static_cast<uint32_t>(i);
  }
  fill_operands(*node, spec.operands);
  link_before(*node, before == nullptr ? *return_ : *before);
  return *node;
}

void Graph::erase(Node& node) {
  TOSAIC_CHECK(node.graph_ == this && &node != return_, "an erased node is in the graph");
  for (const Value& result : node.results_) {
    TOSAIC_CHECK(!result.has_uses(), "results of an erased node have no uses");
  }
  for (Use& use : node.operands_)
    unlink(use);
  unlink_node(node);
  node.graph_ = nullptr;
}

void Graph::move_before(Node& node, Node* before) {
  Node& next = before == nullptr ? *return_ : *before;
  TOSAIC_CHECK(node.graph_ == this && &node != return_, "a moved node is in the graph");
  if (&next == &node || node.next_ == &next) return;
  unlink_node(node);
  link_before(node, next);
}

void Graph::replace_all_uses(Value& from, Value& to) {
  TOSAIC_CHECK(from.graph_ == this && to.graph_ == this, "uses stay in their graph");
  if (&from == &to || from.first_use_ == nullptr) return;
  Use* last = from.first_use_;
  for (Use* use = last; use != nullptr; use = use->next_) {
    use->value_ = &to;
    last = use;
  }
  // The whole list moves to the front of the other one.
  last->next_ = to.first_use_;
  if (to.first_use_ != nullptr) to.first_use_->link_ = &last->next_;
  to.first_use_ = from.first_use_;
  to.first_use_->link_ = &to.first_use_;
  from.first_use_ = nullptr;
}

void Graph::set_operand(Node& node, int index, Value* value) {
  TOSAIC_CHECK(node.graph_ == this && static_cast<size_t>(index) < node.operands_.size(),
               "an operand of a node in the graph");
  Use& use = node.operands_[static_cast<size_t>(index)];
  unlink(use);
  link(use, value);
}

size_t Graph::erase_dead_nodes() {
  const size_t before = num_nodes_;
  Effects effects(*module_);
  // Users come after definitions, so one walk back sees each node after all of its users are gone.
  for (Node* node = return_->prev_; node != nullptr;) {
    Node* prev = node->prev_;
    const bool is_used = std::any_of(node->results_.begin(), node->results_.end(),
                                     [](const Value& result) { return result.has_uses(); });
    if (!is_used && !effects.writes(*node)) erase(*node);
    node = prev;
  }
  return before - num_nodes_;
}

void Graph::renumber() {
  const auto room = static_cast<uint32_t>(kLastOrder / (num_nodes_ + 1));
  const uint32_t gap = std::min(kOrderGap, room);
  uint32_t order = 0;
  for (Node* node = head_; node != return_; node = node->next_)
    node->order_ = order += gap;
}

void Graph::link(Use& use, Value* value) {
  use.value_ = value;
  if (value == nullptr) return;
  TOSAIC_CHECK(value->graph_ == this, "an operand belongs to the graph of its user");
  use.next_ = value->first_use_;
  use.link_ = &value->first_use_;
  if (use.next_ != nullptr) use.next_->link_ = &use.next_;
  value->first_use_ = &use;
}

void Graph::unlink(Use& use) {
  if (use.value_ == nullptr) return;
  *use.link_ = use.next_;
  if (use.next_ != nullptr) use.next_->link_ = use.link_;
  use.value_ = nullptr;
  use.next_ = nullptr;
  use.link_ = nullptr;
}

/// Links from the last to the first, so that the list of a value that a node uses twice is in
/// order.
void Graph::fill_operands(Node& node, std::span<Value* const> operands) {
  if (operands.size() <= node.operands_.size()) {
    node.operands_ = node.operands_.first(operands.size());
  } else {
    node.operands_ = module_->arena().make_span<Use>(operands.size());
  }
  for (size_t i = operands.size(); i-- > 0;) {
    Use& use = node.operands_[i];
    use.user_ = &node;
    use.index_ = static_cast<uint32_t>(i);
    link(use, operands[i]);
  }
}

void Graph::link_before(Node& node, Node& before) {
  TOSAIC_CHECK(before.graph_ == this, "the next node is in the graph");
  node.graph_ = this;
  node.next_ = &before;
  node.prev_ = before.prev_;
  before.prev_ = &node;
  if (node.prev_ == nullptr) {
    head_ = &node;
  } else {
    node.prev_->next_ = &node;
  }
  ++num_nodes_;
  const uint32_t low = node.prev_ == nullptr ? 0 : node.prev_->order_;
  const uint32_t room = before.order_ - low;
  // Nodes are mostly inserted in order before one node, so most of the room is left behind this
  // one.
  node.order_ = low + std::clamp(room / 16, 1u, kOrderGap);
  if (room < 2) make_room(node);
}

void Graph::unlink_node(Node& node) {
  // The node keeps its own next_: walks that stand on it go on from there.
  node.next_->prev_ = node.prev_;
  if (node.prev_ == nullptr) {
    head_ = node.next_;
  } else {
    node.prev_->next_ = node.next_;
  }
  --num_nodes_;
}

/// Spreads the orders around a node that has none of its own: in the smallest power-of-two range of
/// orders that is sparse enough (the wider, the sparser), which costs amortised O(log n) per
/// insert.
void Graph::make_room(Node& node) {
  const uint32_t centre = node.prev_ == nullptr ? 1 : node.prev_->order_;
  Node* first = &node;
  Node* last = &node;
  uint64_t count = 1;
  double capacity = 1;
  for (int bits = 1; bits < 32; ++bits) {
    const uint32_t mask = (1u << bits) - 1;
    const uint32_t low = centre & ~mask;
    const uint32_t high = centre | mask;
    capacity *= 1.5;
    while (first->prev_ != nullptr && first->prev_->order_ >= low) {
      first = first->prev_;
      ++count;
    }
    while (last->next_ != return_ && last->next_->order_ <= high) {
      last = last->next_;
      ++count;
    }
    // Order 0 stays free for a node before the first; the last order is the return node's.
    const uint64_t step = (uint64_t{high} - low) / (count + 1);
    if (step < 2 || static_cast<double>(count) > capacity) continue;
    uint64_t order = low;
    for (Node* n = first;; n = n->next_) {
      n->order_ = static_cast<uint32_t>(order += step);
      if (n == last) return;
    }
  }
  renumber();
}

}  // namespace tosaic
