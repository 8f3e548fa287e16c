// SPDX-License-Identifier: Apache-2.0
#include "ir/pass.h"

#include <gtest/gtest.h>

#include <array>

#include "ir/test_ops.h"
#include "ir/text.h"
#include "support/output_file.h"
#include "support/test_folder.h"

namespace tosaic {
namespace {

constexpr std::string_view kText = R"tir(mixed graph @main(%x: f32[2]) {
  %w = const f32[2] [1, 2]
  %y: f32[2] = test.binary(%x, %w) {a = 1} loc("m.py":3)
  %z: f32[2], %u: f32[2] = test.list([%y, %x], none)
  return %z loc("m.py":9)
}
)tir";

std::unique_ptr<Module> parsed(std::string_view text) {
  auto module = parse_module(text, "test.tir");
  if (!module) ADD_FAILURE() << render(module.error());
  return module ? *std::move(module) : std::make_unique<Module>();
}

/// Everything that a pass can do to a graph: names, attributes, operands, nodes, outputs.
void wreck(Graph& graph) {
  Value* x = graph.inputs()[0];
  graph.set_outputs({&x, 1});
  graph.erase(*graph.last());
  graph.first()->set_attrs({});
  graph.set_operand(*graph.first(), 1, x);
  graph.first()->result().set_name("other");
  graph.first()->result().set_type({DType::kI8, Shape{7}, nullptr});
}

const Pass kKeep{.name = "keep_it", .run = [](Graph&, PassContext&) { return ok(); }};
const Pass kChange{.name = "change_it", .run = [](Graph& graph, PassContext& context) {
                     graph.inputs()[0]->set_name("renamed");
                     context.changed = true;
                     return ok();
                   }};
const Pass kFail{.name = "fail_it", .run = [](Graph& graph, PassContext&) -> Status {
                   wreck(graph);
                   return error(Code::kPass, "cannot do it");
                 }};
const Pass kBug{.name = "bug_it", .run = [](Graph& graph, PassContext&) -> Status {
                  wreck(graph);
                  graph.set_operand(*graph.first(), 99, nullptr);  // a broken invariant
                  return ok();
                }};
const Pass kBreak{.name = "break_it", .run = [](Graph& graph, PassContext& context) {
                    graph.move_before(*graph.last(), graph.first());
                    context.changed = true;
                    return ok();
                  }};

struct PassRun {
  PassRun(PassOptions options, std::vector<const Pass*> passes) : manager(std::move(options)) {
    testing::internal::CaptureStderr();
    status = manager.run(passes, *module->main(), context);
    log = testing::internal::GetCapturedStderr();
  }
  std::unique_ptr<Module> module = parsed(kText);
  PassManager manager;
  PassContext context;
  Status status;
  std::string log;
};

TEST(PassManager, TellsWhetherAnythingChanged) {
  EXPECT_FALSE(PassRun({}, {&kKeep}).context.changed);
  EXPECT_TRUE(PassRun({}, {&kChange, &kKeep}).context.changed);
}

TEST(PassManager, AFailingPassLeavesTheGraphBeforeIt) {
  TestFolder folder;
  const PassOptions options{.dump_dir = folder.file("dump")};
  for (const Pass* failing : {&kFail, &kBug}) {
    const PassRun run(options, {&kKeep, failing});
    ASSERT_FALSE(run.status.ok());
    const Diagnostic& d = run.status.error();
    const std::string path = fmt::format("{}/tosaic-{}.tir", options.dump_dir, failing->name);
    EXPECT_EQ(d.notes.at(0),
              fmt::format("in pass {}; the graph before it is in {}", failing->name, path));
    EXPECT_EQ(d.hint, fmt::format("rerun it with: tosaic opt {} --passes={}", path, failing->name));
    EXPECT_EQ(folder.get(fmt::format("dump/tosaic-{}.tir", failing->name)), kText);
  }
  EXPECT_EQ(PassRun(options, {&kFail}).status.error().message, "cannot do it");
  EXPECT_EQ(PassRun(options, {&kBug}).status.error().code, Code::kInternal);
}

TEST(PassManager, WithoutAFolderEachFailureLeavesAFileOfItsOwn) {
  TestFolder folder;
  const std::string before = temporary_directory();
  setenv("TMPDIR", folder.file("").c_str(), 1);
  for (int i = 0; i < 2; ++i)
    EXPECT_FALSE(PassRun({}, {&kFail}).status.ok());
  setenv("TMPDIR", before.c_str(), 1);
  const std::vector<std::string> files = folder.list();
  ASSERT_EQ(files.size(), 2U);
  for (const std::string& file : files) {
    EXPECT_TRUE(file.starts_with("tosaic-fail_it-")) << file;
    EXPECT_EQ(folder.get(file), kText);
  }
}

