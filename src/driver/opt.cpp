// SPDX-License-Identifier: Apache-2.0
#include "driver/opt.h"

#include "ir/text.h"
#include "ir/verify.h"
#include "passes/passes.h"
#include "support/mapped_file.h"
#include "support/output_file.h"
#include "tosa/flatbuffer.h"

namespace tosaic {
namespace {

Expected<const Pass*> find_pass(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Pass* pass : all_passes()) {
    if (pass->name == name) return pass;
    names.push_back(pass->name);
  }
  Diagnostic d =
      error(Code::kPass, "there is no pass \"{}\"; there are {}", name, fmt::join(names, ", "));
  if (const auto near = nearest_name(name, names); !near.empty()) {
    d.hint = fmt::format("did you mean {}", near);
  }
  return d;
}

Expected<std::unique_ptr<Module>> read_module(const std::string& path) {
  if (path.ends_with(".tosa")) {
    TOSAIC_TRY(const auto file, MappedFile::open(path));
    return tosa::read_flatbuffer(file->bytes(), file, path);
  }
  TOSAIC_TRY(const std::string text, read_text_file(path));
  TOSAIC_TRY(auto module, parse_module(text, path));
  TOSAIC_CHECK_OK(verify(*module));
  return module;
}

Status write_tosa(Module& module, const OptOptions& options) {
  const Graph* main = module.main();
  if (main == nullptr || main->dialect() != Dialect::kTosa) {
    return error(Code::kOption, "-o {}: {} has no TOSA graph @main", options.output, options.input)
        .with_hint("write text with -o FILE.tir");
  }
  TOSAIC_TRY(const std::vector<std::byte> bytes,
             tosa::write_flatbuffer(*main, options.tosa_version));
  return write_file(options.output, bytes);
}

}  // namespace

Status check_pass_names(const PassOptions& options) {
  for (const std::string& name : {options.print_before, options.print_after}) {
    if (!name.empty() && name != "all") TOSAIC_CHECK_OK(find_pass(name));
  }
  if (!options.stop_after.empty()) TOSAIC_CHECK_OK(find_pass(options.stop_after));
  for (const std::string& name : options.disabled)
    TOSAIC_CHECK_OK(find_pass(name));
  return ok();
}

Expected<std::string> run_opt(const OptOptions& options) {
  TOSAIC_CHECK_OK(check_pass_names(options.pass_options));
  if (!options.output.empty() && !options.output.ends_with(".tir") &&
      !options.output.ends_with(".tosa")) {
    return error(Code::kOption, "-o {}: the suffix must be .tir or .tosa", options.output);
  }
  TOSAIC_TRY(const auto module, read_module(options.input));
  std::vector<const Pass*> passes;
  for (const std::string& name : options.passes) {
    TOSAIC_TRY(const Pass* pass, find_pass(name));
    passes.push_back(pass);
  }
  DiagnosticSink sink;
  PassContext context;
  context.target = &options.target;
  context.legal = [&](const Node& node) { return !options.target.legal(node); };
  context.diagnostics = &sink;
  PassManager manager(options.pass_options);
  std::vector<std::string> graphs;
  for (const auto& graph : module->graphs())
    graphs.emplace_back(graph->name());
  for (const std::string& name : graphs) {
    TOSAIC_CHECK_OK(manager.run(passes, *module->find_graph(name), context));
  }
  TOSAIC_CHECK_OK(verify(*module));
  if (options.output.ends_with(".tosa")) {
    TOSAIC_CHECK_OK(write_tosa(*module, options));
    return std::string();
  }
  std::string made = print(*module);
  if (options.output.empty()) return made;
  TOSAIC_CHECK_OK(write_file(options.output, std::string_view(made)));
  return std::string();
}

}  // namespace tosaic
