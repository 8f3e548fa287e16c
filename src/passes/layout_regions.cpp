// SPDX-License-Identifier: Apache-2.0
#include "passes/layout_regions.h"

#include <algorithm>
#include <limits>

#include "tosa/attrs.h"
#include "tosa/op.h"
#include "tosa/ops.h"

namespace tosaic {
namespace {

using Layouts = std::unordered_map<const Value*, Permutation>;

/// More layouts than this are never compared for one region.
constexpr size_t kMaxCandidates = 8;

int64_t bytes_of(const Value& value) {
  return static_cast<int64_t>(element_bytes(value.dtype())) * value.shape().num_elements();
}

/// Bytes that TRANSPOSE moves to give `value`, or the same elements in another order; `from` are
/// the sizes of its operand.
int64_t cost(const Value& value, const Shape& from, const Permutation& perm) {
  return moves_nothing(from, perm) ? 0 : bytes_of(value);
}

template <typename Fn>
void for_each_user(const Value& value, Fn fn) {
  for (const Use* use = value.first_use(); use != nullptr; use = use->next())
    fn(use->user());
}

/// Values that share a layout, in execution order, and what they are made from.
struct Region {
  std::vector<const Value*> values;
};

/// Regions as sets of values that are merged (union-find).
class Regions {
 public:
  explicit Regions(const Graph& graph) {
    for (const Node& node : graph.nodes()) {
      const int n = num_flexible_operands(node);
      if (n == 0 || node.result().shape().rank() < 2) continue;
      const int result = index_of(node.result());
      for (int i = 0; i < n; ++i) {
        if (!node.operand(i)->is_constant()) merge(result, index_of(*node.operand(i)));
      }
    }
  }

  std::vector<Region> take() {
    std::vector<Region> regions;
    std::unordered_map<int, size_t> number;
    for (size_t i = 0; i < values_.size(); ++i) {
      const auto [it, is_new] = number.try_emplace(root(static_cast<int>(i)), regions.size());
      if (is_new) regions.emplace_back();
      regions[it->second].values.push_back(values_[i]);
    }
    return regions;
  }

 private:
  int index_of(const Value& value) {
    const auto [it, is_new] = index_.try_emplace(&value, static_cast<int>(values_.size()));
    if (is_new) {
      values_.push_back(&value);
      parent_.push_back(it->second);
    }
    return it->second;
  }
  int root(int i) {
    while (parent(i) != i) {
      parent(i) = parent(parent(i));
      i = parent(i);
    }
    return i;
  }
  int& parent(int i) { return parent_[static_cast<size_t>(i)]; }
  void merge(int a, int b) { parent(root(a)) = root(b); }

  std::unordered_map<const Value*, int> index_;
  std::vector<const Value*> values_;
  std::vector<int> parent_;
};

/// What one region costs in a layout.
class RegionCost {
 public:
  RegionCost(const Region& region, const Layouts& chosen) : region_(region), chosen_(chosen) {}

  std::vector<Permutation> candidates() const {
    std::vector<Permutation> found;
    const auto add = [&found](const Permutation& perm) {
      if (found.size() < kMaxCandidates && !perm.is_identity() &&
          std::ranges::find(found, perm) == found.end()) {
        found.push_back(perm);
      }
    };
    for (const Value* value : region_.values) {
      if (const auto perm = made_by(*value)) add(perm->inverse());
      for_each_user(*value, [&add](const Node& user) {
        if (const auto perm = transpose_of(&user)) add(*perm);
      });
    }
    return found;
  }

  int64_t operator()(const Permutation& layout) const {
    int64_t sum = 0;
    for (const Value* value : region_.values) {
      sum += is_inside(*value) ? exit_cost(*value, layout) : entry_cost(*value, layout);
    }
    return sum;
  }

 private:
  /// The TRANSPOSE that gives a value, seen from what the regions before have chosen.
  std::optional<Permutation> made_by(const Value& value) const {
    const auto perm = transpose_of(value.def());
    if (!perm) return std::nullopt;
    const auto it = chosen_.find(value.def()->operand(0));
    return it == chosen_.end() ? *perm : it->second.inverse().then(*perm);
  }

