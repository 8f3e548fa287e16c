// SPDX-License-Identifier: Apache-2.0
#include "quant/post_training.h"

#include <algorithm>
#include <vector>

#include "aten/row.h"
#include "ir/verify.h"
#include "quant/measure.h"
#include "quant/qdq.h"
#include "quant/quantised_form.h"
#include "quant/worst_layers.h"

namespace tosaic {
namespace {

constexpr size_t kMostNames = 8;   // of a warning
constexpr size_t kMostLayers = 3;  // of one that tells where numbers are lost
// The networks of test/models reach 14 dB (MobileNetV2) and more on the samples that calibrated
// them.
constexpr double kPoorDb = 10;

Status check_is_float(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    if (!is_quantize(node) && !is_dequantize(node)) continue;
    return node_error(Code::kOption, node, "--calibrate is given, and the program is quantised")
        .with_hint("leave out --calibrate, or export the program before prepare_pt2e");
  }
  return ok();
}

Diagnostic warning(Code code, std::string message, std::string hint) {
  Diagnostic d = error(code, "{}", message);
  d.severity = Severity::kWarning;
  d.hint = std::move(hint);
  return d;
}

void warn_of_samples(const CalibrationData& data, const std::string& path, DiagnosticSink& sink) {
  if (!data.unused().empty()) {
    sink.add(warning(
        Code::kWarnUnusedArrays,
        fmt::format("no input takes these arrays of {}: {}", path, fmt::join(data.unused(), ", ")),
        "arrays are found by the names of the program's inputs, which tosaic inspect shows"));
  }
  const std::string hint = "give some hundred samples of what the program will see";
  if (data.num_samples() == 1) {
    sink.add(
        warning(Code::kWarnSamples, fmt::format("{} has one sample for calibration", path), hint));
  } else if (data.all_equal()) {
    sink.add(warning(
        Code::kWarnSamples,
        fmt::format("the {} calibration samples of {} are equal", data.num_samples(), path), hint));
  }
}

std::string describe(const Value& value) {
  if (value.def() == nullptr) return fmt::format("input \"{}\"", value.name());
  return fmt::format("{} ({})", value.name(), value.def()->full_name());
}

void warn_of_constant_values(const std::vector<const Value*>& values, DiagnosticSink& sink) {
  if (values.empty()) return;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(values.size(), kMostNames); ++i)
    names.push_back(describe(*values[i]));
  if (values.size() > kMostNames) {
    names.push_back(fmt::format("{} more", values.size() - kMostNames));
  }
  sink.add(warning(Code::kWarnConstantValues,
                   fmt::format("all elements are one number in all calibration samples: {}",
                               fmt::join(names, ", ")),
                   "other inputs will be cut off at the range of that number and 0, which zeros "
                   "leave at -1 to 1; give samples of what the program will see"));
}

/// Every use of a float constant gets a value of its own: two users may quantise it differently.
void split_constants(Graph& graph) {
  for (Node& node : graph.nodes()) {
    for (int i = 0; i < node.num_operands(); ++i) {
      const Value* value = node.operand(i);
      if (value == nullptr || !value->is_constant() || value->dtype() != DType::kF32) continue;
      if (value->has_one_use()) continue;
      graph.set_operand(node, i,
                        &graph.add_constant(*value->constant(), value->type(), value->name()));
    }
  }
}

/// Float results that depend on no input become constants, such as a transposed weight.
void fold_constants(Graph& graph, const Observations& seen) {
  for (Node& node : graph.nodes()) {
    for (Value& result : node.results()) {
      const auto it = seen.constants.find(&result);
      if (it == seen.constants.end() || result.dtype() != DType::kF32) continue;
      if (it->second->dtype != DType::kF32) continue;
      graph.replace_all_uses(result, graph.add_constant(*it->second, result.type(), result.name()));
    }
  }
  graph.erase_dead_nodes();
}

