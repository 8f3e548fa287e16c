// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aten/pt2/json.h"
#include "support/expected.h"
#include "support/zip.h"

namespace tosaic::aten::pt2 {

/// Parsed JSON.
struct JsonDocument {
  std::unique_ptr<simdjson::dom::document> document;
  Json root;

  /// Gives away what the strings of the document are views of, and ends the document.
  std::shared_ptr<const void> release_text() &&;
};

/// The members of a .pt2 archive by their names below the root folder, whose name is arbitrary.
class Archive {
 public:
  /// Checks that the file is an archive of exported programs in little-endian order (E0103, E0304).
  static Expected<Archive> open(const std::string& path);

  const std::string& path() const { return zip_.file().path(); }
  const ZipReader& zip() const { return zip_; }
  /// "data/weights/weight_0"; nullptr when there is none.
  const ZipMember* find(std::string_view name) const;
  /// Names of the programs, sorted; at least one.
  const std::vector<std::string_view>& models() const { return models_; }
  /// The program that `model` names; empty: the only one (E0104).
  Expected<std::string_view> pick(std::string_view model) const;
  /// A member's text, checked against its CRC and parsed.
  Expected<JsonDocument> parse(const ZipMember& member) const;
  /// models/NAME.json, with a schema version that this reader knows (E0301).
  Expected<JsonDocument> program(std::string_view model) const;

  /// Puts the path of the archive into a diagnostic without a place.
  Diagnostic with_path(Diagnostic d) const;

 private:
  explicit Archive(ZipReader zip) : zip_(std::move(zip)) {}
  Status find_root();
  Status check_marks() const;

  ZipReader zip_;
  std::string root_;  // with the slash
  std::vector<std::string_view> models_;
};

}  // namespace tosaic::aten::pt2
