// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unordered_map>

#include "ir/graph.h"

namespace tosaic {

/// Effects of a module's nodes: those of their operators (OpDef::effect) and of all graphs that
/// attributes name, which a node may run. What a pass adds is assumed to be pure.
class Effects {
 public:
  /// The module is looked at when the first node that names a graph is asked about.
  explicit Effects(const Module& module) : module_(module) {}

  Effect of(const Node& node);
  bool writes(const Node& node) { return of(node) == Effect::kWrites; }
  bool is_pure(const Node& node) { return of(node) == Effect::kNone; }

 private:
  void find_all();

  const Module& module_;
  bool found_ = false;
  std::unordered_map<const Graph*, Effect> of_graph_;  // those that are not pure
};

}  // namespace tosaic
