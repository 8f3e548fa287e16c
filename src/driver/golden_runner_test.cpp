// SPDX-License-Identifier: Apache-2.0
// Runs test/passes/**/*.tir, the golden tests of passes and of the steps of partitioning, as
// docs/add-a-pass.md describes them. TOSAIC_BLESS=1 rewrites what they expect.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "passes/passes.h"
#include "support/output_file.h"
#include "support/test_folder.h"
#include "target/targets.h"
#include "test_paths.h"

namespace tosaic {
namespace {

constexpr std::string_view kSeparator = "// ----- expected";
constexpr std::string_view kTestMark = "// test:";
constexpr std::string_view kErrorMark = "// expected-error[";

using FindPass = std::function<const Pass*(std::string_view)>;

struct ExpectedError {
  std::string code;      ///< "V0006"
  std::string fragment;  ///< of the message
  uint32_t line = 0;     ///< of the error, where the comment stands behind code; 0: any
};

/// A golden file taken apart.
struct Golden {
  std::string name;
  std::string input;     ///< everything before the separator
  std::string expected;  ///< everything behind its line
  bool has_expected = false;
  bool only_parse = false;
  std::vector<const Pass*> passes;
  std::vector<std::string> steps;
  std::optional<Target> target;
  std::optional<ExpectedError> error;
};

Expected<ExpectedError> read_error_line(const std::string& line, size_t at, uint32_t number) {
  const size_t close = line.find("]:", at);
  if (close == std::string::npos) {
    return error(Code::kTirSyntax, "line {}: the form is // expected-error[CODE]: text", number);
  }
  const size_t begin = at + kErrorMark.size();
  const size_t text = std::min(line.find_first_not_of(' ', close + 2), line.size());
  const bool behind_code = line.find_first_not_of(" \t") < at;
  return ExpectedError{line.substr(begin, close - begin), line.substr(text),
                       behind_code ? number : 0};
}

// The steps of partitioning are no passes: they ask the target, and make, replace and read several
// graphs of a module.

/// What steps hand on to each other.
struct StepState {
  Module& module;
  const Target& target;
  std::vector<Placement> placements = {};
};

Status step_expand(StepState& state) {
  Module& module = state.module;
  std::vector<Node*> nodes;
  for (Node& node : module.main()->nodes())
    nodes.push_back(&node);
  for (Node* node : nodes)
    expand(*node);
  module.main()->renumber();
  return ok();
}

Status step_outline(StepState& state) {
  Graph& main = *state.module.main();
  state.placements = place(main, state.target);
  return outline(main, state.placements);
}

Status step_lower_to_tosa(StepState& state) {
  Module& module = state.module;
  std::vector<std::string> names;
  for (const auto& graph : module.graphs()) {
    if (graph->dialect() == Dialect::kAten) names.emplace_back(graph->name());
  }
  for (const std::string& name : names) {
    if (const auto lowered = lower_to_tosa(*module.find_graph(name), state.target); !lowered) {
      return lowered.error();
    }
  }
  return ok();
}

Status step_trim_calls(StepState& state) {
  Graph& main = *state.module.main();
  for (Node& call : main.nodes()) {
    if (!call.is(kCallOp)) continue;
    Graph& callee = *state.module.find_graph(call.attr("callee")->as_string());
    Node& needed = drop_unread_results(call, callee);
    TOSAIC_TRY(Graph * lowered, lower_to_tosa(callee, state.target));
    lowered->erase_dead_nodes();
    TOSAIC_CHECK_OK(drop_unread_inputs(needed, *lowered));
  }
  return ok();
}

Status step_prepare_cpu(StepState& state) {
  return prepare_cpu(*state.module.main(), state.target, state.placements);
}

struct Step {
  std::string_view name;
  Status (*run)(StepState&);
};
constexpr Step kSteps[] = {{"expand", step_expand},
                           {"outline", step_outline},
                           {"lower_to_tosa", step_lower_to_tosa},
                           {"trim_calls", step_trim_calls},
                           {"prepare_cpu", step_prepare_cpu}};

Status run_steps(const Golden& golden, Module& module) {
  if (golden.steps.empty()) return ok();
  if (!golden.target) return error(Code::kOption, "a step needs a target");
  StepState state{module, *golden.target};
  for (const std::string& name : golden.steps) {
    const auto step = std::ranges::find(kSteps, name, &Step::name);
    if (step == std::end(kSteps)) return error(Code::kPass, "no step is named {}", name);
    TOSAIC_CHECK_OK(step->run(state));
    TOSAIC_CHECK_OK(verify(module));
  }
  return ok();
}

/// "pass a,b target T", "step a,b target T", "parse" or "verify".
Status read_test_line(const std::string& line, const FindPass& find_pass, Golden& golden) {
  std::istringstream words(line.substr(kTestMark.size()));
  std::string word;
  bool has_kind = false;
  while (words >> word) {
    if (word == "parse" || word == "verify") {
      golden.only_parse = word == "parse";
      has_kind = true;
    } else if (word == "pass" && words >> word) {
      std::istringstream list(word);
      for (std::string name; std::getline(list, name, ',');) {
        const Pass* pass = find_pass(name);
        if (pass == nullptr) return error(Code::kPass, "no pass is named {}", name);
        golden.passes.push_back(pass);
      }
      has_kind = true;
    } else if (word == "step" && words >> word) {
      std::istringstream list(word);
      for (std::string name; std::getline(list, name, ',');)
        golden.steps.push_back(name);
      has_kind = true;
    } else if (word == "target" && words >> word) {
      TOSAIC_TRY(golden.target, find_target(word));
    } else {
      return error(Code::kOption, "unknown word '{}' in: {}", word, line);
    }
  }
  if (!has_kind)
    return error(Code::kOption, "pass NAME, step NAME, parse or verify is missing in: {}", line);
  return ok();
}

Expected<Golden> read_golden(std::string name, const std::string& text, const FindPass& find_pass) {
  Golden golden;
  golden.name = std::move(name);
  std::istringstream lines(text);
  bool has_test_line = false;
  uint32_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.starts_with(kSeparator)) {
      golden.has_expected = true;
      break;
    }
    golden.input += line + '\n';
    if (line.starts_with(kTestMark)) {
      TOSAIC_CHECK_OK(read_test_line(line, find_pass, golden));
      has_test_line = true;
    } else if (const size_t at = line.find(kErrorMark); at != std::string::npos) {
      TOSAIC_TRY(golden.error, read_error_line(line, at, number));
    }
  }
  for (std::string line; std::getline(lines, line);)
    golden.expected += line + '\n';
  if (!has_test_line) return error(Code::kOption, "no line '{} …'", kTestMark);
  return golden;
}

