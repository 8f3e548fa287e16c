// SPDX-License-Identifier: Apache-2.0
#include "driver/borders.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

#include "aten/builder.h"
#include "numeric/fixed_point.h"
#include "tosa/op.h"
#include "tosa/ops.h"

namespace tosaic {
namespace {

IoReport io_of(const Value& v, std::string_view stem, size_t index) {
  IoReport io;
  io.name = v.name().empty() ? fmt::format("{}{}", stem, index) : std::string(v.name());
  io.shape.assign(v.shape().begin(), v.shape().end());
  io.dtype = torch_name(v.dtype());
  if (v.quant() != nullptr && v.quant()->per_tensor()) {
    io.scale = v.quant()->scale();
    io.zero_point = v.quant()->zero_point();
  }
  return io;
}

/// A number of an int64 constant that int32 does not hold.
std::optional<int64_t> beyond_int32(const Value& v) {
  if (v.dtype() != DType::kI64 || !v.is_constant()) return std::nullopt;
  for (int64_t number : int_values(*v.constant())) {
    if (!numeric::fits<int32_t>(number)) return number;
  }
  return std::nullopt;
}

/// The target has an IDENTITY of the type.
bool passes_on(Module& module, const Target& target, const TensorType& type) {
  Graph scratch(module, "scratch", Dialect::kTosa);
  tosa::Builder b(scratch, target, nullptr);
  return b.legal(tosa::identity, std::array{&scratch.add_input(type, {})}, {});
}

/// What to do about an output of a dtype that the target lacks.
std::string hint_for(const Value& v, const Target& target) {
  const std::string leave = "leave it out of what the program returns";
  if (v.dtype() == DType::kF64) return leave + ", or return it as float32: .float()";
  if (is_float(v.dtype()) && !target.has(Feature::kFp)) {
    return leave + ": TOSA INT has quantised values and integers; --target tosa-fp has floats";
  }
  return leave + ", or return it in another dtype";
}

}  // namespace

std::vector<Loc> locs_of_outputs(const Graph& graph) {
  std::vector<Loc> locs;
  for (const Value* v : graph.outputs())
    locs.push_back(v->def() == nullptr ? nullptr : v->def()->loc());
  return locs;
}

Status check_passed_on(const Graph& graph, const Target& target, std::span<const Loc> locs) {
  for (int i = 0; i < graph.num_outputs(); ++i) {
    const Value& v = *graph.output(i);
    if (v.def() != nullptr) continue;
    const auto beyond = beyond_int32(v);
    if (!beyond && passes_on(graph.module(), target, aten::held_at_run_time(v.type()))) continue;
    const std::string what =
        fmt::format("output {} (\"{}\") is {} of {}", i, v.name(),
                    v.is_constant() ? "a constant" : "an input", torch_name(v.dtype()));
    Diagnostic d = beyond
                       ? error(Code::kOutputDtype, "{} and holds {}; TOSA has integers up to int32",
                               what, *beyond)
                       : error(Code::kOutputDtype, "{}, which {} lacks", what, target.display_name);
    if (static_cast<size_t>(i) < locs.size()) d.where = resolve(locs[static_cast<size_t>(i)]);
    d.hint = beyond ? "leave it out of what the program returns, or return it as float32: .float()"
                    : hint_for(v, target);
    return d;
  }
  return ok();
}

void name_borders(Graph& graph) {
  Module& module = graph.module();
  std::unordered_set<std::string> taken;
  const auto name = [&](Value& v, std::string_view stem) {
    const std::string base(v.name().empty() ? stem : v.name());
    std::string unique = base;
    for (int i = 2; !taken.insert(unique).second; ++i)
      unique = fmt::format("{}_{}", base, i);
    v.set_name(module.intern(unique));
  };
  for (Value* v : graph.inputs())
    name(*v, "input");
  std::vector<Value*> outputs = graph.outputs();
  std::unordered_set<const Value*> seen;
  for (Value*& v : outputs) {
    if (v->def() == nullptr || !seen.insert(v).second) {
      const TensorType type = v->type();
      Node& copy = graph.insert({.op = &tosa::identity,
                                 .variant = 0,
                                 .operands = std::span(&v, 1),
                                 .segments = {},
                                 .results = std::span(&type, 1),
                                 .attrs = {},
                                 .loc = nullptr});
      copy.result().set_name(v->name());
      v = &copy.result();
    }
    name(*v, "output");
  }
  graph.set_outputs(outputs);
}

std::vector<IoReport> io_of_inputs(const Graph& graph) {
  std::vector<IoReport> list;
  for (const Value* v : graph.inputs())
    list.push_back(io_of(*v, "input", list.size()));
  return list;
}

std::vector<IoReport> io_of_outputs(const Graph& graph) {
  std::vector<IoReport> list;
  for (const Value* v : graph.outputs())
    list.push_back(io_of(*v, "output", list.size()));
  return list;
}

}  // namespace tosaic
