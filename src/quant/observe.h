// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/graph.h"
#include "partition/partition.h"
#include "quant/calibration_data.h"
#include "quant/histogram.h"
#include "support/expected.h"

namespace tosaic {

/// How the values of many samples become one range.
enum class Observer : uint8_t {
  kMinMax,         ///< least and greatest value of all samples
  kMovingAverage,  ///< of each sample, averaged with weights that decay by 0.99 (in order)
  kMse,            ///< the part of it whose int8 codes have the least mean squared error
};
std::string_view observer_name(Observer observer);
std::optional<Observer> parse_observer(std::string_view name);
std::vector<std::string_view> observer_names();

/// A graph that goes out of its module with its owner.
struct EraseGraph {
  void operator()(Graph* graph) const { graph->module().erase_graph(graph->name()); }
};
using OwnedGraph = std::unique_ptr<Graph, EraseGraph>;

/// What the samples showed.
struct Observations {
  /// Inputs and results of nodes, where they are float32.
  std::unordered_map<const Value*, Range> ranges;
  /// Distributions of the same, for Observer::kMse.
  std::unordered_map<const Value*, std::shared_ptr<const Histogram>> histograms;
  /// Results of nodes that do not depend on inputs.
  std::unordered_map<const Value*, const Constant*> constants;
  /// Nodes that have no float form in TOSA, and those that read what they make: their results are
  /// not known.
  std::unordered_map<const Node*, Reject> not_computed;
  /// How the reference took 64-bit integers.
  Int64 int64 = Int64::kAsInt32;
  /// The program's outputs for the first samples, without those that are not known.
  std::vector<std::vector<tosa::HostTensor>> outputs;
  /// The float program in TOSA, and which of its values are whose.
  OwnedGraph lowered;
  LoweredValues values;
};

/// Called between samples, from the caller's thread.
using Progress = std::function<void(int64_t done, int64_t total)>;

/// Computes the float program `graph` on all samples, by the TOSA reference on all cores, and
/// watches its values. The result does not depend on the number of threads.
Expected<Observations> observe(const Graph& graph, const CalibrationData& data, Observer observer,
                               const Progress& progress = {});

}  // namespace tosaic
