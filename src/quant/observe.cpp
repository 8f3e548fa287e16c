// SPDX-License-Identifier: Apache-2.0
#include "quant/observe.h"

#include <algorithm>
#include <cmath>

#include "ir/verify.h"
#include "support/parallel.h"
#include "target/targets.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

constexpr double kMovingAverageStep = 0.01;  // as PyTorch's MovingAverageMinMaxObserver
constexpr int64_t kKeptOutputs = 4;          // samples whose outputs are kept
constexpr int64_t kChunk = 64;               // samples between two merges of ranges

struct ObserverName {
  std::string_view name;
  Observer observer;
};
constexpr ObserverName kObservers[] = {{"minmax", Observer::kMinMax},
                                       {"moving-average", Observer::kMovingAverage},
                                       {"mse", Observer::kMse}};

/// The float values of a lowered graph that are watched, and which values of the program they are.
struct Watched {
  std::unordered_map<const Value*, size_t> slot_of;  ///< by TOSA value
  size_t size() const { return slot_of.size(); }
};

/// What one sample showed, by slot.
using SampleRanges = std::vector<Range>;

/// One thread's executor and its histograms.
class Watcher {
 public:
  Watcher(const Graph& graph, const Watched& watched, bool with_histograms)
      : graph_(graph), watched_(watched), reference_(graph) {
    if (with_histograms) histograms_.resize(watched.size());
    reference_.observe([this](const Node& node, std::span<const tosa::HostTensor> results) {
      for (size_t i = 0; i < results.size(); ++i)
        see(node.result(static_cast<int>(i)), results[i]);
    });
  }

  Expected<std::vector<tosa::HostTensor>> run(const std::vector<tosa::HostTensor>& inputs,
                                              SampleRanges& ranges) {
    ranges_ = &ranges;
    ranges.assign(watched_.size(), {});
    for (size_t i = 0; i < inputs.size(); ++i)
      see(*graph_.inputs()[i], inputs[i]);
    auto outputs = reference_.run(inputs);
    is_sure_ = is_sure_ && reference_.unpredictable().empty() && !reference_.wrapped();
    return outputs;
  }
  const std::vector<Histogram>& histograms() const { return histograms_; }
  /// Nothing was computed that int32 does not hold, or whose result TOSA leaves open.
  bool is_sure() const { return is_sure_; }

 private:
  void see(const Value& value, const tosa::HostTensor& tensor) {
    const auto it = watched_.slot_of.find(&value);
    if (it == watched_.slot_of.end()) return;
    const auto count = tensor.bytes.size() / sizeof(float);
    std::span<const float> values(tensor.data<float>(), count);
    if (reinterpret_cast<uintptr_t>(values.data()) % alignof(float) != 0) {
      copy_.resize(count);
      std::copy(tensor.bytes.begin(), tensor.bytes.end(),
                std::as_writable_bytes(std::span(copy_)).begin());
      values = copy_;
    }
    const Range range = range_of(values);
    (*ranges_)[it->second] = range;
    if (histograms_.empty() || range.empty()) return;
    histograms_[it->second].add(values, std::max(std::fabs(range.low), std::fabs(range.high)));
  }

  const Graph& graph_;
  const Watched& watched_;
  tosa::Reference reference_;
  std::vector<Histogram> histograms_;
  std::vector<float> copy_;
  SampleRanges* ranges_ = nullptr;
  bool is_sure_ = true;
};

/// Runs samples on several threads and merges what they show, in the order of the samples.
class Calibration {
 public:
  Calibration(const Graph& graph, const Watched& watched, const CalibrationData& data,
              Observer observer)
      : data_(data), observer_(observer), merged_(watched.size()) {
    outputs_.resize(static_cast<size_t>(std::min(data.num_samples(), kKeptOutputs)));
    const size_t num_threads = num_threads_for(static_cast<size_t>(data.num_samples()));
    for (size_t i = 0; i < num_threads; ++i) {
      watchers_.push_back(std::make_unique<Watcher>(graph, watched, observer == Observer::kMse));
    }
  }

  Status run(const Progress& progress) {
    for (int64_t first = 0; first < data_.num_samples(); first += kChunk) {
      TOSAIC_CHECK_OK(run_chunk(first, std::min(data_.num_samples() - first, kChunk)));
      if (progress) progress(std::min(first + kChunk, data_.num_samples()), data_.num_samples());
    }
    for (size_t i = 1; i < watchers_.size(); ++i) {
      for (size_t slot = 0; slot < watchers_[i]->histograms().size(); ++slot)
        histogram(slot).merge(watchers_[i]->histograms()[slot]);
    }
    return ok();
  }
  bool is_sure() const {
    return std::ranges::all_of(watchers_, [](const auto& w) { return w->is_sure(); });
  }
  std::vector<std::vector<tosa::HostTensor>> take_outputs() { return std::move(outputs_); }
  const Range& range(size_t slot) const { return merged_[slot]; }
  Histogram& histogram(size_t slot) {
    return const_cast<Histogram&>(watchers_[0]->histograms()[slot]);
  }

