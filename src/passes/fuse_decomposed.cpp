// SPDX-License-Identifier: Apache-2.0
// Gives operators that core ATen writes out with a comparison and a selection their names back:
// quantised they need neither, which Ethos-U55 has not.
//
//   %c: bool[4] = aten.gt.Scalar(%x) {other = 0}
//   %m: f32[4] = aten.mul.Tensor(%w, %x)
//   %y: f32[4] = aten.where.self(%c, %x, %m)
// =>
//   %y: f32[4] = aten._prelu_kernel.default(%x, %w)
//
// They are prelu, celu, softplus (mish is made of it), and the softmax of attention, which gives
// zeros where no key is seen. What else reads the parts keeps them.
#include <algorithm>
#include <cmath>
#include <limits>

#include "aten/builder.h"
#include "passes/passes.h"

namespace tosaic {
namespace {

/// What makes a value, if that is the overload `full_name`.
const Node* made_by(const Value* value, std::string_view full_name) {
  const Node* node = value == nullptr ? nullptr : value->def();
  return node != nullptr && aten::is_aten(*node) && node->full_name() == full_name ? node : nullptr;
}

bool is_zero(const Value* value) {
  if (value == nullptr) return false;
  if (made_by(value, "aten.zeros_like.default") != nullptr) return true;
  if (const Node* fill = made_by(value, "aten.full_like.default")) {
    return aten::NodeCall(*fill).call.f("fill_value") == 0;
  }
  return value->is_constant() && is_float(value->dtype()) &&
         std::ranges::all_of(float_values(*value->constant()), [](double v) { return v == 0; });
}

/// The operand of a comparison `full_name` with the number `other`.
const Value* compared(const Value* value, std::string_view full_name, double other) {
  const Node* node = made_by(value, full_name);
  return node != nullptr && aten::NodeCall(*node).call.f("other") == other ? node->operand(0)
                                                                           : nullptr;
}

const Value* operand_of(const Value* value, std::string_view full_name) {
  const Node* node = made_by(value, full_name);
  return node == nullptr ? nullptr : node->operand(0);
}

/// where(not any(not (x == -inf)), 0, softmax(x))
Value* fuse_safe_softmax(const Node& node, aten::Builder& b) {
  const Node* softmax = made_by(node.operand(2), "aten._softmax.default");
  const Value* seen = operand_of(node.operand(0), "aten.logical_not.default");
  const Node* any = made_by(seen, "aten.any.dim");
  if (softmax == nullptr || any == nullptr || !is_zero(node.operand(1))) return nullptr;
  const Value* hidden = operand_of(any->operand(0), "aten.logical_not.default");
  const aten::NodeCall of_any(*any);
  const aten::NodeCall of_softmax(*softmax);
  int64_t any_axis = of_any.call.i("dim");
  int64_t axis = of_softmax.call.i("dim");
  Value* x = softmax->operand(0);
  const int rank = x->shape().rank();
  if (compared(hidden, "aten.eq.Scalar", -std::numeric_limits<double>::infinity()) != x ||
      !of_any.call.b("keepdim") || !aten::normalise_axis(any_axis, rank) ||
      !aten::normalise_axis(axis, rank) || any_axis != axis ||
      node.result().type() != softmax->result().type() || x->dtype() != node.result().dtype()) {
    return nullptr;
  }
  return b.call("aten._safe_softmax.default", {x}, node.result().type(),
                {{"dim", Attr::integer(axis)}});
}

/// where(x > 0, x, slope * x)
Value* fuse_prelu(const Node& node, aten::Builder& b) {
  Value* x = node.operand(1);
  const Node* product = made_by(node.operand(2), "aten.mul.Tensor");
  if (product == nullptr || compared(node.operand(0), "aten.gt.Scalar", 0) != x) return nullptr;
  const int at = product->operand(0) == x ? 1 : 0;
  Value* slope = product->operand(at);
  if (product->operand(1 - at) != x || !slope->is_constant() || slope->dtype() != x->dtype() ||
      slope->shape().rank() != x->shape().rank() || node.result().type() != x->type()) {
    return nullptr;
  }
  return b.call("aten._prelu_kernel.default", {x, slope}, x->type());
}

/// A value by itself (number 1), or what the product or quotient `full_name` with a number is made
/// of.
struct WithNumber {
  const Value* value = nullptr;
  double number = 1;
};
WithNumber split_number(const Value* value, std::string_view full_name) {
  const Node* node = made_by(value, full_name);
  if (node == nullptr) return {value, 1};
  return {node->operand(0), aten::NodeCall(*node).call.f("other")};
}
constexpr std::string_view kTimes = "aten.mul.Scalar";
constexpr std::string_view kOver = "aten.div.Scalar";

/// where(x * beta > threshold, x, log1p(exp(x * beta)) / beta)
Value* fuse_softplus(const Node& node, aten::Builder& b) {
  Value* x = node.operand(1);
  const WithNumber logarithm = split_number(node.operand(2), kOver);
  const Value* power = operand_of(logarithm.value, "aten.log1p.default");
  const Value* argument = operand_of(power, "aten.exp.default");
  const Node* greater = made_by(node.operand(0), "aten.gt.Scalar");
  const WithNumber product = split_number(argument, kTimes);
  if (greater == nullptr || argument == nullptr || greater->operand(0) != argument ||
      product.value != x || product.number != logarithm.number ||
      node.result().type() != x->type()) {
    return nullptr;
  }
  const double threshold = aten::NodeCall(*greater).call.f("other");
  return b.call("aten.softplus.default", {x}, x->type(),
                {{"beta", Attr::real(product.number)}, {"threshold", Attr::real(threshold)}});
}

/// where(x > 0, x, expm1(x / alpha) * alpha)
Value* fuse_celu(const Node& node, aten::Builder& b) {
  Value* x = node.operand(1);
  const WithNumber product = split_number(node.operand(2), kTimes);
  const WithNumber quotient = split_number(operand_of(product.value, "aten.expm1.default"), kOver);
  if (quotient.value != x || product.number != quotient.number ||
      compared(node.operand(0), "aten.gt.Scalar", 0) != x || node.result().type() != x->type()) {
    return nullptr;
  }
  return b.call("aten.celu.default", {x}, x->type(), {{"alpha", Attr::real(product.number)}});
}

}  // namespace

Status run_fuse_decomposed(Graph& graph, PassContext& context) {
  const Target nothing;
  for (Node& node : graph.nodes()) {
    if (!aten::is_aten(node) || node.full_name() != "aten.where.self") continue;
    aten::Builder b(graph, nothing, aten::Builder::Mode::kRecord, node.loc());
    b.set_insertion_point(&node);
    Value* made = fuse_safe_softmax(node, b);
    if (made == nullptr) made = fuse_prelu(node, b);
    if (made == nullptr) made = fuse_softplus(node, b);
    if (made == nullptr) made = fuse_celu(node, b);
    if (made == nullptr) continue;
    made->set_name(node.result().name());
    graph.replace_all_uses(node.result(), *made);
    context.changed = true;
  }
  return ok();
}

}  // namespace tosaic
