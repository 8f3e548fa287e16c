// SPDX-License-Identifier: Apache-2.0
#include "quant/choose_params.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "quant/constraints.h"
#include "support/check.h"

namespace tosaic {
namespace {

using aten::Trait;

/// Below this magnitude a tensor counts as zero: its scale would leave float32.
constexpr double kLeastMagnitude = 1e-30;
/// exp() of minus this is nothing beside 1, in 16 bits too.
constexpr double kMaskDepth = 16;

double round_to_float(double value) {
  return static_cast<double>(static_cast<float>(value));
}

std::vector<float> float_data(const Constant& constant) {
  std::vector<float> values(static_cast<size_t>(constant.shape.num_elements()));
  if (constant.dtype == DType::kF32) {
    constant.materialise(std::as_writable_bytes(std::span(values)));
    return values;
  }
  std::ranges::copy(float_values(constant), values.begin());
  return values;
}

bool is_float_activation(const Value* value) {
  return value != nullptr && value->dtype() == DType::kF32;
}

/// Groups of values that must have equal parameters.
class Groups {
 public:
  explicit Groups(const Graph& graph) : solver_(graph) {
    link_.resize(solver_.num_groups());
    for (size_t i = 0; i < link_.size(); ++i)
      link_[i] = static_cast<int>(i);
    members_.resize(link_.size());
    for (const Value* input : graph.inputs())
      add(input);
    for (const Node& node : graph.nodes()) {
      for (const Use& use : node.operands()) {
        if (use.value() != nullptr && use.value()->is_constant()) add(use.value());
      }
      for (const Value& result : node.results())
        add(&result);
    }
  }

  /// `from` takes the parameters of `to`, and its own values do not count.
  void take_over(const Value& from, const Value& to) {
    const int group = solver_.group(from);
    if (members_[at(group)].size() == 1) link_[at(group)] = solver_.group(to);
  }

  /// In order of execution; a constant that several nodes use occurs several times.
  const std::vector<const Value*>& values() const { return values_; }
  const std::vector<const Value*>& members(int group) const { return members_[at(group)]; }
  int group(const Value& value) const {
    int group = solver_.group(value);
    while (link_[at(group)] != group)
      group = link_[at(group)];
    return group;
  }
  const aten::Constraint* fixed(int group) const { return solver_.fixed(group); }

 private:
  static size_t at(int group) { return static_cast<size_t>(group); }
  void add(const Value* value) {
    if (!is_float_activation(value)) return;
    values_.push_back(value);
    std::vector<const Value*>& members = members_[at(solver_.group(*value))];
    if (members.empty() || members.back() != value) members.push_back(value);
  }

