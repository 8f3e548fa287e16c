// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/reader.h"

#include "aten/pt2/importer.h"

namespace tosaic::aten {

Expected<std::unique_ptr<Module>> read_pt2(const std::string& path, std::string_view model,
                                           std::span<const InputSizes> sizes) {
  using pt2::TensorStore;
  TOSAIC_TRY(const pt2::Archive archive, pt2::Archive::open(path));
  TOSAIC_TRY(const std::string_view name, archive.pick(model));
  TOSAIC_TRY(pt2::JsonDocument program, archive.program(name));
  TOSAIC_TRY(TensorStore weights, TensorStore::open(archive, name, TensorStore::Kind::kWeights));
  TOSAIC_TRY(TensorStore constants,
             TensorStore::open(archive, name, TensorStore::Kind::kConstants));
  auto module = std::make_unique<Module>();
  pt2::Importer importer(archive, program.root, std::move(weights), std::move(constants), *module,
                         sizes);
  if (Status s = importer.run(); !s) return archive.with_path(std::move(s).error());
  module->keep_alive(archive.zip().share_file());
  module->keep_alive(std::move(program).release_text());
  return module;
}

}  // namespace tosaic::aten
