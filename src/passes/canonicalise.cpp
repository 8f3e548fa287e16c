// SPDX-License-Identifier: Apache-2.0
// Removes nodes that change nothing, merges neighbours that are one operation, computes what is
// known, and makes equal nodes one.
//
//   %a: i8[4,2] = tosa.reshape(%x, [4,2])
//   %b: i8[8] = tosa.reshape(%a, [8])          %b: i8[8] = tosa.reshape(%x, [8])
//   %c: i8[8] = tosa.identity(%b)        =>    %d: i8[8] = tosa.clamp(%b) {0, 5}
//   %d: i8[8] = tosa.clamp(%c) {0, 5}          return %d
//   return %d
//
// Every output keeps its name and its quantisation parameters, and stays a value that a node
// computes (an IDENTITY where nothing else is left). One walk in execution order: operands are
// simple before their users are looked at.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_map>
#include <vector>

#include "ir/effects.h"
#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/rewriter.h"
#include "tosa/ops.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

/// Results of at most this many bytes are computed even when the operands are smaller.
constexpr size_t kSmallBytes = 4096;

const Node* def(const Value& value, const OpDef& op) {
  const Node* node = value.def();
  return node != nullptr && node->is(op) ? node : nullptr;
}

std::vector<int64_t> shape_operand(const Node& node, int i) {
  return int_values(*node.operand(i)->constant());
}

bool all_equal(const std::vector<int64_t>& values, int64_t to) {
  return std::ranges::all_of(values, [to](int64_t v) { return v == to; });
}

Value* simplify_reshape(const Node& node, tosa::Builder& b) {
  Value& x = *node.operand(0);
  const Shape& shape = node.result().shape();
  const bool folds = x.shape() == shape || x.is_constant() || def(x, tosa::reshape) != nullptr;
  return folds ? b.reshape(&x, shape) : nullptr;
}

Value* simplify_transpose(const Node& node, tosa::Builder& b) {
  Value& x = *node.operand(0);
  const Permutation perm(tosa::read_attrs<tosa::TransposeAttrs>(node).perms);
  if (moves_nothing(x.shape(), perm)) return b.reshape(&x, node.result().shape());
  const bool folds = x.is_constant() || def(x, tosa::transpose) != nullptr;
  if (!folds) return nullptr;
  Value* whole = b.layout_transpose(&x, perm.axes());
  // Two transposes may be one that only moves axes of size 1.
  const Node* left = whole->def();
  if (left == nullptr || !left->is(tosa::transpose)) return whole;
  const Permutation both(tosa::read_attrs<tosa::TransposeAttrs>(*left).perms);
  if (!moves_nothing(left->operand(0)->shape(), both)) return whole;
  return b.reshape(left->operand(0), node.result().shape());
}

Value* simplify_slice(const Node& node, tosa::Builder& b) {
  Value* x = node.operand(0);
  const Shape& shape = node.result().shape();
  if (x->shape() == shape) return x;
  std::vector<int64_t> start = shape_operand(node, 1);
  if (x->is_constant()) return b.slice(x, start, shape.sizes());
  const Node* inner = def(*x, tosa::slice);
  if (inner == nullptr) return nullptr;
  const std::vector<int64_t> inner_start = shape_operand(*inner, 1);
  for (size_t i = 0; i < start.size(); ++i)
    start[i] += inner_start[i];
  return b.slice(inner->operand(0), start, shape.sizes());
}

/// A limit of CLAMP after a CLAMP to [min, max].
tosa::Scalar limited(const tosa::Scalar& value, const tosa::ClampAttrs& to) {
  return value.is_float ? tosa::Scalar::of(std::clamp(value.f, to.min_val.f, to.max_val.f))
                        : tosa::Scalar::of(std::clamp(value.i, to.min_val.i, to.max_val.i));
}

Value* simplify_clamp(const Node& node, tosa::Builder& b) {
  Value* x = node.operand(0);
  const auto outer = tosa::read_attrs<tosa::ClampAttrs>(node);
  if (outer.nan_mode != tosa::NanMode::kPropagate) return nullptr;
  const bool whole_range = outer.min_val.is_float
                               ? std::isinf(outer.min_val.f) && std::isinf(outer.max_val.f) &&
                                     outer.min_val.f < outer.max_val.f
                               : outer.min_val.i <= integer_min(x->dtype()) &&
                                     outer.max_val.i >= integer_max(x->dtype());
  if (whole_range) return x;
  const Node* first = def(*x, tosa::clamp);
  if (first == nullptr) return nullptr;
  const auto inner = tosa::read_attrs<tosa::ClampAttrs>(*first);
  if (inner.nan_mode != tosa::NanMode::kPropagate) return nullptr;
  return b.emit(tosa::clamp, {first->operand(0)},
                tosa::ClampAttrs{limited(inner.min_val, outer), limited(inner.max_val, outer)});
}

