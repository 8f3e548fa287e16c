// SPDX-License-Identifier: Apache-2.0
#include "driver/batch.h"

#include <nlohmann/json.hpp>

#include "driver/run.h"
#include "support/check.h"
#include "support/mapped_file.h"

namespace tosaic {
namespace {

using Json = nlohmann::ordered_json;

Diagnostic bad_batch(const std::string& path, std::string_view what) {
  return error(Code::kJson, "{}", what)
      .at({.file = path})
      .with_hint("a batch is a list of {\"program\": …, \"input\": …, \"output\": …}");
}

std::string member(const Json& entry, const char* name) {
  const auto it = entry.find(name);
  return it != entry.end() && it->is_string() ? it->get<std::string>() : std::string();
}

/// The list of the file: objects that have a program.
Expected<Json> read_batch(const std::string& path) {
  TOSAIC_TRY(const auto file, MappedFile::open(path));
  const auto bytes = file->bytes();
  Json list =
      Json::parse(reinterpret_cast<const char*>(bytes.data()),
                  reinterpret_cast<const char*>(bytes.data()) + bytes.size(), nullptr, false);
  if (!list.is_array()) return bad_batch(path, "the file holds no JSON list");
  for (const Json& entry : list) {
    if (!entry.is_object()) return bad_batch(path, "an entry of the list is no object");
    if (member(entry, "program").empty()) return bad_batch(path, "an entry needs a program");
  }
  return list;
}

Json failure(Code code, std::string_view message) {
  return Json{{"ok", false}, {"code", std::string(code_id(code))}, {"message", message}};
}

Json run_entry(const RunOptions& options) {
  try {
    const Expected<std::vector<Diagnostic>> warnings = run_program(options);
    if (!warnings) return failure(warnings.error().code, warnings.error().message);
    const Json warning = warnings->empty() ? Json(nullptr) : Json(warnings->back().message);
    return Json{{"ok", true}, {"warning", warning}};
  } catch (const BugError& bug) {
    return failure(Code::kInternal, bug.what());
  }
}

Json explain_entry(const CompileOptions& options) {
  const Expected<CompileReport> report = explain(options);
  if (!report) return failure(report.error().code, report.error().message);
  Json reasons = Json::array();
  for (const NodeReport& node : report->nodes) {
    if (!node.reason) continue;
    reasons.push_back(Json{{"op", node.op},
                           {"code", std::string(code_id(node.reason->code))},
                           {"message", node.reason->why}});
  }
  return Json{{"ok", true}, {"nodes", report->nodes.size()}, {"reasons", std::move(reasons)}};
}

std::string text_of(const Json& results) {
  return results.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

Expected<std::string> run_batch(const std::string& path) {
  TOSAIC_TRY(const Json list, read_batch(path));
  Json results = Json::array();
  for (const Json& entry : list) {
    const RunOptions options{member(entry, "program"), member(entry, "input"),
                             member(entry, "output")};
    if (options.input.empty() != options.output.empty()) {
      return bad_batch(path, "an entry needs input and output both or neither");
    }
    results.push_back(run_entry(options));
  }
  return text_of(results);
}

Expected<std::string> explain_batch(const std::string& path, const CompileOptions& options) {
  TOSAIC_TRY(const Json list, read_batch(path));
  Json results = Json::array();
  CompileOptions one = options;
  for (const Json& entry : list) {
    one.input = member(entry, "program");
    results.push_back(explain_entry(one));
  }
  return text_of(results);
}

}  // namespace tosaic