  /// Computed by a node of the region.
  static bool is_inside(const Value& value) {
    return value.def() != nullptr && num_flexible_operands(*value.def()) > 0;
  }

  /// A use that takes the value in the region's layout: what it gives is in the region too.
  static bool is_used_inside(const Node& user) {
    return num_flexible_operands(user) > 0 && user.result().shape().rank() >= 2;
  }

  /// What it costs to have a value from outside in a layout, unless it is needed so in any case.
  int64_t entry_cost(const Value& value, const Permutation& layout) const {
    const auto made = made_by(value);
    const Shape from = made ? made->inverse().apply(value.shape()) : value.shape();
    bool exists = false;
    for_each_user(value, [&](const Node& user) {
      if (is_used_inside(user)) return;
      if (const auto perm = transpose_of(&user)) {
        exists = exists || *perm == layout;
      } else if (layout.is_identity()) {
        exists = exists || !made || !passes_for_free(from, *made, user);
      }
    });
    return exists ? 0 : cost(value, from, made ? made->then(layout) : layout);
  }

  /// What it costs to give a result of the region to its users outside. Each order of axes that
  /// they want is made once.
  int64_t exit_cost(const Value& value, const Permutation& layout) const {
    const Permutation back = layout.inverse();
    const Shape from = layout.apply(value.shape());
    std::vector<uint32_t> made;
    int64_t sum = 0;
    for_each_user(value, [&](const Node& user) {
      if (is_used_inside(user)) return;
      const auto perm = transpose_of(&user);
      const Permutation whole = perm ? back.then(*perm) : back;
      if (!perm && passes_for_free(from, whole, user)) return;
      if (std::ranges::find(made, whole.code()) != made.end()) return;
      made.push_back(whole.code());
      sum += cost(value, from, whole);
    });
    return sum;
  }

  /// A RESHAPE behind which the TRANSPOSE meets its inverse, or a sum that takes any order.
  static bool passes_for_free(const Shape& from, const Permutation& perm, const Node& user) {
    if (!user.is(tosa::reshape) || perm.is_identity()) return false;
    const auto swapped = swap_reshape(from, perm, user.result().shape());
    bool free = user.result().has_uses();
    for_each_user(user.result(), [&](const Node& next) {
      const auto turn = transpose_of(&next);
      const bool cancels =
          turn && swapped && moves_nothing(swapped->shape, swapped->perm.then(*turn));
      free = free && (cancels || (perm[0] == 0 && sums_channels_in_any_order(next)));
    });
    return free;
  }