/// What calibration knows no values of gets no parameters.
void leave_float(const Graph& graph, const Observations& seen, ChosenParameters& chosen,
                 DiagnosticSink& sink) {
  const Node* first = nullptr;
  for (const Node& node : graph.nodes()) {
    if (!seen.not_computed.contains(&node)) continue;
    if (first == nullptr) first = &node;
    for (const Value& result : node.results())
      chosen.types.erase(&result);
  }
  if (first == nullptr) return;
  Diagnostic d =
      warning(Code::kWarnNotComputed,
              fmt::format("calibration cannot compute {}", seen.not_computed.at(first).why),
              "it and what reads its results stay in float on the CPU; replace the operator, or "
              "quantise the program in PyTorch (prepare_pt2e, convert_pt2e) and compile that");
  d.where = resolve(first->loc());
  d.notes.push_back(fmt::format("{} of {} nodes have no values in the reference",
                                seen.not_computed.size(), graph.num_nodes()));
  sink.add(std::move(d));
}

std::string describe(const PoorValue& poor, const Observations& seen) {
  std::string text = describe(*poor.value);
  if (poor.value->def() != nullptr) {
    const Location where = resolve(poor.value->def()->loc());
    if (!where.scope.empty()) text += fmt::format(" in {}", where.scope);
    if (where.line != 0) text += fmt::format(", {}:{}", where.file, where.line);
  }
  text += fmt::format(": its error is {:.2g} % of its values, that of what it reads {:.2g} %",
                      100 * poor.to, 100 * poor.from);
  const auto range = seen.ranges.find(poor.value);
  if (range == seen.ranges.end() || range->second.empty()) return text;
  text += fmt::format("; range {:.4g} to {:.4g}", range->second.low, range->second.high);
  if (poor.quant != nullptr) text += fmt::format(" in steps of {:.3g}", poor.quant->scale());
  return text;
}

void warn_of_poor_result(const Graph& graph, const CalibrationData& data, const Observations& seen,
                         double db, const CalibrationOptions& options, const Target& target,
                         DiagnosticSink& sink) {
  if (db >= kPoorDb) return;
  std::string hint;
  if (options.observer == Observer::kMovingAverage) {
    hint = "use --observer minmax, which cuts off no value of the samples";
  } else if (options.precision == Precision::kInt8 && target.has(Feature::kInt16)) {
    hint = "use --precision int16x8, whose steps are finer";
  } else {
    hint = "scale or clamp what has a wide range, and give samples without outliers";
  }
  Diagnostic d = warning(
      Code::kWarnPoorCalibration,
      fmt::format("the quantised program is far from float: SQNR {:.1f} dB on its own samples", db),
      std::move(hint));
  const std::vector<PoorValue> worst = find_worst_layers(graph, data, seen);
  for (size_t i = 0; i < std::min(worst.size(), kMostLayers); ++i) {
    d.notes.push_back(describe(worst[i], seen));
  }
  sink.add(std::move(d));
}

}  // namespace

Expected<QuantisationResult> quantise_program(Graph& graph, const CalibrationOptions& options,
                                              const Target& target, DiagnosticSink& diagnostics,
                                              const Progress& progress) {
  TOSAIC_CHECK_OK(check_is_float(graph));
  if (options.precision == Precision::kInt16x8 && !target.has(Feature::kInt16)) {
    return error(Code::kOption, "--precision int16x8: target {} has no 16-bit integers",
                 target.name)
        .with_hint("choose TOSA-1.0+INT+int16 or an Ethos-U");
  }
  TOSAIC_TRY(const CalibrationData data, CalibrationData::read(options.path, graph, options.limit));
  warn_of_samples(data, options.path, diagnostics);
  TOSAIC_CHECK_OK(expand_composites(graph, options.precision, target));
  TOSAIC_TRY(const Observations seen, observe(graph, data, options.observer, progress));
  fold_constants(graph, seen);
  split_constants(graph);
  ChosenParameters chosen = choose_parameters(graph, seen, options.precision);
  leave_float(graph, seen, chosen, diagnostics);
  warn_of_constant_values(chosen.constant_values, diagnostics);
  QuantisationResult result;
  result.num_samples = data.num_samples();
  TOSAIC_TRY(result.float_nodes, apply_parameters(graph, chosen, target));
  for (const auto& [node, reason] : seen.not_computed)
    result.float_nodes.insert_or_assign(node, reason);
  if (const auto sqnr = measure_sqnr(graph, data, seen.outputs, seen.int64)) {
    result.sqnr_db = sqnr->db;
    result.num_infinite = sqnr->num_infinite;
    warn_of_poor_result(graph, data, seen, sqnr->db, options, target, diagnostics);
  }
  return result;
}

}  // namespace tosaic
