// SPDX-License-Identifier: Apache-2.0
// Writes transposes and slices with as few axes as they have: axes of size 1 do not count, and
// neighbours that stay neighbours, or of which the inner one is left whole, are one.
//
//   %a: i8[3,1,3,17,16] = tosa.transpose(%x) {perms = [2,0,3,1,4]}       // %x: i8[1,17,3,3,16]
// =>
//   %r: i8[17,9,16] = tosa.reshape(%x)
//   %t: i8[9,17,16] = tosa.transpose(%r) {perms = [1,0,2]}
//   %a: i8[3,1,3,17,16] = tosa.reshape(%t)
//
// An NPU moves data of up to four axes; what has more is taken apart into many moves, for Ethos-U55
// into one for each element of the outer axes. Transposes of up to four axes stay: those between
// NCHW and NHWC are moved well as they are, and badly when height and width are one axis.
// Vela 5.2.0 crashes on what reads images from a slice of five axes, the first of size 1, through a
// RESHAPE.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "passes/passes.h"
#include "passes/permutation.h"
#include "passes/rewriter.h"
#include "tosa/ops.h"

namespace tosaic {
namespace {

constexpr size_t kMovedAtOnce = 4;

/// A transpose on merged axes.
struct Merged {
  std::vector<int64_t> sizes;  ///< of the operand
  std::vector<int64_t> perm;
};

Merged merge(const Shape& shape, const Permutation& perm) {
  // Runs of the operand's axes, in the order of the result.
  std::vector<std::pair<int, int>> runs;
  int last = -2;  // the operand's axis that the last run ends with
  for (int i = 0; i < perm.rank(); ++i) {
    const int axis = perm[i];
    if (shape[axis] == 1) continue;
    bool follows = last >= 0 && axis > last;
    for (int between = last + 1; follows && between < axis; ++between)
      follows = shape[between] == 1;
    if (follows) {
      runs.back().second = axis;
    } else {
      runs.emplace_back(axis, axis);
    }
    last = axis;
  }
  Merged merged;
  std::vector<std::pair<int, int>> sorted = runs;
  std::ranges::sort(sorted);
  for (const auto& [first, end] : sorted) {
    int64_t size = 1;
    for (int axis = first; axis <= end; ++axis)
      size *= shape[axis];
    merged.sizes.push_back(size);
  }
  for (const auto& run : runs)
    merged.perm.push_back(std::ranges::find(sorted, run) - sorted.begin());
  return merged;
}

/// A slice on merged axes.
struct Part {
  std::vector<int64_t> sizes;  ///< of the operand
  std::vector<int64_t> start, size;
};

/// `into_cut`: also of axes of which the outer one is cut.
Part merged_part(const Node& slice, bool into_cut) {
  const Shape& from = slice.operand(0)->shape();
  const Shape& to = slice.result().shape();
  const std::vector<int64_t> start = int_values(*slice.operand(1)->constant());
  Part part;
  for (int i = 0; i < from.rank(); ++i) {
    const int64_t first = start[static_cast<size_t>(i)];
    const bool is_whole = to[i] == from[i];
    const bool follows_whole = !part.sizes.empty() && part.sizes.back() == part.size.back();
    const bool merges = !part.sizes.empty() &&
                        (part.sizes.back() == 1 || (is_whole && (follows_whole || into_cut)));
    if (!merges) {
      part.sizes.push_back(from[i]);
      part.start.push_back(first);
      part.size.push_back(to[i]);
    } else {
      part.start.back() = part.start.back() * from[i] + first;
      part.sizes.back() *= from[i];
      part.size.back() *= to[i];
    }
  }
  return part;
}

/// The transpose on fewer axes; nullptr: it stays.
Value* with_fewer_axes(const Node& node, tosa::Builder& b) {
  const Permutation perm(tosa::read_attrs<tosa::TransposeAttrs>(node).perms);
  const Merged merged = merge(node.operand(0)->shape(), perm);
  if (merged.perm.size() < 2 || merged.perm.size() > kMovedAtOnce) return nullptr;
  return b.transpose(b.reshape(node.operand(0), Shape(merged.sizes)), merged.perm);
}

/// The slice on merged axes. Where more than four are left, a first of which one place is taken
/// is cut alone.
Value* slice_part(tosa::Builder& b, Value* x, const Part& part) {
  x = b.reshape(x, Shape(part.sizes));
  if (part.sizes.size() <= kMovedAtOnce || part.size[0] != 1)
    return b.slice(x, part.start, part.size);
  const int64_t inner = x->shape().num_elements() / part.sizes[0];
  x = b.slice(b.reshape(x, {part.sizes[0], inner}), std::array<int64_t, 2>{part.start[0], 0},
              std::array<int64_t, 2>{1, inner});
  const auto rest = [](const std::vector<int64_t>& v) {
    return std::vector<int64_t>(v.begin() + 1, v.end());
  };
  return slice_part(b, x, {rest(part.sizes), rest(part.start), rest(part.size)});
}

Value* slice_part(tosa::Builder& b, const Node& node) {
  Part part = merged_part(node, false);
  if (part.sizes.size() > kMovedAtOnce) part = merged_part(node, true);
  return slice_part(b, node.operand(0), part);
}

}  // namespace

Status run_merge_axes(Graph& graph, PassContext& context) {
  Rewriter rewriter(graph, context);
  for (Node& node : graph.nodes()) {
    const bool slices = node.is(tosa::slice);
    if (!slices && !node.is(tosa::transpose)) continue;
    if (node.operand(0)->shape().rank() <= static_cast<int>(kMovedAtOnce)) continue;
    tosa::Builder& b = rewriter.before(node);
    Value* y = slices ? slice_part(b, node) : with_fewer_axes(node, b);
    if (y != nullptr) rewriter.replace(node, b.reshape(y, node.result().shape()));
  }
  return ok();
}

}  // namespace tosaic