  ConstraintSolver solver_;
  std::vector<int> link_;
  std::vector<std::vector<const Value*>> members_;
  std::vector<const Value*> values_;
};

Range range_of_value(const Value& value, const Observations& seen) {
  if (value.is_constant()) return range_of(float_data(*value.constant()));
  if (const auto it = seen.constants.find(&value); it != seen.constants.end()) {
    return range_of(float_data(*it->second));
  }
  const auto it = seen.ranges.find(&value);
  return it == seen.ranges.end() ? Range{} : it->second;
}

/// How far beyond the finite values an infinite one has to lie, so that a sum with any value that
/// the samples showed is as clear.
double depth_of_infinity(const Value& value, const Observations& seen) {
  double span = 0;
  for (const Use* use = value.first_use(); use != nullptr; use = use->next()) {
    for (const Value& result : use->user().results()) {
      if (!is_float_activation(&result)) continue;
      const Range range = range_of_value(result, seen);
      if (!range.empty()) span = std::max(span, range.high - range.low);
    }
  }
  return span + kMaskDepth;
}

Range range_of_group(const std::vector<const Value*>& members, const Observations& seen,
                     Precision precision) {
  Range range;
  Histogram histogram;
  bool complete = true;
  double depth = 0;
  for (const Value* value : members) {
    const Range own = range_of_value(*value, seen);
    range.include(own);
    if (own.has_minus_infinity || own.has_plus_infinity) {
      depth = std::max(depth, depth_of_infinity(*value, seen));
    }
    const auto it = seen.histograms.find(value);
    complete = complete && it != seen.histograms.end();
    if (complete) histogram.merge(*it->second);
  }
  range.low = std::min(0.0, range.low);
  range.high = std::max(0.0, range.high);
  if (range.has_minus_infinity) range.low -= depth;
  if (range.has_plus_infinity) range.high += depth;
  const bool can_cut = complete && precision == Precision::kInt8 && !range.has_minus_infinity &&
                       !range.has_plus_infinity;
  return can_cut ? histogram.best_part(range, 255) : range;
}

TensorType fixed_type(Module& module, const aten::Constraint& fixed, Precision precision) {
  if (precision == Precision::kInt8) {
    return {DType::kI8, {}, module.quant(fixed.scale_i8, fixed.zero_point_i8, -128, 127)};
  }
  return {DType::kI16, {}, module.quant(fixed.scale_i16, 0, -32768, 32767)};
}

/// Infinities are those of a mask.
bool is_one_number(const Range& range) {
  if (range.has_minus_infinity || range.has_plus_infinity) return false;
  return range.empty() || range.low == range.high;
}

}  // namespace

const Node* fused_activation(const Node& node) {
  if (!aten::is_aten(node) || !aten::row(node.op()).has(Trait::kFusesActivation)) return nullptr;
  if (node.num_results() != 1 || !node.result().has_one_use()) return nullptr;
  const Use& use = *node.result().first_use();
  const Node& user = use.user();
  const bool is_activation = aten::is_aten(user) && aten::row(user.op()).has(Trait::kActivation);
  return is_activation && use.index() == 0 && user.num_results() == 1 ? &user : nullptr;
}

TensorType activation_type(Module& module, const Range& seen, Precision precision,
                           const Shape& shape) {
  Range range = seen;
  range.low = std::min(0.0, range.low);
  range.high = std::max(0.0, range.high);
  if (std::max(-range.low, range.high) < kLeastMagnitude) {
    range.low = -1;
    range.high = 1;
  }
  if (precision == Precision::kInt16x8) {
    const double scale = round_to_float(std::max(-range.low, range.high) / 32767);
    return {DType::kI16, shape, module.quant(scale, 0, -32768, 32767)};
  }
  const double scale = (range.high - range.low) / 255;
  const double zero_point = std::clamp(-128 - std::nearbyint(range.low / scale), -128.0, 127.0);
  return {DType::kI8, shape,
          module.quant(round_to_float(scale), static_cast<int32_t>(zero_point), -128, 127)};
}

Expected<const Quant*> weight_quant(Module& module, const Constant& weight, int axis,
                                    std::span<const double> least_scales) {
  const std::vector<float> values = float_data(weight);
  if (!std::ranges::all_of(values, [](float v) { return std::isfinite(v); })) {
    return error(Code::kQuantParams, "a weight is infinite or not a number");
  }
  const int64_t channels = weight.shape[axis];
  int64_t inner = 1;
  for (int i = axis + 1; i < weight.shape.rank(); ++i)
    inner *= weight.shape[i];
  std::vector<double> scales(static_cast<size_t>(channels), 0);
  for (size_t i = 0; i < values.size(); i += static_cast<size_t>(inner)) {
    double& scale = scales[i / static_cast<size_t>(inner) % scales.size()];
    for (size_t k = i; k < i + static_cast<size_t>(inner); ++k)
      scale = std::max(scale, static_cast<double>(std::fabs(values[k])));
  }
  const double greatest = std::ranges::max(scales);
  for (size_t i = 0; i < scales.size(); ++i) {
    double magnitude = scales[i];
    if (magnitude < kLeastMagnitude) magnitude = greatest < kLeastMagnitude ? 1 : greatest;
    const double least = least_scales.empty() ? 0 : least_scales[i];
    scales[i] = round_to_float(std::max(magnitude / 127, least));
  }
  const std::vector<int32_t> zero_points(scales.size(), 0);
  return module.quant(scales, zero_points, axis, -127, 127);
}

ChosenParameters choose_parameters(const Graph& graph, const Observations& observations,
                                   Precision precision) {
  Module& module = graph.module();
  Groups groups(graph);
  for (const Node& node : graph.nodes()) {
    if (const Node* activation = fused_activation(node)) {
      groups.take_over(node.result(), activation->result());
    }
  }
  ChosenParameters chosen;
  chosen.precision = precision;
  std::unordered_map<int, TensorType> types;
  for (const Value* value : groups.values()) {
    const int group = groups.group(*value);
    const auto [it, is_new] = types.try_emplace(group);
    if (is_new) {
      const aten::Constraint* fixed = groups.fixed(group);
      it->second = fixed != nullptr
                       ? fixed_type(module, *fixed, precision)
                       : activation_type(
                             module, range_of_group(groups.members(group), observations, precision),
                             precision, {});
    }
    TensorType type = it->second;
    type.shape = value->shape();
    if (!chosen.types.emplace(value, type).second || value->is_constant()) continue;
    const auto seen = observations.ranges.find(value);
    const bool is_single = seen != observations.ranges.end() && is_one_number(seen->second);
    // Calls of composites have no name that the user knows.
    if (is_single && !value->name().empty() && value->shape().num_elements() > 0)
      chosen.constant_values.push_back(value);
  }
  return chosen;
}

}  // namespace tosaic
