// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <nlohmann/json.hpp>

#include "driver/report.h"

namespace tosaic {
namespace {

using Json = nlohmann::ordered_json;

Json io_json(const std::vector<IoReport>& list) {
  Json array = Json::array();
  for (const IoReport& io : list) {
    Json j{{"name", io.name}, {"shape", io.shape}, {"dtype", io.dtype}};
    j["scale"] = io.scale ? Json(*io.scale) : Json(nullptr);
    j["zero_point"] = io.zero_point ? Json(*io.zero_point) : Json(nullptr);
    j["layout"] = io.layout;
    array.push_back(std::move(j));
  }
  return array;
}

Json where_json(const Location& where) {
  return Json{{"file", where.file},
              {"line", where.line},
              {"source", where.source},
              {"module", where.scope}};
}

Json node_json(const NodeReport& n) {
  Json j{{"name", n.name},
         {"op", n.op},
         {"type", n.type},
         {"device", n.device},
         {"delegate", n.delegate}};
  j["where"] = where_json(n.where);
  if (n.reason) {
    j["reason"] = Json{{"code", std::string(code_id(n.reason->code))},
                       {"message", n.reason->why},
                       {"hint", n.reason->hint},
                       {"command", n.command}};
  }
  return j;
}

Json layer_json(const LayerReport& l) {
  return Json{{"where", where_json(l.where)}, {"kinds", l.kinds}, {"npu_ops", l.num_ops},
              {"cycles", l.cycles},           {"macs", l.macs},   {"sram_bytes", l.sram_bytes}};
}

Json delegate_json(const DelegateReport& d) {
  Json layers = Json::array();
  for (const LayerReport& layer : d.layers)
    layers.push_back(layer_json(layer));
  Json memories = Json::array();
  for (const VelaMemory& m : d.performance.memories) {
    memories.push_back(
        Json{{"name", m.name}, {"peak_bytes", m.peak_bytes}, {"access_cycles", m.access_cycles}});
  }
  return Json{{"name", d.name},
              {"nodes", d.num_nodes},
              {"tosa_ops", d.num_tosa_ops},
              {"tosa_bytes", d.tosa_bytes},
              {"command_bytes", d.command_bytes},
              {"weight_bytes", d.weight_bytes},
              {"scratch_bytes", d.scratch_bytes},
              {"vela", d.vela_version},
              {"cycles", Json{{"total", d.performance.total_cycles},
                              {"npu", d.performance.npu_cycles},
                              {"cpu", d.performance.cpu_cycles}}},
              {"macs", d.performance.macs},
              {"npu_ops", d.performance.npu_ops},
              {"memories", std::move(memories)},
              {"seconds", d.seconds > 0 ? Json(d.seconds) : Json(nullptr)},
              {"inferences_per_second", d.seconds > 0 ? Json(1 / d.seconds) : Json(nullptr)},
              {"layers", std::move(layers)},
              {"layout_copies",
               Json{{"npu_ops", d.layout_copies.num_ops}, {"cycles", d.layout_copies.cycles}}},
              {"peak_layer", d.peak_layer ? Json(*d.peak_layer) : Json(nullptr)}};
}

Json diagnostic_json(const Diagnostic& d) {
  return Json{{"code", std::string(code_id(d.code))},
              {"severity", d.severity == Severity::kError     ? "error"
                           : d.severity == Severity::kWarning ? "warning"
                                                              : "remark"},
              {"message", d.message},
              {"where", where_json(d.where)},
              {"notes", d.notes},
              {"hint", d.hint}};
}

template <typename T, typename F>
Json array_of(const std::vector<T>& list, F to_json_of) {
  Json array = Json::array();
  for (const T& item : list)
    array.push_back(to_json_of(item));
  return array;
}

}  // namespace

std::string to_json(const CompileReport& r) {
  const auto time_json = [](const StageTime& t) {
    return Json{{"name", t.name}, {"seconds", t.seconds}};
  };
  Json j{{"target", r.target}, {"output", r.output}, {"output_bytes", r.output_bytes}};
  j["header"] = r.header.empty() ? Json(nullptr) : Json(r.header);
  j["io"] = Json{{"inputs", io_json(r.inputs)}, {"outputs", io_json(r.outputs)}};
  j["delegates"] = array_of(r.delegates, delegate_json);
  j["nodes"] = array_of(r.nodes, node_json);
  j["kernels"] = r.kernels;
  j["planned_bytes"] = r.planned_bytes;
  j["sram_bytes"] = r.sram_bytes;
  j["sram_limit"] = r.sram_limit == 0 ? Json(nullptr) : Json(r.sram_limit);
  // JSON has no infinity: equal results have no figure.
  const bool has_sqnr = r.sqnr_db && std::isfinite(*r.sqnr_db);
  j["calibration"] = Json{{"samples", r.num_samples}, {"sqnr_db", nullptr}};
  j["calibration"]["infinite"] = r.num_infinite;
  if (has_sqnr) j["calibration"]["sqnr_db"] = *r.sqnr_db;
  j["diagnostics"] = array_of(r.diagnostics, diagnostic_json);
  j["times"] = array_of(r.times, time_json);
  if (!r.pass_times.empty()) j["pass_times"] = array_of(r.pass_times, time_json);
  // Strings out of a user's file may not be UTF-8.
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tosaic
