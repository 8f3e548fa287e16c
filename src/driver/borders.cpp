// SPDX-License-Identifier: Apache-2.0
#include "driver/borders.h"

#include <unordered_set>

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

}  // namespace

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
