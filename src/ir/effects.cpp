// SPDX-License-Identifier: Apache-2.0
#include "ir/effects.h"

#include <algorithm>
#include <vector>

namespace tosaic {
namespace {

/// Calls `f` with each graph that the node names.
template <typename F>
void for_each_named(const Node& node, F&& f) {
  for (const NamedAttr& attr : node.attrs()) {
    if (attr.value.kind() != Attr::Kind::kGraph) continue;
    const Graph* graph = node.graph().module().find_graph(attr.value.as_string());
    if (graph != nullptr) f(*graph);
  }
}

}  // namespace

/// Each graph's own effects, then from the graphs that have some to those that name them, until
/// nothing changes: a graph is looked at again at most once for each effect.
void Effects::find_all() {
  std::unordered_map<const Graph*, std::vector<const Graph*>> namers;
  std::vector<const Graph*> changed;
  for (const auto& graph : module_.graphs()) {
    Effect own = Effect::kNone;
    for (const Node& node : graph->nodes()) {
      own = std::max(own, node.op().effect);
      for_each_named(node, [&](const Graph& named) { namers[&named].push_back(graph.get()); });
    }
    if (own == Effect::kNone) continue;
    of_graph_.emplace(graph.get(), own);
    changed.push_back(graph.get());
  }
  while (!changed.empty()) {
    const Graph* graph = changed.back();
    changed.pop_back();
    const Effect effect = of_graph_.at(graph);
    for (const Graph* namer : namers[graph]) {
      Effect& known = of_graph_.try_emplace(namer, Effect::kNone).first->second;
      if (known >= effect) continue;
      known = effect;
      changed.push_back(namer);
    }
  }
  found_ = true;
}

Effect Effects::of(const Node& node) {
  Effect effect = node.op().effect;
  for_each_named(node, [&](const Graph& named) {
    if (!found_) find_all();
    if (const auto it = of_graph_.find(&named); it != of_graph_.end()) {
      effect = std::max(effect, it->second);
    }
  });
  return effect;
}

}  // namespace tosaic
