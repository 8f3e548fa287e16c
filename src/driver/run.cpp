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

/// An input or output: the value in the TOSA graph, and what the user sees of it.
struct Slot {
  const Value& value;
  HostBorder border;

  /// In the arrays of the user.
  DType dtype() const { return border.codes ? DType::kF32 : value.dtype(); }
};

Diagnostic input_error(const Slot& slot, std::string_view what, const std::string& file) {
  TensorType type = slot.value.type();
  type.dtype = slot.dtype();
  return error(Code::kInput, "input \"{}\" is {}; {}", slot.value.name(), torch_text(type), what)
      .at({.file = file});
}

Diagnostic no_array(const Slot& v, const std::vector<NpyArray>& arrays, const std::string& file) {
  if (arrays.empty()) return input_error(v, "the file has no array at all", file);
  std::vector<std::string_view> names;
  for (const NpyArray& given : arrays)
    names.push_back(given.name);
  return input_error(
      v, fmt::format("the file has no array of that name but {}", fmt::join(names, ", ")), file);
}

/// int64, which PyTorch's programs have in the place of TOSA's int32, becomes it.
Status check_type(const Slot& v, NpyArray& a, const std::string& file) {
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

template <typename T, typename F>
std::vector<std::byte> elements_from(size_t count, F element) {
  std::vector<std::byte> bytes(count * sizeof(T));
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<T>(element(i));
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

template <typename T>
T element_at(const std::vector<std::byte>& bytes, size_t index) {
  T value;
  std::memcpy(&value, bytes.data() + index * sizeof(T), sizeof(T));
  return value;
}

/// float32 numbers as the codes of the graph's input.
void quantise_array(const Slot& slot, NpyArray& a) {
  if (!slot.border.codes) return;
  const auto quantizer = numeric::tensor_quantizer(*slot.border.codes);
  const size_t count = a.data.size() / sizeof(float);
  const auto code = [&](size_t i) { return quantizer.quantize(element_at<float>(a.data, i)); };
  a.data = element_bytes(slot.value.dtype()) == 1 ? elements_from<int8_t>(count, code)
                                                  : elements_from<int16_t>(count, code);
  a.dtype = array_type(slot.value.dtype());
}

/// Codes of the graph's output as float32, its int32 as int64 where the program has that.
void restore_dtype(const Slot& slot, NpyArray& a) {
  const DType stored = slot.value.dtype();
  const size_t count = a.data.size() / element_bytes(stored);
  if (slot.border.codes) {
    const auto quantizer = numeric::tensor_quantizer(*slot.border.codes);
    a.data = elements_from<float>(count, [&](size_t i) {
      const int64_t code = stored == DType::kI16  ? element_at<int16_t>(a.data, i)
                           : stored == DType::kU8 ? element_at<uint8_t>(a.data, i)
                                                  : element_at<int8_t>(a.data, i);
      return quantizer.dequantize(code);
    });
    a.dtype = array_type(DType::kF32);
  } else if (stored == DType::kI32 && slot.border.dtype == DType::kI64) {
    a.data =
        elements_from<int64_t>(count, [&](size_t i) { return element_at<int32_t>(a.data, i); });
    a.dtype = array_type(DType::kI64);
  }
}

Expected<Samples> match_inputs(const Graph& graph, std::span<const HostBorder> borders,
                               std::vector<NpyArray>& arrays, const std::string& file) {
  Samples samples;
  for (size_t i = 0; i < graph.inputs().size(); ++i) {
    const Slot slot{*graph.inputs()[i], borders[i]};
    NpyArray* a = find_array(arrays, graph, i);
    if (a == nullptr) return no_array(slot, arrays, file);
    TOSAIC_CHECK_OK(check_type(slot, *a, file));
    const std::vector<int64_t> wanted(slot.value.shape().begin(), slot.value.shape().end());
    const bool exact = a->shape == wanted;
    const bool batched = !exact && a->shape.size() == wanted.size() + 1 &&
                         std::equal(wanted.begin(), wanted.end(), a->shape.begin() + 1);
    if (!exact && !batched) {
      return input_error(
          slot, fmt::format("array \"{}\" has shape [{}]", a->name, fmt::join(a->shape, ",")),
          file);
    }
    const int64_t count = batched ? a->shape[0] : 1;
    if (i > 0 && (batched != samples.batched || count != samples.count)) {
      return input_error(
          slot,
          fmt::format("array \"{}\" has {} samples, another has {}", a->name, count, samples.count),
          file);
    }
    quantise_array(slot, *a);
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
  if (array.dtype == "i8") range = range_text<int64_t>(array);
  if (array.dtype == "b1") range = range_text<uint8_t>(array);
  return fmt::format("{}: {}[{}]{}{}\n", array.name, npy_dtype_name(array.dtype),
                     fmt::join(array.shape, ","), range.empty() ? "" : " ", range);
}

/// The graph to execute, and what the user sees at its borders.
Expected<HostProgram> load(const RunOptions& options) {
  const bool is_pt2 = options.program.ends_with(".pt2");
  if (!is_pt2 && !options.program.ends_with(".tosa")) {
    Diagnostic d = error(Code::kFileKind, "{} is neither a .tosa nor a .pt2", options.program);
    d.hint = options.program.ends_with(".pte")
                 ? "a .pte runs in ExecuTorch; run the .pt2 that it was made of, with the same "
                   "--target and --calibrate: that computes the same integers"
                 : "write a .pt2 with torch.export.save(torch.export.export(model, inputs), file)";
    return d;
  }
  CompileOptions compile = options.compile;
  if (!is_pt2) {
    const std::pair<std::string_view, bool> given[] = {
        {"--target", !compile.target.name.empty()},
        {"--calibrate", !compile.calibration.path.empty()},
        {"--model-name", !compile.model.empty()},
        {"--shape", !compile.sizes.empty()},
        {"--io-dtype", compile.io.dtype != DType::kUnknown}};
    for (const auto& [flag, is_given] : given) {
      if (!is_given) continue;
      return error(Code::kOption, "{}: {} is TOSA already", flag, options.program)
          .with_hint("the flag is for a .pt2");
    }
    TOSAIC_TRY(const auto file, MappedFile::open(options.program));
    HostProgram program;
    TOSAIC_TRY(program.module, tosa::read_flatbuffer(file->bytes(), file, options.program));
    program.inputs.resize(program.module->main()->inputs().size());
    program.outputs.resize(program.module->main()->outputs().size());
    return program;
  }
  if (compile.target.kind == TargetKind::kCpu && !compile.target.name.empty()) {
    return error(Code::kOption, "--target cpu: that program is computed by ExecuTorch's kernels")
        .with_hint("leave it out, or give tosa-fp, tosa-int or an Ethos-U");
  }
  compile.input = options.program;
  const bool wants_floats = compile.io.dtype == DType::kUnknown || compile.io.dtype == DType::kF32;
  if (wants_floats) compile.io.dtype = DType::kUnknown;
  TOSAIC_TRY(HostProgram program, lower_for_host(compile));
  if (!wants_floats) {
    program.inputs.assign(program.inputs.size(), HostBorder());
    program.outputs.assign(program.outputs.size(), HostBorder());
  }
  return program;
}

}  // namespace

Expected<std::vector<Diagnostic>> run_program(const RunOptions& options, std::string* summary) {
  if (!options.output.empty()) {
    if (!options.output.ends_with(".npz")) {
      return error(Code::kOption, "--output {}: the suffix must be .npz", options.output);
    }
    TOSAIC_CHECK_OK(refuse_overwriting("--output", options.output, options.input));
  }
  TOSAIC_TRY(HostProgram program, load(options));
  if (options.input.empty()) return std::move(program.diagnostics);
  const Graph& graph = *program.module->main();
  TOSAIC_TRY(std::vector<NpyArray> arrays, read_npz(options.input));
  TOSAIC_TRY(const Samples samples, match_inputs(graph, program.inputs, arrays, options.input));

  std::vector<NpyArray> results;
  for (const Value* v : graph.outputs()) {
    NpyArray a{std::string(v->name()), std::string(array_type(v->dtype())), {}, {}};
    if (samples.batched) a.shape.push_back(samples.count);
    a.shape.insert(a.shape.end(), v->shape().begin(), v->shape().end());
    results.push_back(std::move(a));
  }
  tosa::Reference reference(graph);
  std::string unpredictable;
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
    if (unpredictable.empty()) unpredictable = reference.unpredictable();
  }
  for (size_t i = 0; i < results.size(); ++i)
    restore_dtype({*graph.outputs()[i], program.outputs[i]}, results[i]);
  if (!options.output.empty()) TOSAIC_CHECK_OK(write_npz(options.output, results));
  for (const NpyArray& array : results) {
    if (summary != nullptr) *summary += summary_of(array);
  }
  if (!unpredictable.empty()) {
    Diagnostic d = error(Code::kUnpredictable, "{}", unpredictable);
    d.severity = Severity::kWarning;
    program.diagnostics.push_back(std::move(d));
  }
  return std::move(program.diagnostics);
}

}  // namespace tosaic
