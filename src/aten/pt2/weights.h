// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "aten/pt2/archive.h"
#include "ir/graph.h"

namespace tosaic::aten::pt2 {

/// One of the two stores of an archive: the state (parameters and persistent buffers) or the
/// constants (lifted constants and other buffers) of one program. Data stay in the mapped file.
class TensorStore {
 public:
  enum class Kind : uint8_t { kWeights, kConstants };
  /// Reads data/KIND/MODEL_KIND_config.json; an archive without it has an empty store.
  static Expected<TensorStore> open(const Archive& archive, std::string_view model, Kind kind);

  /// The tensor of that fully qualified name as a view of its storage (E0302, E0304).
  Expected<const Constant*> load(std::string_view name, Module& module);

  size_t num_tensors() const { return tensors_.size(); }
  /// Bytes of the storages, each counted once. Damaged entries count as nothing.
  uint64_t num_bytes() const;

 private:
  TensorStore(const Archive& archive, std::string_view folder)
      : archive_(&archive), folder_(folder) {}
  Expected<const Constant*> load_entry(const Json& entry, Module& module);
  const ZipMember* blob_of(const Json& entry) const;

  const Archive* archive_;
  std::string_view folder_;
  JsonDocument config_;
  std::unordered_map<std::string_view, Json> tensors_;
  std::unordered_set<const ZipMember*> checked_;  // their CRC is right
};

}  // namespace tosaic::aten::pt2
