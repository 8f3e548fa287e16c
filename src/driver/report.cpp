// SPDX-License-Identifier: Apache-2.0
#include "driver/report.h"

#include <algorithm>

#include "ir/type.h"
#include "support/printable.h"

namespace tosaic {
namespace {

std::string shape_text(const std::vector<int64_t>& shape) {
  return fmt::format("[{}]", fmt::join(shape, ","));
}

std::string bytes_text(uint64_t n) {
  if (n < 10 * 1024) return fmt::format("{} B", n);
  if (n < 10 * 1024 * 1024) return fmt::format("{:.1f} KiB", static_cast<double>(n) / 1024);
  return fmt::format("{:.1f} MiB", static_cast<double>(n) / (1024 * 1024));
}

std::string layer_name(const LayerReport& layer) {
  if (!layer.where.scope.empty()) return layer.where.scope;
  return layer.where.line == 0 ? "no place"
                               : fmt::format("{}:{}", layer.where.file, layer.where.line);
}

void append_io(std::string& text, std::string_view side, const std::vector<IoReport>& list) {
  for (const IoReport& io : list) {
    text += fmt::format("  {} {}: {}{}", side, io.name, io.dtype, shape_text(io.shape));
    if (io.layout != "contiguous") text += ", " + io.layout;
    if (io.scale) text += fmt::format(", scale {}, zero point {}", *io.scale, *io.zero_point);
    text += '\n';
  }
}

/// The costliest layers, then what moving data costs and where memory is short.
void append_layers(std::string& text, const DelegateReport& d) {
  constexpr size_t kShown = 5;
  uint64_t total = d.layout_copies.cycles;
  std::vector<const LayerReport*> order;
  for (const LayerReport& layer : d.layers) {
    total += layer.cycles;
    order.push_back(&layer);
  }
  if (total == 0) return;
  const auto share = [total](uint64_t cycles) {
    return 100 * static_cast<double>(cycles) / static_cast<double>(total);
  };
  std::ranges::stable_sort(order, std::ranges::greater(), &LayerReport::cycles);
  if (order.size() > kShown) order.resize(kShown);
  text += fmt::format("    costliest of {} layers:\n", d.layers.size());
  for (const LayerReport* layer : order) {
    text +=
        fmt::format("      {:4.1f} %  {:>9} cycles  {:>11} MACs  {} ({})\n", share(layer->cycles),
                    layer->cycles, layer->macs, layer_name(*layer), fmt::join(layer->kinds, ", "));
  }
  if (d.layout_copies.num_ops != 0) {
    text +=
        fmt::format("      {:4.1f} %  {:>9} cycles in {} copies that only change layout\n",
                    share(d.layout_copies.cycles), d.layout_copies.cycles, d.layout_copies.num_ops);
  }
  if (d.peak_layer) {
    const LayerReport& peak = d.layers[*d.peak_layer];
    text +=
        fmt::format("    peak of SRAM: {} in {}\n", bytes_text(peak.sram_bytes), layer_name(peak));
  }
}

void append_delegate(std::string& text, const DelegateReport& d) {
  text += fmt::format("  {}: {} nodes, {} TOSA operations, {} of TOSA\n", d.name, d.num_nodes,
                      d.num_tosa_ops, bytes_text(d.tosa_bytes));
  if (d.command_bytes == 0) return;
  text += fmt::format("    commands {}, weights {}, scratch {}\n", bytes_text(d.command_bytes),
                      bytes_text(d.weight_bytes), bytes_text(d.scratch_bytes));
  if (d.performance.total_cycles == 0) {
    text += "    Vela's estimate: n/a\n";
    return;
  }
  text +=
      fmt::format("    Vela's estimate: {} cycles ({} on the NPU), {} MACs, {} NPU operations\n",
                  d.performance.total_cycles, d.performance.npu_cycles, d.performance.macs,
                  d.performance.npu_ops);
  if (d.seconds > 0) {
    text += fmt::format("    {:.2f} ms an inference, {:.1f} inferences/s\n", d.seconds * 1e3,
                        1 / d.seconds);
  }
  append_layers(text, d);
  for (const VelaMemory& m : d.performance.memories) {
    text += fmt::format("    {}: peak {}\n", m.name, bytes_text(m.peak_bytes));
  }
}

/// A node that stays on the CPU, as a remark.
Diagnostic remark(const NodeReport& node, const CompileReport& r) {
  Diagnostic d;
  d.code = node.reason->code;
  d.severity = Severity::kRemark;
  d.message = node.reason->why;
  d.where = node.where;
  if (!node.type.empty()) d.notes.push_back(fmt::format("{} gives {}", node.op, node.type));
  d.notes.push_back(fmt::format("the node is not taken by {} and stays on the CPU", r.target));
  if (r.only_node.empty() && !node.command.empty()) {
    d.notes.push_back("show this alone with: " + node.command);
  }
  d.hint = node.reason->hint;
  return d;
}

/// Why nodes are on the CPU; when it was asked for there is nothing to explain.
void append_remarks(std::string& text, const CompileReport& r, bool color) {
  if (r.target == "cpu") return;
  for (const NodeReport& n : r.nodes) {
    if (n.reason) text += render(remark(n, r), color);
  }
}

size_t count(const CompileReport& r, std::string_view device) {
  return static_cast<size_t>(
      std::ranges::count_if(r.nodes, [&](const NodeReport& n) { return n.device == device; }));
}

/// "2 nodes on the CPU besides 3 that quantise or dequantise at borders"
std::string cpu_text(const CompileReport& r) {
  const auto num_borders = static_cast<size_t>(std::ranges::count_if(
      r.nodes, [](const NodeReport& n) { return n.device == "cpu" && !n.reason; }));
  const size_t num_left = count(r, "cpu") - num_borders;
  std::string text = fmt::format("{} node{} on the CPU", num_left, num_left == 1 ? "" : "s");
  if (num_borders != 0) {
    text += fmt::format(" besides {} that quantise or dequantise at borders", num_borders);
  }
  return text;
}

}  // namespace

std::string to_text(const CompileReport& r, bool color) {
  std::string text = fmt::format("{} for {}: {}\n", r.output, r.target, bytes_text(r.output_bytes));
  if (!r.header.empty()) text += fmt::format("  {} describes inputs and outputs to C\n", r.header);
  append_io(text, "input", r.inputs);
  append_io(text, "output", r.outputs);
  text += fmt::format("{} delegate{}, {}\n", r.delegates.size(), r.delegates.size() == 1 ? "" : "s",
                      cpu_text(r));
  for (const DelegateReport& d : r.delegates)
    append_delegate(text, d);
  if (!r.kernels.empty()) {
    text += fmt::format("  kernels on the CPU: {}\n", fmt::join(r.kernels, ", "));
  }
  if (r.planned_bytes != 0) {
    text +=
        fmt::format("  planned memory outside the delegates: {}\n", bytes_text(r.planned_bytes));
  }
  if (r.sram_bytes != 0) {
    text += fmt::format("  SRAM {}", bytes_text(r.sram_bytes));
    if (r.sram_limit != 0) text += fmt::format(" of {} allowed", bytes_text(r.sram_limit));
    text += fmt::format(", flash {}\n", bytes_text(r.output_bytes));
  }
  if (r.num_samples != 0) {
    text += fmt::format("  quantised by {} sample{}", r.num_samples, r.num_samples == 1 ? "" : "s");
    if (r.sqnr_db) text += fmt::format("; SQNR {:.1f} dB against float", *r.sqnr_db);
    if (r.num_infinite != 0) {
      text += fmt::format(", but for {} value{} infinite or no number in one of both",
                          r.num_infinite, r.num_infinite == 1 ? "" : "s");
    }
    text += '\n';
  }
  std::vector<std::string> times;
  for (const StageTime& t : r.times) {
    times.push_back(fmt::format("{} {:.1f} ms", t.name, t.seconds * 1e3));
  }
  text += fmt::format("  time: {}\n", fmt::join(times, ", "));
  for (const StageTime& t : r.pass_times) {
    text += fmt::format("    {:<20} {:8.2f} ms\n", t.name, t.seconds * 1e3);
  }
  text = printable(text);  // before there are colours in it
  append_remarks(text, r, color);
  return text;
}

std::string explain_text(const CompileReport& r, bool color) {
  std::string text;
  append_remarks(text, r, color);
  for (const NodeReport& n : r.nodes) {
    const std::string place =
        n.where.line == 0 ? "" : fmt::format("  {}:{}", n.where.file, n.where.line);
    text += printable_line(fmt::format("  {:<6} {:<42} {}{}",
                                       n.delegate.empty() ? n.device : n.delegate, n.op, n.type,
                                       place)) +
            '\n';
  }
  if (!r.only_node.empty()) return text;
  text += fmt::format("{}: {} nodes on the target in {} partition{}, {}\n", r.target,
                      r.nodes.size() - count(r, "cpu"), r.delegates.size(),
                      r.delegates.size() == 1 ? "" : "s", cpu_text(r));
  return text;
}

}  // namespace tosaic
