// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/weights.h"

#include "aten/pt2/tensor_meta.h"

namespace tosaic::aten::pt2 {

Expected<TensorStore> TensorStore::open(const Archive& archive, std::string_view model, Kind kind) {
  const bool weights = kind == Kind::kWeights;
  TensorStore store(archive, weights ? "data/weights/" : "data/constants/");
  const std::string name =
      fmt::format("{}{}_{}_config.json", store.folder_, model, weights ? "weights" : "constants");
  const ZipMember* m = archive.find(name);
  if (m == nullptr) {
    const std::string pickle = fmt::format("{}{}.pt", store.folder_, model);
    if (archive.find(pickle) == nullptr) return store;
    return archive.with_path(
        error(Code::kUnsupportedFeature,
              "the tensors are pickled (member '{}'); pickle is not read", pickle)
            .with_hint("save the program again with a PyTorch version that docs/pt2.md lists"));
  }
  TOSAIC_TRY(store.config_, archive.parse(*m));
  const auto config = member_as<JsonObject>(store.config_.root, "config");
  if (!config) {
    return archive.with_path(error(Code::kJson, "member '{}' has no object 'config'", m->name));
  }
  store.tensors_.reserve(config->size());
  for (const auto field : *config)
    store.tensors_.emplace(field.key, field.value);
  return store;
}

const ZipMember* TensorStore::blob_of(const Json& entry) const {
  const auto path = string_at(entry, "path_name");
  return path ? archive_->find(std::string(folder_) + std::string(*path)) : nullptr;
}

uint64_t TensorStore::num_bytes() const {
  std::unordered_set<const ZipMember*> seen;
  uint64_t sum = 0;
  for (const auto& [name, entry] : tensors_) {
    const ZipMember* blob = blob_of(entry);
    if (blob != nullptr && seen.insert(blob).second) sum += blob->num_bytes;
  }
  return sum;
}

Expected<const Constant*> TensorStore::load(std::string_view name, Module& module) {
  const auto it = tensors_.find(name);
  if (it == tensors_.end()) {
    return archive_->with_path(
        error(Code::kPt2Content, "tensor '{}' has no entry below '{}'", name, folder_));
  }
  Expected<const Constant*> constant = load_entry(it->second, module);
  if (constant) return constant;
  Diagnostic d = std::move(constant).error();
  d.message = fmt::format("tensor '{}': {}", name, d.message);
  return archive_->with_path(std::move(d));
}

Expected<const Constant*> TensorStore::load_entry(const Json& entry, Module& module) {
  if (member_as<bool>(entry, "use_pickle").value_or(false)) {
    return error(Code::kUnsupportedFeature, "it is a tensor subclass, stored by pickle")
        .with_hint("replace the subclass by plain tensors before the export");
  }
  const auto meta = member(entry, "tensor_meta");
  const ZipMember* blob = blob_of(entry);
  if (!meta || blob == nullptr) {
    return error(Code::kPt2Content, "its entry names no storage of the archive, or no type");
  }
  if (!checked_.contains(blob)) {
    TOSAIC_CHECK_OK(verify_crc(archive_->zip(), *blob));
    checked_.insert(blob);
  }
  TOSAIC_TRY(const StoredLayout layout, parse_layout(*meta, blob->stored.size()));
  const TensorType& type = layout.type;
  if (type.shape.num_elements() == 0) return &module.constant(type.dtype, type.shape, {});
  const std::byte* data =
      blob->stored.data() + static_cast<size_t>(layout.offset) * element_bytes(type.dtype);
  const auto rank = static_cast<size_t>(type.shape.rank());
  return &module.constant_view(type.dtype, type.shape, std::span(layout.strides.data(), rank),
                               data);
}

}  // namespace tosaic::aten::pt2