/// What the golden file's test gives: the module's text, or the error.
Expected<std::string> result_of(const Golden& golden) {
  TOSAIC_TRY(const auto module, parse_module(golden.input, golden.name));
  if (golden.only_parse) return print(*module);
  TOSAIC_CHECK_OK(verify(*module));
  TOSAIC_CHECK_OK(run_steps(golden, *module));
  PassContext context;
  if (golden.target) {
    context.target = &*golden.target;
    context.legal = [&](const Node& node) { return !golden.target->legal(node).has_value(); };
  }
  const TestFolder scratch;  // a failing pass leaves a file
  PassManager manager({.verify_each = true, .dump_dir = scratch.file("")});
  std::vector<Graph*> graphs;
  for (const auto& graph : module->graphs())
    graphs.push_back(graph.get());
  for (Graph* graph : graphs)
    TOSAIC_CHECK_OK(manager.run(golden.passes, *graph, context));
  return print(*module);
}

/// "" when the result is what the file expects, else what is different.
std::string difference(const Golden& golden, const Expected<std::string>& result) {
  if (!result) {
    const Diagnostic& found = result.error();
    if (!golden.error) return "an error that is not expected:\n" + render(found);
    if (code_id(found.code) == golden.error->code &&
        found.message.find(golden.error->fragment) != std::string::npos &&
        (golden.error->line == 0 || golden.error->line == found.where.line)) {
      return {};
    }
    return fmt::format("another error than {}, '{}':\n{}", golden.error->code,
                       golden.error->fragment, render(found));
  }
  if (golden.error) return "no error, though one is expected; the result is\n" + *result;
  if (!golden.has_expected) return "nothing is expected; the result is\n" + *result;
  auto expected = parse_module(golden.expected, golden.name + " (expected)");
  if (!expected) return render(expected.error());
  const std::string wanted = print(**expected);
  if (wanted == *result) return {};
  return fmt::format("expected\n{}\nfound\n{}", wanted, *result);
}

