// SPDX-License-Identifier: Apache-2.0
#include "driver/run.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "ir/torch_text.h"
#include "support/mapped_file.h"
#include "support/npy_header.h"
#include "support/npz.h"
#include "support/output_file.h"
#include "tosa/flatbuffer.h"
#include "tosa/reference.h"

namespace tosaic {
namespace {

/// NumPy's type for values of a dtype; for those that it lacks that of their bits.
std::string_view array_type(DType dtype) {
  if (const auto type = numpy_type(dtype)) return *type;
  switch (element_bytes(dtype)) {
    case 1:
      return "u1";
    case 2:
      return "u2";
    default:
      return "i8";
  }
}

/// The array of an input: by its name; else by position when no array has a name of the program.
NpyArray* find_array(std::vector<NpyArray>& arrays, const Graph& graph, size_t index) {
  const auto named = [&](const Value* v) {
    return std::ranges::find(arrays, v->name(),
                             [](const NpyArray& a) -> std::string_view { return a.name; });
  };
  if (const auto it = named(graph.inputs()[index]); it != arrays.end()) return &*it;
  const bool any_named =
      std::ranges::any_of(graph.inputs(), [&](const Value* v) { return named(v) != arrays.end(); });
  return any_named || index >= arrays.size() ? nullptr : &arrays[index];
}

/// Input arrays, split into samples.
struct Samples {
  bool batched = false;
  int64_t count = 1;
  std::vector<const NpyArray*> arrays;
};

Diagnostic input_error(const Value& v, std::string_view what, const std::string& file) {
  return error(Code::kInput, "input \"{}\" is {}; {}", v.name(), torch_text(v.type()), what)
      .at({.file = file});
}

Diagnostic no_array(const Value& v, const std::vector<NpyArray>& arrays, const std::string& file) {
  if (arrays.empty()) return input_error(v, "the file has no array at all", file);
  std::vector<std::string_view> names;
  for (const NpyArray& given : arrays)
    names.push_back(given.name);
  return input_error(
      v, fmt::format("the file has no array of that name but {}", fmt::join(names, ", ")), file);
}

/// int64, which PyTorch's programs have in the place of TOSA's int32, becomes it.
Status check_type(const Value& v, NpyArray& a, const std::string& file) {
  const std::string_view type = array_type(v.dtype());
  if (a.dtype == type) return ok();
  if (v.dtype() == DType::kI32 && a.dtype == "i8") {
    if (!narrow_to_int32(a)) return ok();
    return input_error(
        v, fmt::format("array \"{}\" has an integer that int32 does not hold", a.name), file);
  }
  return input_error(v,
                     fmt::format("array \"{}\" has type {}, {} is needed", a.name,
                                 npy_dtype_name(a.dtype), npy_dtype_name(type)),
                     file)
      .with_hint(astype_hint(type));
}

Expected<Samples> match_inputs(const Graph& graph, std::vector<NpyArray>& arrays,
                               const std::string& file) {
  Samples samples;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Value& v = *graph.inputs()[i];
    NpyArray* a = find_array(arrays, graph, i);
    if (a == nullptr) return no_array(v, arrays, file);
    TOSAIC_CHECK_OK(check_type(v, *a, file));
    const std::vector<int64_t> wanted(v.shape().begin(), v.shape().end());
    const bool exact = a->shape == wanted;
    const bool batched = !exact && a->shape.size() == wanted.size() + 1 &&
                         std::equal(wanted.begin(), wanted.end(), a->shape.begin() + 1);
    if (!exact && !batched) {
      return input_error(
          v, fmt::format("array \"{}\" has shape [{}]", a->name, fmt::join(a->shape, ",")), file);
    }
    const int64_t count = batched ? a->shape[0] : 1;
    if (i > 0 && (batched != samples.batched || count != samples.count)) {
      return input_error(
          v,
          fmt::format("array \"{}\" has {} samples, another has {}", a->name, count, samples.count),
          file);
    }
    samples.batched = batched;
    samples.count = count;
    samples.arrays.push_back(a);
  }
  return samples;
}

template <typename T>
std::string range_text(const NpyArray& array) {
  double low = std::numeric_limits<double>::infinity();
  double high = -low;
  double sum = 0;
  const size_t count = array.data.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T stored;
    std::memcpy(&stored, array.data.data() + i * sizeof(T), sizeof(T));
    const auto value = static_cast<double>(stored);
    low = std::min(low, value);
    high = std::max(high, value);
    sum += value;
  }
  if (count == 0) return "empty";
  return fmt::format("from {:.6g} to {:.6g}, mean {:.6g}", low, high,
                     sum / static_cast<double>(count));
}