 private:
  Status run_chunk(int64_t first, int64_t count) {
    std::vector<SampleRanges> ranges(static_cast<size_t>(count));
    std::vector<Status> states(static_cast<size_t>(count));
    parallel_for(ranges.size(), [&](size_t thread, size_t i) {
      const int64_t index = first + static_cast<int64_t>(i);
      auto outputs = watchers_[thread]->run(data_.sample(index), ranges[i]);
      if (!outputs) {
        states[i] = std::move(outputs).error();
      } else if (index < kKeptOutputs) {
        outputs_[i] = *std::move(outputs);
      }
    });
    for (size_t i = 0; i < ranges.size(); ++i) {
      TOSAIC_CHECK_OK(std::move(states[i]));
      merge(ranges[i], first + static_cast<int64_t>(i) == 0);
    }
    return ok();
  }

  void merge(const SampleRanges& sample, bool is_first) {
    for (size_t slot = 0; slot < sample.size(); ++slot) {
      Range& to = merged_[slot];
      const Range& from = sample[slot];
      if (observer_ != Observer::kMovingAverage || is_first || to.empty() || from.empty()) {
        to.include(from);
        continue;
      }
      to.low += kMovingAverageStep * (from.low - to.low);
      to.high += kMovingAverageStep * (from.high - to.high);
      to.has_minus_infinity |= from.has_minus_infinity;
      to.has_plus_infinity |= from.has_plus_infinity;
    }
  }

  const CalibrationData& data_;
  Observer observer_;
  std::vector<std::unique_ptr<Watcher>> watchers_;
  std::vector<Range> merged_;
  std::vector<std::vector<tosa::HostTensor>> outputs_;
};

/// Fills `seen`, whose `int64` is given. False when the result of an operation is not sure.
Expected<bool> observe_by(const Graph& graph, const CalibrationData& data, Observer observer,
                          const Progress& progress, Observations& seen) {
  const Target host = host_target();
  Watched watched;
  seen.not_computed = without_form(graph, host, seen.int64);
  TOSAIC_TRY(Graph * lowered,
             lower_beside(graph, host, seen.values, seen.not_computed, seen.int64));
  seen.lowered.reset(lowered);
  for (const auto& [original, value] : seen.values) {
    if (original->is_constant()) continue;
    if (value->is_constant()) {
      seen.constants.emplace(original, value->constant());
    } else if (original->dtype() == DType::kF32 && value->dtype() == DType::kF32) {
      watched.slot_of.try_emplace(value, watched.size());
    }
  }
  Calibration calibration(*lowered, watched, data, observer);
  TOSAIC_CHECK_OK(calibration.run(progress));
  seen.outputs = calibration.take_outputs();
  for (const auto& [original, value] : seen.values) {
    const auto slot = watched.slot_of.find(value);
    if (original->is_constant() || slot == watched.slot_of.end()) continue;
    seen.ranges.emplace(original, calibration.range(slot->second));
    if (observer != Observer::kMse) continue;
    seen.histograms.emplace(original,
                            std::make_shared<Histogram>(calibration.histogram(slot->second)));
  }
  return calibration.is_sure();
}

}  // namespace

std::string_view observer_name(Observer observer) {
  return std::ranges::find(kObservers, observer, &ObserverName::observer)->name;
}

std::optional<Observer> parse_observer(std::string_view name) {
  const auto it = std::ranges::find(kObservers, name, &ObserverName::name);
  return it == std::end(kObservers) ? std::nullopt : std::optional(it->observer);
}

std::vector<std::string_view> observer_names() {
  std::vector<std::string_view> names;
  for (const ObserverName& known : kObservers)
    names.push_back(known.name);
  return names;
}

Expected<Observations> observe(const Graph& graph, const CalibrationData& data, Observer observer,
                               const Progress& progress) {
  Observations seen;
  TOSAIC_TRY(bool is_sure, observe_by(graph, data, observer, progress, seen));
  if (is_sure) return seen;
  const size_t num_not_computed = seen.not_computed.size();
  Observations without;
  without.int64 = Int64::kRefused;
  if (without_form(graph, host_target(), without.int64).size() == num_not_computed) return seen;
  TOSAIC_TRY(is_sure, observe_by(graph, data, observer, progress, without));
  return without;
}

}  // namespace tosaic
