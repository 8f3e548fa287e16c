// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/graph.h"
#include "support/check.h"

namespace tosaic {
namespace {

uint64_t mix(uint64_t hash, uint64_t value) {
  return (std::rotl(hash, 27) ^ value) * 0x9e3779b97f4a7c15;
}

uint64_t hash_quant(std::span<const double> scales, std::span<const int32_t> zero_points, int axis,
                    int64_t qmin, int64_t qmax) {
  uint64_t hash = mix(static_cast<uint64_t>(axis), static_cast<uint64_t>(qmin));
  hash = mix(hash, static_cast<uint64_t>(qmax));
  for (double scale : scales)
    hash = mix(hash, std::bit_cast<uint64_t>(scale));
  for (int32_t zero_point : zero_points)
    hash = mix(hash, static_cast<uint32_t>(zero_point));
  return hash ^ (hash >> 32);
}

/// By bit patterns, so that a NaN out of a damaged file is equal to itself.
bool same_scales(std::span<const double> a, std::span<const double> b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::bit_cast<uint64_t>(x) == std::bit_cast<uint64_t>(y);
  });
}

}  // namespace

Graph& Module::add_graph(std::string_view name, Dialect dialect) {
  TOSAIC_CHECK(find_graph(name) == nullptr, "the name of a new graph is new");
  const std::string_view owned = intern(name);
  graphs_.push_back(std::make_unique<Graph>(*this, owned, dialect));
  by_name_.emplace(owned, graphs_.back().get());
  return *graphs_.back();
}

Graph* Module::find_graph(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

void Module::erase_graph(std::string_view name) {
  const auto it = by_name_.find(name);
  TOSAIC_CHECK(it != by_name_.end(), "an erased graph exists");
  Graph* graph = it->second;
  by_name_.erase(it);
  std::erase_if(graphs_, [&](const auto& owner) { return owner.get() == graph; });
}

void Module::rename_graph(Graph& graph, std::string_view name) {
  TOSAIC_CHECK(find_graph(name) == nullptr, "a graph's new name is free");
  by_name_.erase(graph.name_);
  graph.name_ = intern(name);
  by_name_[graph.name_] = &graph;
}

std::string_view Module::unique_graph_name(std::string_view stem) {
  if (find_graph(stem) == nullptr) return intern(stem);
  // Numbers below this were taken before; going on from there keeps many names linear.
  int& next = next_suffix_[intern(stem)];
  std::string name;
  do {
    name = fmt::format("{}{}", stem, next++);
  } while (find_graph(name) != nullptr);
  return intern(name);
}

std::string_view Module::intern(std::string_view text) {
  if (text.empty()) return {};
  const auto it = strings_.find(text);
  if (it != strings_.end()) return *it;
  return *strings_.insert(arena_.copy(text)).first;
}

AttrList Module::copy_attrs(AttrList attrs) {
  const std::span<NamedAttr> copies = arena_.make_span<NamedAttr>(attrs.size());
  for (size_t i = 0; i < attrs.size(); ++i) {
    copies[i] = {intern(attrs[i].name), intern(attrs[i].value)};
  }
  return copies;
}

const Quant* Module::quant(std::span<const double> scales, std::span<const int32_t> zero_points,
                           int axis, int64_t qmin, int64_t qmax) {
  TOSAIC_CHECK(!scales.empty() && scales.size() == zero_points.size(),
               "as many zero points as scales");
  const uint64_t hash = hash_quant(scales, zero_points, axis, qmin, qmax);
  const auto [begin, end] = quants_.equal_range(hash);
  for (auto it = begin; it != end; ++it) {
    const Quant& known = *it->second;
    if (known.axis == axis && known.qmin == qmin && known.qmax == qmax &&
        same_scales(known.scales, scales) && std::ranges::equal(known.zero_points, zero_points)) {
      return &known;
    }
  }
  Quant* made = arena_.make<Quant>();
  made->scales = arena_.copy(scales);
  made->zero_points = arena_.copy(zero_points);
  made->axis = axis;
  made->qmin = qmin;
  made->qmax = qmax;
  quants_.emplace(hash, made);
  return made;
}

const Quant* Module::quant(double scale, int32_t zero_point, int64_t qmin, int64_t qmax) {
  return quant({&scale, 1}, {&zero_point, 1}, -1, qmin, qmax);
}

const Quant* Module::with_axis(const Quant& source, int axis) {
  return quant(source.scales, source.zero_points, axis, source.qmin, source.qmax);
}

}  // namespace tosaic
