// SPDX-License-Identifier: Apache-2.0
#include "quant/calibration_data.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <optional>
#include <string_view>

#include "aten/builder.h"
#include "ir/torch_text.h"
#include "quant/histogram.h"
#include "support/npy_header.h"

namespace tosaic {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHowTo =
    "write the samples with numpy.savez(file, name=array), an array per input whose first axis "
    "counts the samples";

Diagnostic bad_samples(const std::string& path, std::string message) {
  return error(Code::kInput, "calibration: {}", message)
      .at({.file = path})
      .with_hint(std::string(kHowTo));
}

/// The files to read: the path itself, or the .npz files of a folder.
Expected<std::vector<std::string>> files_of(const std::string& path) {
  std::error_code failure;
  if (!fs::is_directory(path, failure)) return std::vector<std::string>{path};
  std::vector<std::string> files;
  for (fs::directory_iterator it(path, failure), end; !failure && it != end;
       it.increment(failure)) {
    if (it->path().extension() == ".npz") files.push_back(it->path().string());
  }
  if (failure) return error(Code::kFileOpen, "{}: {}", path, failure.message());
  if (files.empty()) return bad_samples(path, "the folder has no .npz file");
  std::ranges::sort(files);
  return files;
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

/// The position of the first NaN, or nothing.
template <typename T>
std::optional<size_t> find_nan(const NpyArray& array) {
  const size_t count = array.data.size() / sizeof(T);
  for (size_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, array.data.data() + i * sizeof(T), sizeof(T));
    if (std::isnan(value)) return i;
  }
  return std::nullopt;
}

/// The position of a float32 that is infinite, or as good as that. Masks are made of -inf and of a
/// type's least number.
std::optional<size_t> find_infinity(const NpyArray& array) {
  for (size_t i = 0; i < array.data.size() / sizeof(float); ++i) {
    float value;
    std::memcpy(&value, array.data.data() + i * sizeof(float), sizeof(float));
    if (value >= kGreatestMagnitude) return i;
  }
  return std::nullopt;
}

/// Whether an array may hold samples of an input; others are not unpacked, however great they are.
bool fits_some_input(const NpyArray& array, const Graph& graph) {
  return std::ranges::any_of(graph.inputs(), [&](const Value* input) {
    const Shape& shape = input->shape();
    return numpy_type(input->dtype()) == array.dtype &&
           array.shape.size() == static_cast<size_t>(shape.rank()) + 1 &&
           std::equal(shape.begin(), shape.end(), array.shape.begin() + 1);
  });
}

/// int64 becomes int32, as it is held.
Status take_array(const std::string& path, const Value& input, NpyArray& array) {
  const auto type = numpy_type(input.dtype());
  if (!type || array.dtype != *type) {
    Diagnostic d =
        bad_samples(path, fmt::format("input \"{}\" is {}, array \"{}\" has type {}; {} is needed",
                                      input.name(), torch_text(input.type()), array.name,
                                      npy_dtype_name(array.dtype),
                                      type ? npy_dtype_name(*type) : "a type that NumPy lacks"));
    if (type) d.hint = astype_hint(*type);
    return d;
  }
  const Shape& shape = input.shape();
  if (array.shape.size() != static_cast<size_t>(shape.rank()) + 1 ||
      !std::equal(shape.begin(), shape.end(), array.shape.begin() + 1)) {
    return bad_samples(
        path,
        fmt::format("input \"{}\" is {}, array \"{}\" has shape [{}]; [samples{}{}] is needed",
                    input.name(), torch_text(input.type()), array.name, fmt::join(array.shape, ","),
                    shape.rank() > 0 ? "," : "", fmt::join(shape.begin(), shape.end(), ",")));
  }
  const std::optional<size_t> nan = array.dtype == "f4"   ? find_nan<float>(array)
                                    : array.dtype == "f8" ? find_nan<double>(array)
                                                          : std::nullopt;
  const auto elements = static_cast<size_t>(std::max<int64_t>(1, shape.num_elements()));
  const auto has = [&](std::string_view what, size_t index) {
    return bad_samples(
        path, fmt::format("array \"{}\" has {} in sample {}", array.name, what, index / elements));
  };
  if (nan) return has("a NaN", *nan);
  if (array.dtype == "f4") {
    if (const auto i = find_infinity(array)) return has("an infinity, or a number above 1e30,", *i);
  }
  if (array.dtype == "i8") {
    if (const auto i = narrow_to_int32(array)) {
      return has("an integer that int32 does not hold", *i);
    }
  }
  return ok();
}

}  // namespace