/// The file with its expectation made what the result is.
std::string blessed(const Golden& golden, const Expected<std::string>& result) {
  if (result.ok()) return fmt::format("{}{}\n{}", golden.input, kSeparator, *result);
  const size_t at = golden.input.find(kErrorMark);
  if (at == std::string::npos) return {};
  std::string text = golden.input;
  text.replace(
      at, text.find('\n', at) - at,
      fmt::format("{}{}]: {}", kErrorMark, code_id(result.error().code), result.error().message));
  return text;
}

const Pass* find_pass(std::string_view name) {
  const auto passes = all_passes();
  const auto it = std::ranges::find(passes, name, &Pass::name);
  return it == passes.end() ? nullptr : *it;
}

std::filesystem::path golden_folder() {
  return std::filesystem::path(TOSAIC_SOURCE_DIR) / "test" / "passes";
}

/// Paths below the folder, sorted.
std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  std::error_code none;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(golden_folder(), none)) {
    if (entry.path().extension() != ".tir") continue;
    files.push_back(std::filesystem::relative(entry.path(), golden_folder()).string());
  }
  std::ranges::sort(files);
  return files;
}

std::string test_name(const testing::TestParamInfo<std::string>& file) {
  std::string name = file.param.substr(0, file.param.size() - std::string_view(".tir").size());
  std::ranges::replace_if(
      name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  return name;
}

class GoldenFile : public testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Golden, GoldenFile, testing::ValuesIn(golden_files()), test_name);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GoldenFile);

TEST_P(GoldenFile, GivesWhatItExpects) {
  const std::string path = (golden_folder() / GetParam()).string();
  const auto text = read_text_file(path);
  ASSERT_TRUE(text.ok()) << render(text.error());
  const auto golden = read_golden(GetParam(), *text, find_pass);
  ASSERT_TRUE(golden.ok()) << render(golden.error());
  const auto result = result_of(*golden);
  if (std::getenv("TOSAIC_BLESS") != nullptr && !difference(*golden, result).empty()) {
    const std::string now = blessed(*golden, result);
    ASSERT_NE(now, "") << "an error is new: write a line // expected-error[…]: …\n"
                       << render(result.error());
    const Status written = write_file(path, now);
    ASSERT_TRUE(written.ok()) << render(written.error());
    return;
  }
  EXPECT_EQ(difference(*golden, result), "");
}

TEST_P(GoldenFile, SurvivesPrintingAndParsing) {
  const auto text = read_text_file((golden_folder() / GetParam()).string());
  ASSERT_TRUE(text.ok()) << render(text.error());
  const auto golden = read_golden(GetParam(), *text, find_pass);
  ASSERT_TRUE(golden.ok()) << render(golden.error());
  for (const std::string& part : {golden->input, golden->expected}) {
    const auto module = parse_module(part, GetParam());
    if (!module) continue;  // the other test tells whether this error is expected
    const std::string once = print(**module);
    const auto again = parse_module(once, GetParam());
    ASSERT_TRUE(again.ok()) << render(again.error());
    EXPECT_EQ(print(**again), once);
  }
}

TEST(GoldenFiles, EachStepHasOne) {
  for (const Step& step : kSteps) {
    const auto has_file = [&](const std::string& file) {
      return file.starts_with(fmt::format("partition/{}", step.name));
    };
    EXPECT_TRUE(std::ranges::any_of(golden_files(), has_file)) << step.name;
  }
}