/// The value that the node's result equals by its own rule; nullptr: none is known.
Value* simplify(const Node& node, tosa::Builder& b) {
  Value* x = node.num_operands() == 0 ? nullptr : node.operand(0);
  if (node.is(tosa::identity)) return x;
  if (node.is(tosa::reshape)) return simplify_reshape(node, b);
  if (node.is(tosa::transpose)) return simplify_transpose(node, b);
  if (node.is(tosa::slice)) return simplify_slice(node, b);
  if (node.is(tosa::clamp)) return simplify_clamp(node, b);
  if (node.is(tosa::pad)) return all_equal(shape_operand(node, 1), 0) ? x : nullptr;
  if (node.is(tosa::tile)) return all_equal(shape_operand(node, 1), 1) ? x : nullptr;
  if (node.is(tosa::concat)) return node.num_operands() == 1 ? x : nullptr;
  return nullptr;
}

/// The node's result as a constant, where all operands are; nullptr where it is no gain. Operations
/// that sum products stay: they are what the target is for, and the reference is slow.
Value* evaluated(const Node& node, tosa::Builder& b) {
  if (tosa::spec(node.op()).axis_rule == tosa::AxisRule::kFixed || node.num_results() != 1) {
    return nullptr;
  }
  size_t operand_bytes = 0;
  for (const Use& use : node.operands()) {
    if (!use.value()->is_constant()) return nullptr;
    operand_bytes += use.value()->constant()->num_bytes();
  }
  const TensorType& type = node.result().type();
  const size_t bytes = element_bytes(type.dtype) * static_cast<size_t>(type.shape.num_elements());
  if (bytes > std::max(operand_bytes, kSmallBytes)) return nullptr;
  const auto results = tosa::evaluate(node);
  if (!results) return nullptr;  // the values have no defined result; it is the program's fault
  return b.constant(b.module().constant(type.dtype, type.shape, (*results)[0].bytes));
}

/// Finds nodes that compute the same.
class Known {
 public:
  /// An earlier node that equals this one; else nullptr, and the node is remembered.
  Node* find_or_add(Node& node) {
    const uint64_t hash = hash_of(node);
    const auto [begin, end] = nodes_.equal_range(hash);
    for (auto it = begin; it != end; ++it) {
      if (equal(*it->second, node)) return it->second;
    }
    nodes_.emplace(hash, &node);
    return nullptr;
  }

 private:
  /// Constants of equal content are one operand; large ones are compared by identity.
  const Value* representative(const Value& value) {
    if (!value.is_constant() || value.constant()->num_bytes() > kSmallBytes) return &value;
    const auto [it, is_new] = same_as_.try_emplace(&value, &value);
    if (!is_new) return it->second;
    const uint64_t hash = value.constant()->content_hash();
    const auto [begin, end] = constants_.equal_range(hash);
    for (auto other = begin; other != end; ++other) {
      if (other->second->constant()->equals(*value.constant())) return it->second = other->second;
    }
    constants_.emplace(hash, &value);
    return &value;
  }

  uint64_t hash_of(const Node& node) {
    uint64_t hash = std::hash<const void*>()(&node.op());
    for (const Use& use : node.operands()) {
      hash = (hash ^ std::hash<const void*>()(representative(*use.value()))) * 0x9e3779b97f4a7c15;
      hash ^= hash >> 29;
    }
    return hash ^ static_cast<uint64_t>(node.result().dtype());
  }

  bool equal(const Node& a, const Node& b) {
    if (!a.is(b.op()) || a.num_operands() != b.num_operands()) return false;
    if (a.result().dtype() != b.result().dtype()) return false;
    for (int i = 0; i < a.num_operands(); ++i) {
      if (representative(*a.operand(i)) != representative(*b.operand(i))) return false;
    }
    return std::ranges::equal(a.attrs(), b.attrs());
  }

  std::unordered_multimap<uint64_t, Node*> nodes_;
  std::unordered_multimap<uint64_t, const Value*> constants_;
  std::unordered_map<const Value*, const Value*> same_as_;
};

}  // namespace

Status run_canonicalise(Graph& graph, PassContext& context) {
  Rewriter rewriter(graph, context);
  Known known;
  Effects effects(graph.module());
  for (Node& node : graph.nodes()) {
    if (node.op().dialect != Dialect::kTosa || node.num_results() != 1) continue;
    if (!effects.is_pure(node)) continue;
    tosa::Builder& b = rewriter.before(node);
    Value* value = simplify(node, b);
    if (value == nullptr) value = evaluated(node, b);
    Node* left = value != nullptr && rewriter.replace(node, value) ? value->def() : &node;
    // What is left may be an earlier node, of any kind.
    if (left == nullptr || !effects.is_pure(*left)) continue;
    Node* same = known.find_or_add(*left);
    if (same == nullptr || same == left) continue;
    rewriter.before(*left);
    rewriter.replace(*left, &same->result());
  }
  if (graph.erase_dead_nodes() > 0) context.changed = true;
  return ok();
}

}  // namespace tosaic
