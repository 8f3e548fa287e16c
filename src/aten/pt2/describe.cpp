// SPDX-License-Identifier: Apache-2.0
// What an archive holds, as `tosaic inspect` shows it. Weights are not read, and a program that
// uses what the compiler does not support can be shown all the same.
#include <map>
#include <nlohmann/json.hpp>

#include "aten/pt2/reader.h"
#include "aten/pt2/size_expression.h"
#include "aten/pt2/tensor_meta.h"
#include "aten/pt2/weights.h"

namespace tosaic::aten::pt2 {
namespace {

using Out = nlohmann::ordered_json;

/// A number, or the name of a symbol: "s77", "2*s77" stays as sympy writes it.
Out size_out(const Json& size) {
  const auto u = union_of(size);
  if (!u) return nullptr;
  if (u->kind == "as_int") return value_as<int64_t>(u->value).value_or(0);
  const std::string_view text = string_at(u->value, "expr_str").value_or("?");
  return std::string(text.starts_with("Symbol(") ? symbol_name(text) : text);
}

Out tensor_out(std::string_view name, const std::optional<Json>& metas) {
  Out out{{"name", std::string(name)}};
  const auto meta = member(metas, name);
  if (!meta) return out;
  const auto number = member_as<int64_t>(*meta, "dtype").value_or(0);
  const DType dtype = dtype_of(number);
  out["dtype"] = dtype == DType::kUnknown ? dtype_text(number) : std::string(dtype_name(dtype));
  out["shape"] = Out::array();
  if (const auto sizes = member_as<JsonArray>(*meta, "sizes")) {
    for (const Json size : *sizes)
      out["shape"].push_back(size_out(size));
  }
  return out;
}

/// The tensors of a signature's user_input or user_output entries.
Out interface_out(const std::optional<Json>& specs, std::string_view kind,
                  const std::optional<Json>& metas) {
  Out list = Out::array();
  const auto entries = value_as<JsonArray>(specs);
  if (!entries) return list;
  for (const Json entry : *entries) {
    const auto argument = union_of(member(member(entry, kind), "arg"));
    if (!argument) continue;
    if (argument->kind == "as_tensor") {
      list.push_back(tensor_out(string_at(argument->value, "name").value_or("?"), metas));
    } else {
      list.push_back(Out{{"constant", std::string(simdjson::minify(argument->value))}});
    }
  }
  return list;
}

std::string_view without_prefix(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.";
  return target.starts_with(kPrefix) ? target.substr(kPrefix.size()) : target;
}

void operators_out(const std::optional<Json>& graph, Out& out) {
  std::map<std::string_view, int> counts;
  size_t num_nodes = 0;
  if (const auto nodes = value_as<JsonArray>(member(graph, "nodes"))) {
    for (const Json node : *nodes) {
      ++num_nodes;
      ++counts[without_prefix(string_at(node, "target").value_or("?"))];
    }
  }
  out["nodes"] = num_nodes;
  out["quantised"] = false;
  out["operators"] = Out::object();
  for (const auto& [name, count] : counts) {
    out["operators"][std::string(name)] = count;
    if (name.starts_with("quantized_decomposed.")) out["quantised"] = true;
  }
}

Expected<Out> model_out(const Archive& archive, std::string_view name) {
  TOSAIC_TRY(const JsonDocument program, archive.program(name));
  TOSAIC_TRY(const TensorStore weights,
             TensorStore::open(archive, name, TensorStore::Kind::kWeights));
  TOSAIC_TRY(const TensorStore constants,
             TensorStore::open(archive, name, TensorStore::Kind::kConstants));
  const std::optional<Json> root = program.root;
  const auto module = member(root, "graph_module");
  const auto graph = member(module, "graph");
  const auto metas = member(graph, "tensor_values");
  const auto signature = member(module, "signature");
  const auto version = member(root, "schema_version");
  Out out{{"name", std::string(name)}};
  out["schema_version"] =
      fmt::format("{}.{}", value_as<int64_t>(member(version, "major")).value_or(0),
                  value_as<int64_t>(member(version, "minor")).value_or(0));
  out["torch_version"] =
      std::string(value_as<std::string_view>(member(root, "torch_version")).value_or("unknown"));
  out["opset"] = value_as<int64_t>(member(member(root, "opset_version"), "aten")).value_or(0);
  out["verifiers"] = Out::array();
  if (const auto list = value_as<JsonArray>(member(root, "verifiers"))) {
    for (const Json verifier : *list) {
      out["verifiers"].push_back(std::string(value_as<std::string_view>(verifier).value_or("?")));
    }
  }
  out["inputs"] = interface_out(member(signature, "input_specs"), "user_input", metas);
  out["outputs"] = interface_out(member(signature, "output_specs"), "user_output", metas);
  out["symbols"] = Out::object();
  if (const auto ranges = value_as<JsonObject>(member(root, "range_constraints"))) {
    for (const auto range : *ranges) {
      const auto bound = [&](std::string_view key) -> Out {
        const auto value = value_as<int64_t>(member(range.value, key));
        return value ? Out(*value) : Out(nullptr);
      };
      out["symbols"][std::string(range.key)] = Out::array({bound("min_val"), bound("max_val")});
    }
  }
  operators_out(graph, out);
  out["weights"] = weights.num_tensors();
  out["weight_bytes"] = weights.num_bytes();
  out["constants"] = constants.num_tensors();
  out["constant_bytes"] = constants.num_bytes();
  return out;
}

std::string tensor_text(const Out& t) {
  if (t.contains("constant")) return fmt::format("constant {}", t["constant"].get<std::string>());
  std::string sizes;
  for (const Out& size : t.value("shape", Out::array())) {
    sizes += sizes.empty() ? "" : ",";
    sizes += size.is_string() ? size_text(size.get<std::string>()) : size.dump();
  }
  return fmt::format("{}: {}[{}]", t["name"].get<std::string>(), t.value("dtype", "?"), sizes);
}

std::string model_text(const Out& m) {
  std::string text =
      fmt::format("program {}: schema {}, PyTorch {}, {}, {} nodes\n", m["name"].get<std::string>(),
                  m["schema_version"].get<std::string>(), m["torch_version"].get<std::string>(),
                  m["quantised"].get<bool>() ? "quantised" : "not quantised", m["nodes"].dump());
  for (const Out& t : m["inputs"])
    text += fmt::format("  input {}\n", tensor_text(t));
  for (const Out& t : m["outputs"])
    text += fmt::format("  output {}\n", tensor_text(t));
  for (const auto& [name, range] : m["symbols"].items()) {
    const std::string low = range[0].is_null() ? "0" : range[0].dump();
    text += range[1].is_null() ? fmt::format("  symbol {}: {} or more\n", name, low)
                               : fmt::format("  symbol {}: {} to {}\n", name, low, range[1].dump());
  }
  text += fmt::format("  {} weights, {} bytes; {} constants, {} bytes\n", m["weights"].dump(),
                      m["weight_bytes"].dump(), m["constants"].dump(), m["constant_bytes"].dump());
  for (const auto& [name, count] : m["operators"].items()) {
    text += fmt::format("  {:>5} {}\n", count.dump(), name);
  }
  return text;
}

Expected<std::string> describe(const std::string& path, bool json) {
  TOSAIC_TRY(const Archive archive, Archive::open(path));
  Out all{{"kind", "pt2"}, {"bytes", archive.zip().file().bytes().size()}};
  all["programs"] = Out::array();
  for (const std::string_view name : archive.models()) {
    TOSAIC_TRY(Out model, model_out(archive, name));
    all["programs"].push_back(std::move(model));
  }
  if (json) return all.dump(2, ' ', false, Out::error_handler_t::replace) + "\n";
  std::string text = fmt::format("{}: {} bytes, {} program{}\n", path, all["bytes"].dump(),
                                 all["programs"].size(), all["programs"].size() == 1 ? "" : "s");
  for (const Out& model : all["programs"])
    text += model_text(model);
  return text;
}

}  // namespace
}  // namespace tosaic::aten::pt2

namespace tosaic::aten {

Expected<std::string> describe_pt2(const std::string& path, bool json) {
  return pt2::describe(path, json);
}

}  // namespace tosaic::aten
