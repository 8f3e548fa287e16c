// SPDX-License-Identifier: Apache-2.0
// Calls Vela through its Python binding: vela_worker.py, which lies in this binary as text, is the
// other side, and describes the messages.
#include <simdjson.h>

#include <cstring>

#include "ethosu/vela_call.h"
#include "ethosu/vela_config.h"
#include "ethosu/vela_worker_py.h"
#include "support/little_endian.h"
#include "support/output_file.h"

namespace tosaic {
namespace {

constexpr uint32_t kMaxHeadBytes = uint32_t{64} << 20;
constexpr uint64_t kMaxBlobBytes = uint64_t{1} << 32;

struct Message {
  simdjson::dom::parser parser;
  simdjson::dom::object head;
  std::vector<std::vector<std::byte>> blobs;
};

Diagnostic bad_output(std::string_view what) {
  return error(Code::kVelaOutput, "Vela's result cannot be read: {}", what);
}

/// Reads one message. An error here says only that the stream is malformed; when the child ended or
/// ran out of time, `ended` is set instead.
Status receive(ChildProcess& child, Message& message, bool& ended) {
  auto read = [&](std::span<std::byte> to) {
    ended = !child.exchange({}, to);
    return !ended;
  };
  std::array<std::byte, 4> length;
  if (!read(length)) return ok();
  uint32_t head_bytes = load_le<uint32_t>(length.data());
  if (head_bytes > kMaxHeadBytes) return bad_output("the head is too long");
  std::vector<std::byte> text(head_bytes);
  if (!read(text)) return ok();
  std::string_view view(reinterpret_cast<const char*>(text.data()), text.size());
  if (message.parser.parse(view.data(), view.size()).get(message.head) != simdjson::SUCCESS) {
    return bad_output("the head is no JSON object");
  }
  simdjson::dom::array lengths;
  if (message.head["blobs"].get(lengths) != simdjson::SUCCESS) return bad_output("no list 'blobs'");
  for (simdjson::dom::element element : lengths) {
    uint64_t num_bytes = 0;
    if (element.get(num_bytes) != simdjson::SUCCESS || num_bytes > kMaxBlobBytes) {
      return bad_output("a blob has no sensible length");
    }
    message.blobs.emplace_back(num_bytes);
    if (!read(message.blobs.back())) return ok();
  }
  return ok();
}

std::string options_text(const VelaConfig& config, const VelaOptions& options) {
  return fmt::format(
      "[compiler]\n{}output_format=Raw\ncop_format=COP1\n\n[scheduler]\noptimize={}\narena_size_"
      "limit={}\n"
      "cpu_tensor_alignment=16\ntensor_allocator=HillClimb\n",
      options.enable_db ? "enable_db=true\n" : "",
      options.optimise == VelaOptimise::kSize ? "Size" : "Performance", config.arena_cache_size);
}

std::string json_string(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::vector<std::byte> request_head(const VelaConfig& config, const VelaOptions& options,
                                    size_t tosa_bytes) {
  const VelaAccelerator& a = config.accelerator;
  std::string system = fmt::format(
      "[architecture]\nmacs={}\ncores={}\n[vela]\nsystem_config_name={}\nmemory_mode_name={}\n{}",
      a.macs, a.cores, config.system_config, config.memory_mode, config.ini);
  std::string head = fmt::format(
      "{{\"architecture\":{},\"system\":{},\"options\":{},\"enable_db\":{},\"blobs\":[{}]}}",
      json_string(a.architecture), json_string(system), json_string(options_text(config, options)),
      options.enable_db, tosa_bytes);
  std::vector<std::byte> out;
  append_le(out, static_cast<uint32_t>(head.size()));
  auto bytes = std::as_bytes(std::span(head));
  out.insert(out.end(), bytes.begin(), bytes.end());
  return out;
}

/// Takes fields out of JSON and remembers whether one was missing.
struct Fields {
  bool good = true;

  template <typename T>
  T get(simdjson::simdjson_result<simdjson::dom::element> field) {
    T value{};
    if (field.get(value) != simdjson::SUCCESS) good = false;
    return value;
  }
  simdjson::dom::object object(simdjson::dom::element element) {
    return get<simdjson::dom::object>(simdjson::dom::element(element));
  }
  uint64_t number(simdjson::dom::object from, std::string_view key) {
    return get<uint64_t>(from[key]);
  }
  int32_t small(simdjson::simdjson_result<simdjson::dom::element> field) {
    int64_t value = get<int64_t>(field);
    if (value < INT32_MIN || value > INT32_MAX) good = false;
    return static_cast<int32_t>(value);
  }
  std::string text(simdjson::simdjson_result<simdjson::dom::element> field) {
    return std::string(get<std::string_view>(field));
  }

  VelaTensor tensor(simdjson::dom::object from) {
    VelaTensor t;
    t.region = small(from["region"]);
    t.address = number(from, "address");
    t.num_bytes = number(from, "size");
    t.element_size = small(from["element_size"]);
    auto shape = get<simdjson::dom::array>(from["shape"]);
    if (!good || shape.size() != t.shape.size()) {
      good = false;
      return t;
    }
    for (size_t i = 0; i < t.shape.size(); i++)
      t.shape[i] = small(shape.at(i));
    return t;
  }

  template <typename T, typename Function>
  std::vector<T> list(simdjson::dom::object from, std::string_view key, Function each) {
    std::vector<T> out;
    auto items = get<simdjson::dom::array>(from[key]);
    if (!good) return out;
    for (simdjson::dom::element item : items)
      out.push_back(each(item));
    return out;
  }

  VelaMemory memory(simdjson::dom::object from) {
    VelaMemory m;
    m.name = text(from["name"]);
    m.peak_bytes = number(from, "peak");
    m.access_cycles = number(from, "cycles");
    m.accesses = list<VelaMemoryAccess>(from, "accesses", [this](simdjson::dom::element row) {
      return VelaMemoryAccess{text(row.at(0)), get<uint64_t>(row.at(1)), get<uint64_t>(row.at(2)),
                              get<uint64_t>(row.at(3))};
    });
    return m;
  }

  VelaPerformance performance(simdjson::dom::object from) {
    VelaPerformance p;
    p.total_cycles = number(from, "total_cycles");
    p.npu_cycles = number(from, "npu_cycles");
    p.cpu_cycles = number(from, "cpu_cycles");
    p.macs = number(from, "macs");
    p.npu_ops = number(from, "npu_ops");
    p.cpu_ops = number(from, "cpu_ops");
    p.memories = list<VelaMemory>(from, "memories",
                                  [this](simdjson::dom::element m) { return memory(object(m)); });
    return p;
  }
};

Expected<VelaResult> read_result(Message& message) {
  if (message.blobs.size() != 2) return bad_output("not two blobs");
  Fields fields;
  VelaResult result;
  simdjson::dom::object head = message.head;
  result.command_stream = std::move(message.blobs[0]);
  result.read_only = std::move(message.blobs[1]);
  result.scratch_bytes = fields.number(head, "scratch");
  result.scratch_fast_bytes = fields.number(head, "scratch_fast");
  auto tensor = [&fields](simdjson::dom::element t) { return fields.tensor(fields.object(t)); };
  result.inputs = fields.list<VelaTensor>(head, "inputs", tensor);
  result.outputs = fields.list<VelaTensor>(head, "outputs", tensor);
  uint64_t num_variables = fields.number(head, "variables");
  auto performance = fields.get<simdjson::dom::object>(head["performance"]);
  if (fields.good) result.performance = fields.performance(performance);
  result.ops = fields.list<VelaOp>(head, "ops", [&fields](simdjson::dom::element row) {
    return VelaOp{fields.text(row.at(0)),          fields.text(row.at(1)),
                  fields.get<int64_t>(row.at(2)),  fields.get<uint64_t>(row.at(3)),
                  fields.get<uint64_t>(row.at(4)), fields.get<uint64_t>(row.at(5))};
  });
  if (!fields.good) return bad_output("a field is missing or of another type");
  if (num_variables != 0) return bad_output("it has variables, which a payload cannot carry");
  return result;
}

}  // namespace

Expected<VelaResult> call_vela_binding(std::span<const std::byte> tosa, const VelaOptions& options,
                                       const std::string& interpreter) {
  ChildCommand command;
  command.argv = {interpreter, "-c", std::string(kVelaWorkerPy)};
  command.timeout_seconds = options.timeout_seconds;
  command.memory_limit = options.memory_limit;
  TOSAIC_TRY(auto child, ChildProcess::start(command));
  bool ended = false;
  Message hello;
  TOSAIC_CHECK_OK(receive(*child, hello, ended));
  if (ended) {
    ChildEnd end = child->wait();
    // An interpreter that cannot even say hello (too old, no json) is one that has no Vela.
    if (!end.timed_out && end.signal == 0) {
      return error(Code::kVelaMissing, "'{}' does not run Python 3 code", interpreter);
    }
    return child_failed(end, options, child->log());
  }
  std::string_view missing, version, ini_path;
  if (hello.head["missing"].get(missing) == simdjson::SUCCESS) {
    return error(Code::kVelaMissing, "'{}' has no ethosu.regor: {}", interpreter,
                 one_line(missing));
  }
  if (hello.head["version"].get(version) != simdjson::SUCCESS ||
      hello.head["ini"].get(ini_path) != simdjson::SUCCESS) {
    return bad_output("the first message is not the expected one");
  }
  std::string config_file =
      options.config_file.empty() ? std::string(ini_path) : options.config_file;
  TOSAIC_TRY(std::string ini, read_text_file(config_file));
  TOSAIC_TRY(VelaConfig config, resolve_vela_config(ini, config_file, options));

  std::vector<std::byte> request = request_head(config, options, tosa.size());
  Message answer;
  ended = !child->exchange(request, {}) || !child->exchange(tosa, {});
  if (!ended) TOSAIC_CHECK_OK(receive(*child, answer, ended));
  if (ended) {
    ChildEnd end = child->wait();
    return child_failed(end, options, child->log());
  }
  std::string_view refused;
  if (answer.head["refused"].get(refused) == simdjson::SUCCESS) {
    return error(Code::kVelaRefused, "Vela {} refuses the program for {}: {}", version,
                 config.accelerator.name, one_line(refused));
  }
  if (answer.head["memory"].error() == simdjson::SUCCESS) return out_of_memory(options);
  TOSAIC_TRY(VelaResult result, read_result(answer));
  result.version = version;
  result.core_clock_hz = config.core_clock_hz;
  result.called = interpreter;
  TOSAIC_CHECK_OK(check_vela_result(result));
  return result;
}

}  // namespace tosaic