/// A line of an output: its shape and the range of its numbers.
std::string summary_of(const NpyArray& array) {
  std::string range;
  if (array.dtype == "f4") range = range_text<float>(array);
  if (array.dtype == "i1") range = range_text<int8_t>(array);
  if (array.dtype == "i2") range = range_text<int16_t>(array);
  if (array.dtype == "i4") range = range_text<int32_t>(array);
  if (array.dtype == "b1") range = range_text<uint8_t>(array);
  return fmt::format("{}: {}[{}]{}{}\n", array.name, npy_dtype_name(array.dtype),
                     fmt::join(array.shape, ","), range.empty() ? "" : " ", range);
}

}  // namespace

Expected<std::string> run_program(const RunOptions& options, std::string* summary) {
  if (!options.program.ends_with(".tosa")) {
    return error(Code::kFileKind, "{} is not a .tosa file", options.program)
        .with_hint("compile the program with --target tosa-int or tosa-fp first");
  }
  if (!options.output.empty()) {
    if (!options.output.ends_with(".npz")) {
      return error(Code::kOption, "--output {}: the suffix must be .npz", options.output);
    }
    TOSAIC_CHECK_OK(refuse_overwriting("--output", options.output, options.input));
  }
  TOSAIC_TRY(const auto file, MappedFile::open(options.program));
  TOSAIC_TRY(const auto module, tosa::read_flatbuffer(file->bytes(), file, options.program));
  if (options.input.empty()) return std::string();
  const Graph& graph = *module->main();
  TOSAIC_TRY(std::vector<NpyArray> arrays, read_npz(options.input));
  TOSAIC_TRY(const Samples samples, match_inputs(graph, arrays, options.input));

  std::vector<NpyArray> results;
  for (const Value* v : graph.outputs()) {
    NpyArray a{std::string(v->name()), std::string(array_type(v->dtype())), {}, {}};
    if (samples.batched) a.shape.push_back(samples.count);
    a.shape.insert(a.shape.end(), v->shape().begin(), v->shape().end());
    results.push_back(std::move(a));
  }
  tosa::Reference reference(graph);
  std::string warning;
  for (int64_t s = 0; s < samples.count; ++s) {
    std::vector<tosa::HostTensor> inputs;
    for (size_t i = 0; i < graph.inputs().size(); ++i) {
      const Value& v = *graph.inputs()[i];
      const size_t bytes = samples.arrays[i]->data.size() / static_cast<size_t>(samples.count);
      const std::span<const std::byte> data(samples.arrays[i]->data);
      inputs.push_back(tosa::HostTensor::view(v.dtype(), v.shape(),
                                              data.subspan(static_cast<size_t>(s) * bytes, bytes)));
    }
    TOSAIC_TRY(const auto outputs, reference.run(inputs));
    for (size_t i = 0; i < outputs.size(); ++i) {
      results[i].data.insert(results[i].data.end(), outputs[i].bytes.begin(),
                             outputs[i].bytes.end());
    }
    if (warning.empty() && !reference.unpredictable().empty()) warning = reference.unpredictable();
  }
  if (!options.output.empty()) TOSAIC_CHECK_OK(write_npz(options.output, results));
  for (const NpyArray& array : results) {
    if (summary != nullptr) *summary += summary_of(array);
  }
  return warning;
}

}  // namespace tosaic
