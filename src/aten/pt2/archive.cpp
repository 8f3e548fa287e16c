// SPDX-License-Identifier: Apache-2.0
#include "aten/pt2/archive.h"

#include <algorithm>
#include <cstdint>

namespace tosaic::aten::pt2 {
namespace {

constexpr int64_t kSchemaMajor = 8;
constexpr std::string_view kModels = "models/";
constexpr std::string_view kJsonSuffix = ".json";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' '))
    text.remove_suffix(1);
  return text;
}

std::string_view text_of(const ZipMember& member) {
  return {reinterpret_cast<const char*>(member.stored.data()), member.stored.size()};
}

/// The beginning of a text of any bytes, fit for a message.
std::string shown(std::string_view text) {
  std::string result(text.substr(0, 40));
  for (char& c : result) {
    if (c < ' ' || c > '~') c = '?';
  }
  return result;
}

/// What the archive is instead, as far as its members tell.
std::string_view hint_for(const ZipReader& zip) {
  for (const ZipMember& m : zip.members()) {
    if (m.name.ends_with("/constants.pkl") || m.name == "constants.pkl") {
      return "this is TorchScript: export the model with torch.export.export and torch.export.save";
    }
  }
  for (const ZipMember& m : zip.members()) {
    if (m.name.ends_with("data.pkl")) {
      return "this was written by torch.save: use torch.export.export and torch.export.save";
    }
  }
  return "write the file with torch.export.save";
}

}  // namespace

std::shared_ptr<const void> JsonDocument::release_text() && {
  // The tape, which is most of the document, goes at once.
  auto text = std::make_shared<std::unique_ptr<uint8_t[]>>(std::move(document->string_buf));
  document.reset();
  return text;
}

Expected<Archive> Archive::open(const std::string& path) {
  TOSAIC_TRY(auto file, MappedFile::open(path));
  TOSAIC_TRY(ZipReader zip, ZipReader::open(std::move(file)));
  Archive archive(std::move(zip));
  if (Status s = archive.find_root(); !s) return archive.with_path(std::move(s).error());
  if (Status s = archive.check_marks(); !s) return archive.with_path(std::move(s).error());
  return archive;
}

Diagnostic Archive::with_path(Diagnostic d) const {
  if (d.where.file.empty()) d.where.file = path();
  return d;
}

Status Archive::find_root() {
  for (const ZipMember& m : zip_.members()) {
    const size_t slash = m.name.find('/');
    if (slash == std::string_view::npos) continue;
    std::string_view rest = m.name.substr(slash + 1);
    if (!rest.starts_with(kModels) || !rest.ends_with(kJsonSuffix)) continue;
    rest.remove_prefix(kModels.size());
    if (rest.size() <= kJsonSuffix.size()) continue;
    rest.remove_suffix(kJsonSuffix.size());
    if (rest.find('/') != std::string_view::npos) continue;
    const std::string_view root = m.name.substr(0, slash + 1);
    if (root_.empty()) root_ = root;
    if (root_ != root) {
      return error(Code::kPt2Content, "the archive has two root folders, '{}' and '{}'", root_,
                   root);
    }
    models_.push_back(rest);
  }
  if (models_.empty()) {
    return error(Code::kFileKind, "not an exported program: the archive has no models/NAME.json")
        .with_hint(std::string(hint_for(zip_)));
  }
  std::sort(models_.begin(), models_.end());
  return ok();
}

Status Archive::check_marks() const {
  for (const std::string_view name : {"archive_format", "byteorder"}) {
    const ZipMember* m = find(name);
    if (m == nullptr) continue;
    TOSAIC_CHECK_OK(verify_crc(zip_, *m));
    const std::string_view text = trimmed(text_of(*m));
    if (name == "archive_format" && text != "pt2") {
      return error(Code::kFileKind, "archive_format is '{}', not 'pt2'", shown(text));
    }
    if (name == "byteorder" && text != "little") {
      return error(Code::kUnsupportedFeature,
                   "the archive has byte order '{}'; only 'little' can be read", shown(text))
          .with_hint("save the program on a little-endian machine");
    }
  }
  return ok();
}

const ZipMember* Archive::find(std::string_view name) const {
  return zip_.find(root_ + std::string(name));
}

Expected<std::string_view> Archive::pick(std::string_view model) const {
  if (model.empty() && models_.size() == 1) return models_[0];
  for (const std::string_view name : models_) {
    if (name == model) return name;
  }
  const std::string list = fmt::format("{}", fmt::join(models_, ", "));
  if (model.empty()) {
    return with_path(error(Code::kOption, "the archive holds {} programs: {}", models_.size(), list)
                         .with_hint("name one of them with --model-name"));
  }
  return with_path(
      error(Code::kOption, "the archive has no program '{}'; it holds: {}", model, list));
}

Expected<JsonDocument> Archive::parse(const ZipMember& member) const {
  TOSAIC_CHECK_OK(verify_crc(zip_, member));
  const std::span<const std::byte> all = zip_.file().bytes();
  const size_t end = static_cast<size_t>(member.stored.data() - all.data()) + member.stored.size();
  // simdjson reads past the text: the members and the directory that follow it are room enough,
  // but for the smallest of archives.
  const bool has_room = all.size() - end >= simdjson::SIMDJSON_PADDING;
  JsonDocument result;
  result.document = std::make_unique<simdjson::dom::document>();
  simdjson::dom::parser parser;
  simdjson::error_code code = parser
                                  .parse_into_document(*result.document, text_of(member).data(),
                                                       member.stored.size(), !has_room)
                                  .get(result.root);
  if (code != simdjson::SUCCESS) {
    return with_path(error(Code::kJson, "member '{}' is not valid JSON: {}", member.name,
                           simdjson::error_message(code)));
  }
  return result;
}

Expected<JsonDocument> Archive::program(std::string_view model) const {
  const ZipMember* m = find(fmt::format("{}{}{}", kModels, model, kJsonSuffix));
  TOSAIC_CHECK(m != nullptr, "the name is one of models()");
  TOSAIC_TRY(JsonDocument json, parse(*m));
  const std::optional<Json> version = member(json.root, "schema_version");
  const auto major = value_as<int64_t>(member(version, "major"));
  if (!major) {
    return with_path(error(Code::kJson, "member '{}' has no schema_version", m->name));
  }
  if (*major != kSchemaMajor) {
    Diagnostic d =
        error(Code::kPt2Schema, "the program has schema version {}.{}; {}.x can be read", *major,
              value_as<int64_t>(member(version, "minor")).value_or(0), kSchemaMajor);
    if (const auto torch = string_at(json.root, "torch_version")) {
      d.notes.push_back(fmt::format("it was written by PyTorch {}", *torch));
    }
    return with_path(
        std::move(d).with_hint("export with a PyTorch version that docs/pt2.md lists"));
  }
  return json;
}

}  // namespace tosaic::aten::pt2
