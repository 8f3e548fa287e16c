// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <vector>

#include "ir/graph.h"
#include "partition/partition.h"
#include "quant/calibration_data.h"

namespace tosaic {

struct Sqnr {
  double db = 0;             ///< over the values that are finite in both
  int64_t num_infinite = 0;  ///< values that are infinite, or no number, in one of both only
};

/// Signal over quantisation noise in dB of a quantised program's float outputs, against what the
/// float program gave for the first samples of `data` (`exact`: outputs by sample, `int64` as it
/// was then). Infinite when they are equal; nothing when there is no float output, or no signal.
std::optional<Sqnr> measure_sqnr(const Graph& graph, const CalibrationData& data,
                                 const std::vector<std::vector<tosa::HostTensor>>& exact,
                                 Int64 int64);

}  // namespace tosaic
