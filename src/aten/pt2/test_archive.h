// SPDX-License-Identifier: Apache-2.0
// Only for tests.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "aten/pt2/reader.h"
#include "support/crc32.h"
#include "support/little_endian.h"
#include "support/test_folder.h"

namespace tosaic::aten {

using TestJson = nlohmann::ordered_json;
using TestMembers = std::vector<std::pair<std::string, std::string>>;

/// An archive of STORED members, as APPNOTE 4.3 describes it.
inline std::string test_zip(const TestMembers& members) {
  std::vector<std::byte> file, directory;
  const auto add = [](std::vector<std::byte>& to, const std::string& text) {
    for (const char c : text)
      to.push_back(static_cast<std::byte>(c));
  };
  for (const auto& [name, data] : members) {
    const auto offset = static_cast<uint32_t>(file.size());
    const auto size = static_cast<uint32_t>(data.size());
    const uint32_t crc = crc32(std::as_bytes(std::span(data)));
    const auto common = [&](std::vector<std::byte>& to) {
      for (const uint16_t v : {20, 0x0800, 0, 0, 0x21})
        append_le<uint16_t>(to, v);
      for (const uint32_t v : {crc, size, size})
        append_le<uint32_t>(to, v);
      append_le<uint16_t>(to, static_cast<uint16_t>(name.size()));
      append_le<uint16_t>(to, 0);
    };
    append_le<uint32_t>(file, 0x04034b50);
    common(file);
    add(file, name + data);
    append_le<uint32_t>(directory, 0x02014b50);
    append_le<uint16_t>(directory, 20);
    common(directory);
    for (int i = 0; i < 3; ++i)
      append_le<uint16_t>(directory, 0);
    append_le<uint32_t>(directory, 0);
    append_le<uint32_t>(directory, offset);
    add(directory, name);
  }
  const auto begin = static_cast<uint32_t>(file.size());
  file.insert(file.end(), directory.begin(), directory.end());
  append_le<uint32_t>(file, 0x06054b50);
  append_le<uint32_t>(file, 0);
  for (int i = 0; i < 2; ++i)
    append_le<uint16_t>(file, static_cast<uint16_t>(members.size()));
  append_le<uint32_t>(file, static_cast<uint32_t>(directory.size()));
  append_le<uint32_t>(file, begin);
  append_le<uint16_t>(file, 0);
  return {reinterpret_cast<const char*>(file.data()), file.size()};
}

/// Numbers of torch's schema.ScalarType.
enum TestDType {
  kTestU8 = 1,
  kTestI8 = 2,
  kTestI64 = 5,
  kTestF32 = 7,
  kTestComplex64 = 10,
  kTestBF16 = 13
};

inline TestJson test_sizes(const std::vector<int64_t>& sizes) {
  TestJson list = TestJson::array();
  for (const int64_t size : sizes)
    list.push_back({{"as_int", size}});
  return list;
}

inline TestJson test_meta(int dtype, const std::vector<int64_t>& sizes,
                          std::vector<int64_t> strides = {}, int64_t offset = 0) {
  if (strides.empty() && !sizes.empty()) {
    strides.assign(sizes.size(), 1);
    for (size_t i = sizes.size() - 1; i > 0; --i)
      strides[i - 1] = strides[i] * sizes[i];
  }
  return {{"dtype", dtype},
          {"sizes", test_sizes(sizes)},
          {"requires_grad", false},
          {"device", {{"type", "cpu"}, {"index", nullptr}}},
          {"strides", test_sizes(strides)},
          {"storage_offset", {{"as_int", offset}}},
          {"layout", 7}};
}

inline TestJson test_tensor(const std::string& name) {
  return {{"as_tensor", {{"name", name}}}};
}
inline TestJson test_tensors(const std::vector<std::string>& names) {
  TestJson list = TestJson::array();
  for (const std::string& name : names)
    list.push_back({{"name", name}});
  return {{"as_tensors", list}};
}

/// Writes programs as torch.export.save does, as far as tests need it.
struct TestPt2 {
  std::string root = "net/";
  std::string model = "model";
  TestJson tensor_values = TestJson::object();
  TestJson sym_int_values = TestJson::object();
  TestJson nodes = TestJson::array();
  TestJson input_specs = TestJson::array();
  TestJson output_specs = TestJson::array();
  TestJson weights = TestJson::object();
  TestJson constants = TestJson::object();
  TestMembers blobs;
  TestMembers marks = {{"archive_format", "pt2"},
                       {"archive_version", "0"},
                       {"byteorder", "little"},
                       {".data/version", "6\n"}};
  int major = 8;

