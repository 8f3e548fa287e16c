// SPDX-License-Identifier: Apache-2.0
#include "driver/layers.h"

#include <algorithm>
#include <unordered_map>

#include "tosa/ops.h"

namespace tosaic {
namespace {

/// Moves elements and computes nothing: what a choice of layout costs.
bool is_layout_copy(const Node* node) {
  return node != nullptr && node->is(tosa::transpose);
}

/// Nodes by their index in Vela's source.
std::vector<const Node*> list_nodes(const Graph& graph) {
  std::vector<const Node*> nodes;
  nodes.reserve(graph.num_nodes());
  for (const Node& node : graph.nodes())
    nodes.push_back(&node);
  return nodes;
}

class LayerTable {
 public:
  explicit LayerTable(DelegateReport& delegate) : delegate_(delegate) {}

  void add(const VelaOp& op, const Node* node) {
    if (is_layout_copy(node)) {
      ++delegate_.layout_copies.num_ops;
      delegate_.layout_copies.cycles += op.cycles;
      return;
    }
    LayerReport& layer = layer_of(node);
    if (std::ranges::find(layer.kinds, op.kind) == layer.kinds.end())
      layer.kinds.push_back(op.kind);
    ++layer.num_ops;
    layer.cycles += op.cycles;
    layer.macs += op.macs;
    layer.sram_bytes = std::max(layer.sram_bytes, op.staging_bytes);
  }

 private:
  LayerReport& layer_of(const Node* node) {
    const Loc loc = node == nullptr ? nullptr : node->loc();
    const auto [known, is_new_loc] = by_loc_.try_emplace(loc, 0);
    if (is_new_loc) {
      Location where = resolve(loc);
      // A module is one layer, whichever of its lines a node stands in.
      const std::string key =
          where.scope.empty() ? fmt::format("{}:{}", where.file, where.line) : where.scope;
      const auto [it, is_new] = by_place_.try_emplace(key, delegate_.layers.size());
      if (is_new) delegate_.layers.push_back({.where = std::move(where)});
      known->second = it->second;
    }
    return delegate_.layers[known->second];
  }

  DelegateReport& delegate_;
  std::unordered_map<Loc, size_t> by_loc_;
  std::unordered_map<std::string, size_t> by_place_;
};

uint64_t sram_of(const DelegateReport& d) {
  for (const VelaMemory& m : d.performance.memories) {
    if (m.name == "Sram") return m.peak_bytes;
  }
  // The command reports no memories; a mode without SRAM is not told from one with it.
  return d.performance.memories.empty() ? d.scratch_bytes : 0;
}

uint64_t io_bytes_saved(const CompileReport& report) {
  uint64_t saved = 0;
  for (const auto* side : {&report.inputs, &report.outputs}) {
    for (const IoReport& io : *side) {
      if (io.dtype != "float32") continue;
      uint64_t elements = 1;
      for (int64_t size : io.shape)
        elements *= static_cast<uint64_t>(size);
      saved += 4 * elements;
    }
  }
  return saved;
}

}  // namespace

void report_layers(const Graph& tosa, size_t first_node, const VelaResult& vela,
                   DelegateReport& delegate) {
  const std::vector<const Node*> nodes = list_nodes(tosa);
  LayerTable table(delegate);
  for (const VelaOp& op : vela.ops) {
    const int64_t index = op.source_op - static_cast<int64_t>(first_node);
    const bool is_known = index >= 0 && index < static_cast<int64_t>(nodes.size());
    table.add(op, is_known ? nodes[static_cast<size_t>(index)] : nullptr);
  }
  const auto peak = std::ranges::max_element(delegate.layers, {}, &LayerReport::sram_bytes);
  if (peak != delegate.layers.end() && peak->sram_bytes > 0) {
    delegate.peak_layer = static_cast<size_t>(peak - delegate.layers.begin());
  }
  if (vela.core_clock_hz > 0 && vela.performance.total_cycles > 0) {
    delegate.seconds = static_cast<double>(vela.performance.total_cycles) / vela.core_clock_hz;
  }
}

void report_memory(CompileReport& report) {
  uint64_t scratch = 0;
  for (const DelegateReport& d : report.delegates)
    scratch = std::max(scratch, sram_of(d));
  report.sram_bytes = report.planned_bytes + scratch;
}

Status check_sram(const CompileReport& report, uint64_t limit) {
  if (limit == 0 || report.sram_bytes <= limit) return ok();
  Diagnostic d = error(Code::kSramLimit,
                       "the program needs {} bytes of SRAM, --sram-limit allows {}: {} too many",
                       report.sram_bytes, limit, report.sram_bytes - limit);
  const auto largest = std::ranges::max_element(report.delegates, {}, sram_of);
  uint64_t scratch = 0;
  if (largest != report.delegates.end()) {
    scratch = sram_of(*largest);
    d.notes.push_back(fmt::format("{} bytes are the scratch of {}", scratch, largest->name));
    if (largest->peak_layer) {
      const LayerReport& peak = largest->layers[*largest->peak_layer];
      d.where = peak.where;
      d.notes.push_back(fmt::format("its peak is {} bytes in {} ({})", peak.sram_bytes,
                                    peak.where.scope.empty() ? "this layer" : peak.where.scope,
                                    fmt::join(peak.kinds, ", ")));
    }
  }
  d.notes.push_back(
      fmt::format("{} bytes are values outside the delegates, inputs and outputs among them",
                  report.planned_bytes));
  std::vector<std::string> ways;
  if (const uint64_t saved = io_bytes_saved(report); saved > 0) {
    ways.push_back(fmt::format("--io-dtype int8 (leaves out {} bytes of floats)", saved));
  }
  ways.emplace_back("--optimise size");
  ways.emplace_back("a --memory-mode that keeps scratch in other memory");
  ways.emplace_back("a smaller input or a stride in the layer at the peak");
  d.hint = fmt::format("what may help: {}", fmt::join(ways, "; "));
  return d;
}

}  // namespace tosaic
