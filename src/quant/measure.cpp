// SPDX-License-Identifier: Apache-2.0
#include "quant/measure.h"

#include <cmath>
#include <limits>

#include "target/targets.h"

namespace tosaic {
namespace {

/// Squares of a signal and of its error, over all elements.
struct Power {
  double signal = 0;
  double noise = 0;
  int64_t num_infinite = 0;  ///< infinite or no number in one of the two, and not the same

  void add(const tosa::HostTensor& got, const tosa::HostTensor& wanted) {
    const auto count = wanted.bytes.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
      const double x = wanted.data<float>()[i];
      const double error = got.data<float>()[i] - x;
      if (!std::isfinite(error)) {
        const float y = got.data<float>()[i];
        if (y != wanted.data<float>()[i] && !(std::isnan(x) && std::isnan(y))) ++num_infinite;
        continue;
      }
      signal += x * x;
      noise += error * error;
    }
  }
};

/// Of all float outputs of a lowered graph; nothing when it cannot be computed.
std::optional<Power> run(const Graph& lowered, const CalibrationData& data,
                         const std::vector<std::vector<tosa::HostTensor>>& exact) {
  tosa::Reference reference(lowered);
  Power power;
  for (size_t s = 0; s < exact.size(); ++s) {
    const auto outputs = reference.run(data.sample(static_cast<int64_t>(s)));
    if (!outputs) return std::nullopt;
    for (size_t i = 0; i < outputs->size(); ++i) {
      if (exact[s][i].dtype == DType::kF32 && (*outputs)[i].dtype == DType::kF32) {
        power.add((*outputs)[i], exact[s][i]);
      }
    }
  }
  return power;
}

}  // namespace

std::optional<Sqnr> measure_sqnr(const Graph& graph, const CalibrationData& data,
                                 const std::vector<std::vector<tosa::HostTensor>>& exact,
                                 Int64 int64) {
  LoweredValues values;
  const Target host = host_target();
  const auto lowered = lower_beside(graph, host, values, without_form(graph, host, int64), int64);
  if (!lowered) return std::nullopt;
  const std::optional<Power> power = run(**lowered, data, exact);
  graph.module().erase_graph((*lowered)->name());
  if (!power || power->signal == 0) return std::nullopt;
  Sqnr sqnr{.db = std::numeric_limits<double>::infinity(), .num_infinite = power->num_infinite};
  if (power->noise != 0) sqnr.db = 10 * std::log10(power->signal / power->noise);
  return sqnr;
}

}  // namespace tosaic
