// SPDX-License-Identifier: Apache-2.0
// Writes transposes with as few axes as they have: axes of size 1 do not count, and neighbours that
// stay neighbours are one.
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
#include <algorithm>
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

}  // namespace

Status run_merge_axes(Graph& graph, PassContext& context) {
  Rewriter rewriter(graph, context);
  for (Node& node : graph.nodes()) {
    if (!node.is(tosa::transpose)) continue;
    const Permutation perm(tosa::read_attrs<tosa::TransposeAttrs>(node).perms);
    const Merged merged = merge(node.operand(0)->shape(), perm);
    const bool is_less = merged.perm.size() >= 2 && merged.perm.size() <= kMovedAtOnce;
    if (perm.rank() <= static_cast<int>(kMovedAtOnce) || !is_less) continue;
    tosa::Builder& b = rewriter.before(node);
    Value* x = b.reshape(node.operand(0), Shape(merged.sizes));
    rewriter.replace(node, b.reshape(b.transpose(x, merged.perm), node.result().shape()));
  }
  return ok();
}

}  // namespace tosaic
