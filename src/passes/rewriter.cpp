// SPDX-License-Identifier: Apache-2.0
#include "passes/rewriter.h"

#include "tosa/ops.h"

namespace tosaic {
namespace {

/// Without a target everything is allowed.
const Target& everything() {
  static const Target target = [] {
    Target t;
    t.name = "any";
    t.display_name = "any target";
    t.features = static_cast<Feature>(~uint32_t{0});
    return t;
  }();
  return target;
}

}  // namespace

bool is_output(const Value& value) {
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    if (use->user().is(kReturnOp)) return true;
  }
  return false;
}

Rewriter::Rewriter(Graph& graph, PassContext& context)
    : graph_(graph),
      context_(context),
      builder_(graph, context.target == nullptr ? everything() : *context.target) {}

tosa::Builder& Rewriter::before(Node& node) {
  builder_.set_insertion_point(&node);
  builder_.set_loc(node.loc());
  builder_.clear_failure();
  return builder_;
}

bool Rewriter::may_be_output(const Value& from, const Value& to) const {
  if (to.def() == nullptr || is_output(to)) return false;
  return to.quant() == nullptr || from.quant() == nullptr || to.quant() == from.quant();
}

bool Rewriter::replace(Node& node, Value* to) {
  Value& from = node.result();
  if (to == nullptr || to == &from || builder_.failure()) return false;
  if (to->dtype() != from.dtype() || !(to->shape() == from.shape())) return false;
  const bool output = is_output(from);
  if (output && !may_be_output(from, *to)) {
    if (node.is(tosa::identity)) return false;
    to = builder_.emit(tosa::identity, {to});
    if (builder_.failure()) return false;
  }
  if (to->quant() == nullptr && from.quant() != nullptr && to->def() != nullptr) {
    TensorType type = to->type();
    type.quant = from.quant();
    to->set_type(type);
  }
  if (to->name().empty() || output) to->set_name(from.name());
  graph_.replace_all_uses(from, *to);
  graph_.erase(node);
  context_.changed = true;
  return true;
}

}  // namespace tosaic
