// SPDX-License-Identifier: Apache-2.0
// A layer's own loss is the power of its result's error, in parts of the result's power, less that
// of its worst operand: over a path from an input to an output these sum up to the output's error.
// Above 1 nothing is left of a value, so that more does not count.
//
//   %x (error 0.1 %) -> exp -> %e (12 %) -> div -> %y (13 %)      exp is the worst
#include "quant/worst_layers.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "quant/choose_params.h"
#include "quant/histogram.h"
#include "quant/qdq.h"
#include "target/targets.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

constexpr double kLeastLoss = 0.01;  // of a value's power: below, a layer is no cause

using Values = std::unordered_map<const Value*, std::vector<float>>;  // by TOSA value

/// What a tensor's numbers mean; nothing for those that are no activations.
std::vector<float> real_numbers(const tosa::HostTensor& tensor, const Quant* quant) {
  const auto count = static_cast<size_t>(tensor.shape.num_elements());
  std::vector<float> numbers(count);
  const auto take = [&](const auto* codes) {
    for (size_t i = 0; i < count; ++i)
      numbers[i] = static_cast<float>((codes[i] - quant->zero_point()) * quant->scale());
  };
  if (tensor.dtype == DType::kF32) {
    std::ranges::copy(tensor.bytes, std::as_writable_bytes(std::span(numbers)).begin());
  } else if (quant != nullptr && quant->per_tensor() && tensor.dtype == DType::kI8) {
    take(tensor.data<int8_t>());
  } else if (quant != nullptr && quant->per_tensor() && tensor.dtype == DType::kI16) {
    take(tensor.data<int16_t>());
  } else {
    numbers.clear();
  }
  return numbers;
}

/// A lowered program that keeps the numbers of all values.
class Recorder {
 public:
  explicit Recorder(const Graph& graph) : graph_(graph), reference_(graph) {
    reference_.observe([this](const Node& node, std::span<const tosa::HostTensor> results) {
      for (size_t i = 0; i < results.size(); ++i)
        keep(node.result(static_cast<int>(i)), results[i]);
    });
  }

  bool run(const std::vector<tosa::HostTensor>& inputs) {
    for (size_t i = 0; i < inputs.size(); ++i)
      keep(*graph_.inputs()[i], inputs[i]);
    return reference_.run(inputs).ok();
  }
  const Values& values() const { return values_; }

 private:
  void keep(const Value& value, const tosa::HostTensor& tensor) {
    values_[&value] = real_numbers(tensor, value.quant());
  }

  const Graph& graph_;
  tosa::Reference reference_;
  Values values_;
};

/// Powers of a value and of its error, over the samples.
struct Error {
  double signal = 0;
  double noise = 0;

  void add(const std::vector<float>& got, const std::vector<float>& wanted) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      const double x = wanted[i];
      const double error = got[i] - x;
      // Masks lie anywhere in a quantised program.
      if (!std::isfinite(error) || std::fabs(x) >= kGreatestMagnitude) continue;
      signal += x * x;
      noise += error * error;
    }
  }
  double relative() const {
    return noise == 0 ? 0 : signal == 0 ? 1 : std::min(1.0, noise / signal);
  }
};

/// The value of the float program: quantize and dequantize nodes came later.
const Value& original(const Value& value) {
  const Value* v = &value;
  while (v->def() != nullptr && (is_quantize(*v->def()) || is_dequantize(*v->def())))
    v = v->def()->operand(0);
  return *v;
}

class Comparison {
 public:
  Comparison(const LoweredValues& quantised, const LoweredValues& exact)
      : quantised_(quantised), exact_(exact) {}

  void add(const Values& got, const Values& wanted) {
    for (const auto& [value, lowered] : quantised_) {
      const auto of_float = exact_.find(&original(*value));
      if (of_float == exact_.end()) continue;
      const auto is = got.find(lowered);
      const auto should_be = wanted.find(of_float->second);
      if (is == got.end() || should_be == wanted.end()) continue;
      if (is->second.size() == should_be->second.size())
        errors_[value].add(is->second, should_be->second);
    }
  }

  std::vector<PoorValue> worst(const Graph& graph) const {
    std::vector<PoorValue> all;
    for (const Node& node : graph.nodes()) {
      if (is_dequantize(node)) continue;
      double from = 0;
      for (const Use& use : node.operands()) {
        if (use.value() != nullptr) from = std::max(from, of_value(*use.value()));
      }
      for (const Value& result : node.results()) {
        const double to = of_value(result);
        if (to - from < kLeastLoss) continue;
        all.push_back({&original(result), result.quant(), from, to});
      }
    }
    std::ranges::stable_sort(all, std::greater(), [](const PoorValue& v) { return v.to - v.from; });
    for (PoorValue& v : all) {
      v.from = std::sqrt(v.from);
      v.to = std::sqrt(v.to);
    }
    return all;
  }

 private:
  /// What an activation cuts off after a node is no error of the node.
  double of_value(const Value& value) const {
    const Value* v = &value;
    if (v->quant() != nullptr && v->def() != nullptr) {
      if (const Node* activation = fused_activation(*v->def())) v = &activation->result();
    }
    const auto it = errors_.find(v);
    return it == errors_.end() ? 0 : it->second.relative();
  }

  const LoweredValues& quantised_;
  const LoweredValues& exact_;
  std::unordered_map<const Value*, Error> errors_;
};

}  // namespace

std::vector<PoorValue> find_worst_layers(const Graph& graph, const CalibrationData& data,
                                         const Observations& seen) {
  LoweredValues values;
  const Target host = host_target();
  auto lowered =
      lower_beside(graph, host, values, without_form(graph, host, seen.int64), seen.int64);
  if (!lowered) return {};
  const OwnedGraph quantised(*lowered);
  Recorder got(*quantised);
  Recorder wanted(*seen.lowered);
  Comparison comparison(values, seen.values);
  for (size_t s = 0; s < seen.outputs.size(); ++s) {
    const std::vector<tosa::HostTensor> inputs = data.sample(static_cast<int64_t>(s));
    if (!got.run(inputs) || !wanted.run(inputs)) return {};
    comparison.add(got.values(), wanted.values());
  }
  return comparison.worst(graph);
}

}  // namespace tosaic
