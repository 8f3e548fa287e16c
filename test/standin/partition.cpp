// SPDX-License-Identifier: Apache-2.0
#include "partition.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "ethosu/payload.h"
#include "support/mapped_file.h"
#include "tosa/flatbuffer.h"
#include "tosa/reference.h"

namespace tosaic::standin {
namespace {

namespace fs = std::filesystem;

std::string sizes_differ(const char* what, size_t index, size_t got, uint64_t want) {
  return fmt::format("{} {} has {} bytes, the payload says {}", what, index, got, want);
}

class ReferencePartition : public Partition {
 public:
  static std::unique_ptr<Partition> load(const std::string& path,
                                         std::span<const std::byte> payload, std::string& why) {
    auto io = parse_vela_bin_stream(payload);
    if (!io) return why = io.error().message, nullptr;
    auto file = MappedFile::open(path);
    if (!file) return why = file.error().message, nullptr;
    auto module = tosa::read_flatbuffer((*file)->bytes(), *file, path);
    if (!module) return why = module.error().message, nullptr;
    auto out = std::make_unique<ReferencePartition>();
    out->payload_ = std::move(*io);
    out->module_ = std::move(*module);
    out->graph_ = out->module_->main();
    if (out->graph_ == nullptr || out->graph_->inputs().size() != out->num_inputs() ||
        out->graph_->outputs().size() != out->num_outputs()) {
      why = path + " has not as many inputs and outputs as its payload";
      return nullptr;
    }
    out->reference_.emplace(*out->graph_);
    return out;
  }

  size_t num_inputs() const override { return payload_.inputs.size(); }
  size_t num_outputs() const override { return payload_.outputs.size(); }

  std::string run(std::span<const std::span<const std::byte>> inputs,
                  std::span<const std::span<std::byte>> outputs) override {
    std::vector<tosa::HostTensor> values;
    for (size_t i = 0; i < inputs.size(); i++) {
      if (inputs[i].size() != payload_.inputs[i].num_bytes) {
        return sizes_differ("input", i, inputs[i].size(), payload_.inputs[i].num_bytes);
      }
      const TensorType& type = graph_->inputs()[i]->type();
      values.push_back(tosa::HostTensor::view(type.dtype, type.shape, inputs[i]));
    }
    auto results = reference_->run(values);
    if (!results) return results.error().message;
    for (size_t i = 0; i < outputs.size(); i++) {
      std::span<const std::byte> from = (*results)[i].bytes;
      if (outputs[i].size() != payload_.outputs[i].num_bytes || from.size() != outputs[i].size()) {
        return sizes_differ("output", i, outputs[i].size(), payload_.outputs[i].num_bytes);
      }
      std::copy(from.begin(), from.end(), outputs[i].begin());
    }
    return {};
  }

 private:
  VelaPayload payload_;
  std::unique_ptr<Module> module_;
  const Graph* graph_ = nullptr;
  std::optional<tosa::Reference> reference_;
};

}  // namespace

std::unique_ptr<Partition> Partition::find(const std::string& dir,
                                           std::span<const std::byte> payload, std::string& why) {
  std::error_code ec;
  for (fs::directory_iterator it(dir, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() != ".payload") continue;
    auto file = MappedFile::open(it->path());
    if (!file || !std::ranges::equal((*file)->bytes(), payload)) continue;
    return ReferencePartition::load(fs::path(it->path()).replace_extension(".tosa"), payload, why);
  }
  why = fmt::format("no .payload in '{}' equals the delegate's {} bytes", dir, payload.size());
  return nullptr;
}

}  // namespace tosaic::standin
