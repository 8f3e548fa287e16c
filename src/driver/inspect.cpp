// SPDX-License-Identifier: Apache-2.0
#include "driver/inspect.h"

#include <map>
#include <nlohmann/json.hpp>

#include "aten/pt2/reader.h"
#include "ethosu/payload.h"
#include "ir/text.h"
#include "pte/reader.h"
#include "support/mapped_file.h"
#include "support/npz.h"
#include "support/printable.h"
#include "tosa/flatbuffer.h"

namespace tosaic {
namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& j) {
  return j.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// As above without line breaks.
std::string on_one_line(const Json& j) {
  return j.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json value_json(const Value& v) {
  return Json{{"name", std::string(v.name())},
              {"dtype", std::string(dtype_name(v.dtype()))},
              {"shape", std::vector<int64_t>(v.shape().begin(), v.shape().end())}};
}

Expected<std::string> inspect_tosa(const std::string& path, bool json) {
  TOSAIC_TRY(const auto file, MappedFile::open(path));
  TosaVersion version;
  TOSAIC_TRY(const auto module, tosa::read_flatbuffer(file->bytes(), file, path, &version));
  const std::string number = fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
  const Graph& graph = *module->main();
  if (!json) {
    PrintOptions options;
    options.max_constant_elements = 16;
    return fmt::format("// TOSA {}\n{}", number, print(*module, options));
  }
  std::map<std::string, int> counts;
  for (const auto& g : module->graphs()) {
    for (const Node& n : g->nodes())
      ++counts[std::string(n.full_name())];
  }
  Json j{
      {"kind", "tosa"}, {"version", number}, {"inputs", Json::array()}, {"outputs", Json::array()}};
  for (const Value* v : graph.inputs())
    j["inputs"].push_back(value_json(*v));
  for (const Value* v : graph.outputs())
    j["outputs"].push_back(value_json(*v));
  j["operations"] = counts;
  return dump(j);
}

std::string tensor_text(const PteTensor& t) {
  return fmt::format("{}[{}]", pte_dtype_name(t.dtype), fmt::join(t.sizes, ","));
}

Json plan_json(const PtePlan& plan) {
  const auto tensors = [&](const std::vector<int32_t>& indices) {
    Json list = Json::array();
    for (int32_t i : indices) {
      const auto* t = std::get_if<PteTensor>(&plan.values[static_cast<size_t>(i)]);
      list.push_back(t == nullptr ? "no tensor" : tensor_text(*t));
    }
    return list;
  };
  Json j{{"name", plan.name}, {"inputs", tensors(plan.inputs)}, {"outputs", tensors(plan.outputs)}};
  j["memory_bytes"] = plan.buffer_sizes;
  j["kernels"] = Json::array();
  for (const PteOperator& op : plan.operators) {
    j["kernels"].push_back(fmt::format("{}.{}", op.name, op.overload));
  }
  j["delegates"] = Json::array();
  for (const PteDelegate& d : plan.delegates) {
    Json one{{"id", d.id}, {"payload_bytes", d.payload.size()}};
    if (d.id == "EthosUBackend") {
      if (const auto payload = parse_vela_bin_stream(d.payload)) {
        one["command_bytes"] = payload->command_stream.size();
        one["weight_bytes"] = payload->weights.size();
        one["scratch_bytes"] = payload->scratch_bytes;
      } else {
        one["error"] = payload.error().message;
      }
    }
    j["delegates"].push_back(std::move(one));
  }
  j["instructions"] = Json::array();
  for (const PteInstruction& instruction : plan.instructions) {
    if (const auto* kernel = std::get_if<PteKernelCall>(&instruction)) {
      const PteOperator& op = plan.operators[static_cast<size_t>(kernel->op)];
      j["instructions"].push_back(
          fmt::format("{}.{}({})", op.name, op.overload, fmt::join(kernel->args, ", ")));
    } else if (const auto* call = std::get_if<PteDelegateCall>(&instruction)) {
      j["instructions"].push_back(
          fmt::format("delegate {}({})", call->delegate, fmt::join(call->args, ", ")));
    } else {
      j["instructions"].push_back("control flow");
    }
  }
  return j;
}

Expected<std::string> inspect_pte(const std::string& path, bool json) {
  TOSAIC_TRY(const auto file, MappedFile::open(path));
  Expected<PteProgram> read = read_pte(file->bytes());
  if (!read) return Diagnostic(read.error()).at({.file = path});
  const PteProgram& program = *read;
  Json j{{"kind", "pte"}, {"bytes", file->bytes().size()}};
  j["constants"] = program.constants.size();
  j["methods"] = Json::array();
  for (const PtePlan& plan : program.plans)
    j["methods"].push_back(plan_json(plan));
  if (json) return dump(j);
  std::string text = fmt::format("{}: {} bytes, {} constants\n", path, file->bytes().size(),
                                 program.constants.size());
  for (const Json& m : j["methods"]) {
    text += fmt::format("method {}\n", m["name"].get<std::string>());
    for (const char* key : {"inputs", "outputs", "kernels", "delegates", "instructions"}) {
      for (const Json& item : m[key]) {
        text += fmt::format("  {}: {}\n",
                            std::string_view(key).substr(0, std::string_view(key).size() - 1),
                            item.is_string() ? item.get<std::string>() : on_one_line(item));
      }
    }
    text += fmt::format("  memory: {} bytes\n", m["memory_bytes"].dump());
  }
  return text;
}

Expected<std::string> inspect_npz(const std::string& path, bool json) {
  TOSAIC_TRY(const std::vector<NpyArray> arrays, read_npz(path));
  Json list = Json::array();
  std::string text;
  for (const NpyArray& a : arrays) {
    list.push_back(Json{{"name", a.name}, {"dtype", a.dtype}, {"shape", a.shape}});
    text += fmt::format("{}: {}[{}]\n", a.name, a.dtype, fmt::join(a.shape, ","));
  }
  return json ? dump(Json{{"kind", "npz"}, {"arrays", list}}) : text;
}

Expected<std::string> inspect_by_name(const std::string& path, bool json) {
  if (path.ends_with(".pt2")) return aten::describe_pt2(path, json);
  if (path.ends_with(".tosa")) return inspect_tosa(path, json);
  if (path.ends_with(".pte")) return inspect_pte(path, json);
  if (path.ends_with(".npz") || path.ends_with(".npy")) return inspect_npz(path, json);
  return error(Code::kFileKind, "{}: inspect takes .pt2, .tosa, .pte, .npz and .npy", path);
}

}  // namespace

Expected<std::string> inspect(const std::string& path, bool json) {
  TOSAIC_TRY(const std::string text, inspect_by_name(path, json));
  return json ? text : printable(text);
}

}  // namespace tosaic