Status CalibrationData::add(const std::string& path, const Graph& graph, int64_t most) {
  TOSAIC_TRY(std::vector<NpyArray> arrays, read_npz(path, [&](const NpyArray& head) {
               return fits_some_input(head, graph) ? most : 0;
             }));
  std::vector<const NpyArray*> used;
  File file;
  file.first = num_samples_;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const Value& input = *graph.inputs()[i];
    NpyArray* array = find_array(arrays, graph, i);
    if (array == nullptr) {
      std::vector<std::string_view> names;
      for (const NpyArray& given : arrays)
        names.push_back(given.name);
      return bad_samples(path,
                         fmt::format("there is no array for input \"{}\", only {}", input.name(),
                                     names.empty() ? std::string("nothing")
                                                   : fmt::format("{}", fmt::join(names, ", "))));
    }
    TOSAIC_CHECK_OK(take_array(path, input, *array));
    const int64_t count = array->shape[0];
    if (i > 0 && count != file.count) {
      return bad_samples(path, fmt::format("array \"{}\" has {} samples, \"{}\" has {}",
                                           array->name, count, file.arrays[0].name, file.count));
    }
    file.count = count;
    used.push_back(array);
    file.arrays.push_back({array->name, array->dtype, array->shape, std::move(array->data)});
  }
  for (const NpyArray& array : arrays) {
    const bool is_known = std::ranges::find(unused_, array.name) != unused_.end();
    const bool is_used = std::ranges::find(used, &array) != used.end();
    if (!is_used && !is_known) unused_.push_back(array.name);
  }
  file.count = std::min(file.count, most);
  num_samples_ += file.count;
  files_.push_back(std::move(file));
  return ok();
}

Expected<CalibrationData> CalibrationData::read(const std::string& path, const Graph& graph,
                                                int64_t limit) {
  CalibrationData data;
  if (graph.inputs().empty()) {
    return error(Code::kInput, "calibration: the program has no inputs");
  }
  for (const Value* input : graph.inputs()) {
    if (!input->shape().is_static()) {
      return error(Code::kDynamicShape,
                   "calibration: input \"{}\" is {}; its sizes must be numbers", input->name(),
                   to_string(input->type()));
    }
    const auto elements = static_cast<size_t>(input->shape().num_elements());
    const DType held = aten::held_at_run_time(input->type()).dtype;
    data.inputs_.push_back({held, input->shape(), element_bytes(held) * elements});
  }
  TOSAIC_TRY(const std::vector<std::string> files, files_of(path));
  for (const std::string& file : files) {
    const int64_t most = limit > 0 ? limit - data.num_samples_ : kAllRows;
    if (most == 0) break;
    TOSAIC_CHECK_OK(data.add(file, graph, most));
  }
  if (data.num_samples_ == 0) return bad_samples(path, "there are no samples");
  return data;
}

std::vector<tosa::HostTensor> CalibrationData::sample(int64_t index) const {
  const auto after = std::ranges::upper_bound(files_, index, {}, &File::first);
  const File& file = *std::prev(after);
  std::vector<tosa::HostTensor> tensors;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const std::span<const std::byte> bytes(file.arrays[i].data);
    const auto own =
        bytes.subspan(static_cast<size_t>(index - file.first) * inputs_[i].bytes, inputs_[i].bytes);
    tensors.push_back(tosa::HostTensor::view(inputs_[i].dtype, inputs_[i].shape, own));
  }
  return tensors;
}

bool CalibrationData::all_equal() const {
  const std::vector<tosa::HostTensor> first = sample(0);
  for (int64_t s = 1; s < num_samples_; ++s) {
    const std::vector<tosa::HostTensor> other = sample(s);
    for (size_t i = 0; i < first.size(); ++i) {
      if (!std::ranges::equal(first[i].bytes, other[i].bytes)) return false;
    }
  }
  return num_samples_ > 1;
}

}  // namespace tosaic