TEST(GoldenFiles, EachPassHasOne) {
  for (const Pass* pass : all_passes()) {
    const auto has_file = [&](const std::string& file) {
      return file.starts_with(fmt::format("{}/", pass->name));
    };
    EXPECT_TRUE(std::ranges::any_of(golden_files(), has_file))
        << "write test/passes/" << pass->name << "/CASE.tir: docs/add-a-pass.md says how";
  }
}

// The runner itself, on files that it must refuse as well as on those that it must take.

const Pass kRenameInput{.name = "rename_input", .run = [](Graph& graph, PassContext&) -> Status {
                          if (graph.inputs().empty()) return error(Code::kPass, "no input");
                          graph.inputs()[0]->set_name("renamed");
                          return ok();
                        }};
const Pass* find_test_pass(std::string_view name) {
  return name == kRenameInput.name ? &kRenameInput : nullptr;
}

std::string difference_of(const std::string& text) {
  const auto golden = read_golden("test.tir", text, find_test_pass);
  if (!golden) return golden.error().message;
  return difference(*golden, result_of(*golden));
}

const std::string kPassTest = "// test: pass rename_input\n";
const std::string kInput = "graph @main(%x: f32[2]) { return %x }\n";

TEST(GoldenRunner, ComparesModulesAndNotTheirSpelling) {
  EXPECT_EQ(difference_of(kPassTest + kInput + "// ----- expected\n// why\n" +
                          "graph @main(%renamed: f32[2])\n{ return %renamed }\n"),
            "");
  EXPECT_TRUE(
      difference_of(kPassTest + kInput + "// ----- expected\n" + kInput).starts_with("expected\n"));
  EXPECT_TRUE(difference_of(kPassTest + kInput).starts_with("nothing is expected"));
}

TEST(GoldenRunner, ComparesCodeTextAndLineOfErrors) {
  const std::string bare = "graph @main() { return }";
  EXPECT_EQ(difference_of(kPassTest + bare + "\n// expected-error[E0312]: no in\n"), "");
  EXPECT_NE(difference_of(kPassTest + bare + "\n// expected-error[E0312]: an in\n"), "");
  EXPECT_NE(difference_of(kPassTest + bare + "\n// expected-error[E0311]: no in\n"), "");
  EXPECT_NE(difference_of(kPassTest + bare + "\n"), "");
  EXPECT_NE(difference_of(kPassTest + kInput + "// expected-error[E0312]: no in\n"), "");
  EXPECT_EQ(difference_of("// test: parse\ngraph @main() {\n"
                          "x()  // expected-error[E0204]: unknown operator x\nreturn }\n"),
            "");
  EXPECT_NE(difference_of("// test: parse\ngraph @main() {  // expected-error[E0204]: unknown\n"
                          "x()\nreturn }\n"),
            "");
}

TEST(GoldenRunner, RefusesATestLineThatItDoesNotKnow) {
  EXPECT_EQ(difference_of("// test: pass rename_outptu\n"), "no pass is named rename_outptu");
  EXPECT_EQ(difference_of("// test: step inline target tosa-fp\n" + kInput),
            "an error that is not expected:\nerror[E0312]: no step is named inline\n");
  EXPECT_EQ(difference_of("// test: prase\n"), "unknown word 'prase' in: // test: prase");
  EXPECT_EQ(difference_of(kInput), "no line '// test: …'");
}

TEST(GoldenRunner, BlessingMakesTheFilePass) {
  for (const std::string& text :
       {kPassTest + kInput, kPassTest + kInput + "// ----- expected\n" + kInput,
        kPassTest + "// expected-error[E0001]: x\ngraph @main() { return }\n"}) {
    const auto golden = read_golden("test.tir", text, find_test_pass);
    ASSERT_TRUE(golden.ok());
    const auto result = result_of(*golden);
    const std::string now = blessed(*golden, result);
    EXPECT_TRUE(now.starts_with(kPassTest));
    EXPECT_EQ(difference_of(now), "");
  }
}

}  // namespace
}  // namespace tosaic
