// SPDX-License-Identifier: Apache-2.0
// Makes constants of equal dtype, sizes and content one value.
//
//   %a = const i8[1] [3]
//   %b = const i8[1] [3]                      %a = const i8[1] [3]
//   %0: i8[2] = tosa.pad(%x, %p, %a)    =>    %0: i8[2] = tosa.pad(%x, %p, %a)
//   %1: i8[3] = tosa.pad(%0, %p, %b)          %1: i8[3] = tosa.pad(%0, %p, %a)
//
// Quantisation parameters of constants say nothing that the operations do not know by themselves,
// so values that differ in them alone are shared too. The content is only hashed where there is
// another constant of the same type, since a network's weights are most of its bytes. Constants
// that are the graph's own outputs stay apart.
#include <unordered_map>
#include <vector>

#include "passes/passes.h"
#include "passes/rewriter.h"

namespace tosaic {
namespace {

uint64_t type_hash(const Constant& constant) {
  auto hash = static_cast<uint64_t>(constant.dtype) + 1;
  for (const int64_t size : constant.shape)
    hash = (hash ^ static_cast<uint64_t>(size)) * 0x9e3779b97f4a7c15;
  return hash;
}

/// Replaces each constant by the first one of equal content.
bool share(Graph& graph, const std::vector<Value*>& constants) {
  bool changed = false;
  std::unordered_multimap<uint64_t, Value*> seen;
  for (Value* value : constants) {
    const uint64_t hash = value->constant()->content_hash();
    const auto [begin, end] = seen.equal_range(hash);
    Value* same = nullptr;
    for (auto it = begin; same == nullptr && it != end; ++it) {
      if (it->second->constant()->equals(*value->constant())) same = it->second;
    }
    if (same == nullptr) {
      seen.emplace(hash, value);
    } else {
      graph.replace_all_uses(*value, *same);
      changed = true;
    }
  }
  return changed;
}

}  // namespace

Status run_share_constants(Graph& graph, PassContext& context) {
  std::unordered_map<uint64_t, size_t> group_of;
  std::vector<std::vector<Value*>> groups;  // in order of creation, so that the result is one
  for (Value* value : graph.constants()) {
    if (is_output(*value)) continue;
    const auto [it, is_new] = group_of.try_emplace(type_hash(*value->constant()), groups.size());
    if (is_new) groups.emplace_back();
    groups[it->second].push_back(value);
  }
  for (const std::vector<Value*>& group : groups) {
    if (group.size() > 1 && share(graph, group)) context.changed = true;
  }
  return ok();
}

}  // namespace tosaic