  TestPt2& input(const std::string& name, int dtype, const std::vector<int64_t>& sizes) {
    tensor_values[name] = test_meta(dtype, sizes);
    input_specs.push_back({{"user_input", {{"arg", test_tensor(name)}}}});
    return *this;
  }
  TestPt2& blob(const std::string& name, const std::string& bytes) {
    blobs.emplace_back(name, bytes);
    return *this;
  }
  /// `kind`: parameter, buffer, or tensor_constant; stored in `path` below data/.
  TestPt2& stored(const std::string& kind, const std::string& name, const std::string& stored_name,
                  const TestJson& meta, const std::string& path, bool persistent = true) {
    tensor_values[name] = meta;
    TestJson spec{{"arg", {{"name", name}}}, {kind + "_name", stored_name}};
    if (kind == "buffer") spec["persistent"] = persistent;
    input_specs.push_back({{kind, spec}});
    const bool in_weights = kind == "parameter" || (kind == "buffer" && persistent);
    (in_weights ? weights : constants)[stored_name] = {{"path_name", path},
                                                       {"is_param", kind == "parameter"},
                                                       {"use_pickle", false},
                                                       {"tensor_meta", meta}};
    return *this;
  }
  TestPt2& node(const std::string& target, const TestJson& inputs,
                const std::vector<std::string>& outputs, int dtype = kTestF32,
                const std::vector<int64_t>& sizes = {2, 3}) {
    TestJson list = TestJson::array();
    for (const auto& [name, argument] : inputs.items()) {
      list.push_back({{"name", name}, {"arg", argument}, {"kind", 1}});
    }
    TestJson out = TestJson::array();
    for (const std::string& name : outputs) {
      out.push_back(test_tensor(name));
      tensor_values[name] = test_meta(dtype, sizes);
    }
    nodes.push_back({{"target", target},
                     {"inputs", list},
                     {"outputs", out},
                     {"metadata", TestJson::object()},
                     {"is_hop_single_tensor_return", nullptr},
                     {"name", outputs.empty() ? "none" : outputs[0]}});
    return *this;
  }
  TestPt2& output(const std::string& name) {
    output_specs.push_back({{"user_output", {{"arg", test_tensor(name)}}}});
    return *this;
  }

  TestJson program() const {
    TestJson graph{{"inputs", TestJson::array()},
                   {"outputs", TestJson::array()},
                   {"nodes", nodes},
                   {"tensor_values", tensor_values},
                   {"sym_int_values", sym_int_values}};
    return {{"graph_module",
             {{"graph", graph},
              {"signature", {{"input_specs", input_specs}, {"output_specs", output_specs}}}}},
            {"opset_version", {{"aten", 10}}},
            {"range_constraints", {{"s77", {{"min_val", 2}, {"max_val", 64}}}}},
            {"schema_version", {{"major", major}, {"minor", 20}}},
            {"verifiers", {"TRAINING"}},
            {"torch_version", "2.13.0"}};
  }
  TestMembers members() const {
    TestMembers all;
    const auto add = [&](const std::string& name, const std::string& data) {
      all.emplace_back(root + name, data);
    };
    add("models/" + model + ".json", program().dump());
    add("data/weights/" + model + "_weights_config.json", TestJson{{"config", weights}}.dump());
    add("data/constants/" + model + "_constants_config.json",
        TestJson{{"config", constants}}.dump());
    for (const auto& [name, data] : blobs)
      add("data/" + name, data);
    for (const auto& [name, data] : marks)
      add(name, data);
    return all;
  }
  std::string bytes() const { return test_zip(members()); }
};

/// The bytes of float32 numbers.
inline std::string test_floats(const std::vector<float>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float)};
}

inline Expected<std::unique_ptr<Module>> read_test_pt2(const std::string& bytes,
                                                       std::string_view model = {}) {
  const TestMemoryFile file;
  return read_pt2(file.put(bytes), model);
}
inline Expected<std::unique_ptr<Module>> read_test_pt2(const TestPt2& program) {
  return read_test_pt2(program.bytes());
}

/// The message of the error, with its code in front; "" when there is none.
template <typename T>
std::string test_error(const Expected<T>& result) {
  if (result) return {};
  return std::string(code_id(result.error().code)) + ": " + result.error().message;
}

}  // namespace tosaic::aten