  const Region& region_;
  const Layouts& chosen_;
};

/// Axes of a tensor that multiply to the same size before and after a RESHAPE.
struct AxisGroup {
  int from_begin, from_end;
  int to_begin, to_end;
};

/// The finest such groups. Both shapes have the same number of elements, all sizes 1 or more.
std::vector<AxisGroup> axis_groups(const Shape& from, const Shape& to) {
  std::vector<AxisGroup> groups;
  int i = 0;
  int j = 0;
  while (i < from.rank() || j < to.rank()) {
    AxisGroup g{i, i, j, j};
    int64_t a = g.from_end < from.rank() ? from[g.from_end++] : 1;
    int64_t b = g.to_end < to.rank() ? to[g.to_end++] : 1;
    while (a != b) {
      if (a < b) {
        a *= from[g.from_end++];
      } else {
        b *= to[g.to_end++];
      }
    }
    // Axes of size 1 at an end go along, so that no group has axes on one side only.
    if (g.from_end == from.rank()) g.to_end = to.rank();
    if (g.to_end == to.rank()) g.from_end = from.rank();
    i = g.from_end;
    j = g.to_end;
    groups.push_back(g);
  }
  return groups;
}

}  // namespace

std::optional<Permutation> transpose_of(const Node* node) {
  if (node == nullptr || !node->is(tosa::transpose)) return std::nullopt;
  return Permutation(tosa::read_attrs<tosa::TransposeAttrs>(*node).perms);
}

int num_flexible_operands(const Node& node) {
  if (node.op().dialect != Dialect::kTosa || node.num_results() != 1) return 0;
  const tosa::OpSpec& spec = tosa::spec(node.op());
  switch (spec.axis_rule) {
    case tosa::AxisRule::kFixed:
      return 0;
    case tosa::AxisRule::kAxisAttr:
      return node.num_operands();
    case tosa::AxisRule::kElementwise: {
      // The float profile transposes no integers.
      if (is_float(node.result().dtype()) != is_float(node.operand(0)->dtype()) &&
          node.is(tosa::cast)) {
        return 0;
      }
      // Factors per channel belong to the last axis.
      const Attr* per_channel = node.attr("per_channel");
      return per_channel != nullptr && per_channel->as_bool() ? 0 : spec.num_data;
    }
    case tosa::AxisRule::kPerAxisOperands:
      return spec.num_data;
  }
  return 0;
}

std::unordered_map<const Value*, Permutation> choose_layouts(const Graph& graph) {
  Layouts chosen;
  for (const Region& region : Regions(graph).take()) {
    const RegionCost region_cost(region, chosen);
    const std::vector<Permutation> candidates = region_cost.candidates();
    if (candidates.empty()) continue;
    int64_t least = region_cost(Permutation::identity(region.values[0]->shape().rank()));
    const Permutation* best = nullptr;
    for (const Permutation& candidate : candidates) {
      const int64_t bytes = region_cost(candidate);
      if (bytes >= least) continue;
      least = bytes;
      best = &candidate;
    }
    if (best == nullptr) continue;
    for (const Value* value : region.values) {
      if (value->def() != nullptr && num_flexible_operands(*value->def()) > 0) {
        chosen.emplace(value, *best);
      }
    }
  }
  return chosen;
}

std::optional<SwappedReshape> swap_reshape(const Shape& from, const Permutation& perm,
                                           const Shape& to) {
  const Shape middle = perm.apply(from);
  const std::vector<AxisGroup> groups = axis_groups(middle, to);
  // Where each group lies in the operand: its axes must follow each other there.
  struct Place {
    int first = std::numeric_limits<int>::max();
    size_t group = 0;
  };
  std::vector<Place> places;
  for (size_t g = 0; g < groups.size(); ++g) {
    Place place{.group = g};
    // Axes of size 1 alone can lie anywhere; they stay where they are.
    if (groups[g].from_begin < groups[g].from_end) place.first = perm[groups[g].from_begin];
    int last = -1;
    for (int i = groups[g].from_begin; i < groups[g].from_end; ++i) {
      if (middle[i] == 1) continue;
      if (last < 0) {
        place.first = perm[i];
      } else {
        for (int between = last + 1; between != perm[i]; ++between) {
          if (between >= perm[i] || from[between] != 1) return std::nullopt;
        }
      }
      last = perm[i];
    }
    places.push_back(place);
  }
  std::ranges::stable_sort(places, {}, &Place::first);
  std::vector<int64_t> sizes;
  std::vector<int64_t> back(static_cast<size_t>(to.rank()));
  for (const Place& place : places) {
    for (int j = groups[place.group].to_begin; j < groups[place.group].to_end; ++j) {
      back[static_cast<size_t>(j)] = static_cast<int64_t>(sizes.size());
      sizes.push_back(to[j]);
    }
  }
  return SwappedReshape{Shape(sizes), Permutation(back)};
}

bool sums_channels_in_any_order(const Node& node) {
  if (!node.is(tosa::conv2d)) return false;
  const Shape& x = node.operand(0)->shape();
  const Value& weight = *node.operand(1);
  const auto attrs = tosa::read_attrs<tosa::Conv2dAttrs>(node);
  return weight.is_constant() && is_integer(attrs.acc_type) && weight.shape()[1] == 1 &&
         weight.shape()[2] == 1 && x[1] == 1 && x[2] == 1;
}

}  // namespace tosaic