TEST(PassManager, TheGraphBeforeIsThatOfTheLastChange) {
  TestFolder folder;
  const PassRun run({.dump_dir = folder.file("")}, {&kChange, &kKeep, &kFail});
  const std::string text = folder.get("tosaic-fail_it.tir");
  EXPECT_NE(text.find("@main(%renamed: f32[2])"), std::string::npos) << text;
  EXPECT_NE(text.find("test.list([%y, %renamed], none)"), std::string::npos) << text;
}

TEST(PassManager, VerifiesAfterEachPassWhenAsked) {
  TestFolder folder;
  EXPECT_TRUE(PassRun({.dump_dir = folder.file("a")}, {&kBreak}).status.ok());
  const PassRun run({.verify_each = true, .dump_dir = folder.file("b")}, {&kBreak});
  ASSERT_FALSE(run.status.ok());
  EXPECT_EQ(run.status.error().code, Code::kVerifyDominance);
  EXPECT_EQ(folder.get("b/tosaic-break_it.tir"), kText);
}

TEST(PassManager, DumpsAfterEachPassInOrder) {
  TestFolder folder;
  const PassRun run({.dump_dir = folder.file("")}, {&kKeep, &kChange});
  EXPECT_TRUE(run.status.ok());
  EXPECT_EQ(folder.list(), (std::vector<std::string>{"01_keep_it.tir", "02_change_it.tir"}));
  EXPECT_EQ(folder.get("01_keep_it.tir"), kText);
  EXPECT_NE(folder.get("02_change_it.tir"), kText);
}

TEST(PassManager, AFailingDumpIsAnError) {
  TestFolder folder;
  folder.put("file", std::string("no folder"));
  EXPECT_FALSE(PassRun({.dump_dir = folder.file("file")}, {&kKeep}).status.ok());
}

TEST(PassManager, PrintsWhatTheOptionsSay) {
  const std::string text(kText);
  EXPECT_EQ(PassRun({}, {&kKeep, &kChange}).log, "");
  EXPECT_EQ(PassRun({.print_before = "keep-it"}, {&kKeep, &kChange}).log,
            "// before keep_it\n" + text + "\n");
  EXPECT_EQ(PassRun({.print_after = "keep_it"}, {&kKeep, &kChange}).log,
            "// after keep_it\n" + text + "\n");
  const std::string changed = PassRun({.print_changed = true}, {&kKeep, &kChange}).log;
  EXPECT_TRUE(changed.starts_with("// changed by change_it\nmixed graph @main(%renamed"))
      << changed;
  const std::string all = PassRun({.print_before = "all"}, {&kKeep, &kChange}).log;
  EXPECT_NE(all.find("// before keep_it"), std::string::npos);
  EXPECT_NE(all.find("// before change_it"), std::string::npos);
}

TEST(PassManager, StopsAndSkipsWhereTheOptionsSay) {
  const PassRun stopped({.stop_after = "keep_it"}, {&kKeep, &kChange});
  EXPECT_TRUE(stopped.status.ok());
  EXPECT_TRUE(stopped.manager.stopped());
  EXPECT_FALSE(stopped.context.changed);
  const PassRun skipped({.disabled = {"change-it"}}, {&kKeep, &kChange});
  EXPECT_FALSE(skipped.manager.stopped());
  EXPECT_FALSE(skipped.context.changed);
}

TEST(PassManager, TimesAreSummedByName) {
  EXPECT_TRUE(PassRun({}, {&kKeep}).manager.times().empty());
  const PassRun run({.time_passes = true}, {&kKeep, &kChange, &kKeep});
  ASSERT_EQ(run.manager.times().size(), 2u);
  EXPECT_EQ(run.manager.times()[0].name, "keep_it");
  EXPECT_GE(run.manager.times()[0].seconds, 0.0);
}

TEST(PassManager, OrderOfPipelinesIsKnownAtCompileTime) {
  static constexpr Pass kGive{.name = "give", .run = nullptr, .gives = Property::kTosa};
  static constexpr Pass kNeed{.name = "need", .run = nullptr, .needs = Property::kTosa};
  static constexpr Pass kTake{.name = "take", .run = nullptr, .breaks = Property::kTosa};
  static constexpr std::array kGood{&kGive, &kNeed};
  static constexpr std::array kEarly{&kNeed, &kGive};
  static constexpr std::array kLost{&kGive, &kTake, &kNeed};
  static_assert(pipeline_is_ordered(kGood, Property::kNone));
  static_assert(!pipeline_is_ordered(kEarly, Property::kNone));
  static_assert(!pipeline_is_ordered(kLost, Property::kNone));
  static_assert(pipeline_is_ordered(kEarly, Property::kTosa));
}

}  // namespace
}  // namespace tosaic
