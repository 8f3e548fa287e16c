// SPDX-License-Identifier: Apache-2.0
#include "ir/pass.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <unordered_map>

#include "ir/text.h"
#include "ir/verify.h"
#include "support/output_file.h"
#include "support/shell_word.h"

namespace tosaic {
namespace {

/// What people read on a terminal or in a dump need not hold weights; what a pass failed on does.
constexpr size_t kMaxPrintedElements = 32;
constexpr size_t kMaxDumpedElements = 1024;

/// A graph as it was before a pass. Nodes and values live in the module's arena and keep their
/// addresses, so the structure is all that must be remembered: much less than a second graph or its
/// text, at each pass.
class Snapshot {
 public:
  void take(const Graph& graph) {
    name_ = graph.name();
    dialect_ = graph.dialect();
    inputs_.clear();
    constants_.clear();
    nodes_.clear();
    operands_.clear();
    results_.clear();
    for (const Value* input : graph.inputs())
      inputs_.push_back(saved(*input));
    for (const Value* constant : graph.constants())
      constants_.push_back(saved(*constant));
    for (const Node& node : graph.nodes())
      save(node);
    save(graph.return_node());
  }

  /// The graph again, in the same module but not one of its graphs.
  std::unique_ptr<Graph> restore(Module& module) const {
    auto graph = std::make_unique<Graph>(module, name_, dialect_);
    std::unordered_map<const Value*, Value*> values;
    for (const SavedValue& input : inputs_) {
      values.emplace(input.address, &graph->add_input(input.type, input.name));
    }
    for (const SavedValue& c : constants_) {
      values.emplace(c.address, &graph->add_constant(*c.constant, c.type, c.name));
    }
    const Value* const* operand = operands_.data();
    const SavedValue* result = results_.data();
    for (const SavedNode& node : nodes_) {
      std::vector<Value*> operands;
      for (size_t i = 0; i < node.num_operands; ++i, ++operand) {
        const auto it = values.find(*operand);
        operands.push_back(it == values.end() ? nullptr : it->second);
      }
      if (node.op == &kReturnOp) {
        graph->set_outputs(operands);
        graph->return_node().set_loc(node.loc);
        break;
      }
      std::vector<TensorType> types;
      for (size_t i = 0; i < node.num_results; ++i)
        types.push_back(result[i].type);
      Node& made = graph->insert({.op = node.op,
                                  .variant = node.variant,
                                  .operands = operands,
                                  .segments = node.segments,
                                  .results = types,
                                  .attrs = node.attrs,
                                  .loc = node.loc});
      for (size_t i = 0; i < node.num_results; ++i, ++result) {
        made.result(static_cast<int>(i)).set_name(result->name);
        values.emplace(result->address, &made.result(static_cast<int>(i)));
      }
    }
    return graph;
  }

 private:
  struct SavedValue {
    const Value* address;
    TensorType type;
    std::string_view name;
    const Constant* constant;
  };
  struct SavedNode {
    const OpDef* op;
    int variant;
    Loc loc;
    std::span<const int16_t> segments;
    AttrList attrs;
    size_t num_operands;
    size_t num_results;
  };

  static SavedValue saved(const Value& value) {
    return {&value, value.type(), value.name(), value.constant()};
  }

  void save(const Node& node) {
    nodes_.push_back({&node.op(), node.variant(), node.loc(), node.segments(), node.attrs(),
                      static_cast<size_t>(node.num_operands()),
                      static_cast<size_t>(node.num_results())});
    for (int i = 0; i < node.num_operands(); ++i)
      operands_.push_back(node.operand(i));
    for (const Value& result : node.results())
      results_.push_back(saved(result));
  }

  std::string_view name_;
  Dialect dialect_ = Dialect::kMixed;
  std::vector<SavedValue> inputs_;
  std::vector<SavedValue> constants_;
  std::vector<SavedNode> nodes_;
  std::vector<const Value*> operands_;
  std::vector<SavedValue> results_;
};

/// The module's text with one graph as it was before. (The graph is printed first: `tosaic opt`
/// reads a scratch graph too, which is not in its module's list.)
std::string text_with(const Module& module, const Graph& graph, const Graph& before) {
  std::string text = print(before);
  for (const auto& other : module.graphs()) {
    if (other.get() != &graph) text += '\n' + print(*other);
  }
  return text;
}

/// In the user's folder for dumps under a name that is known before; else a new file of our own.
Expected<std::string> write_reproducer(const PassOptions& options, const Pass& pass,
                                       const std::string& text) {
  const std::string stem = fmt::format("tosaic-{}", pass.name);
  if (options.dump_dir.empty()) return write_temporary_file(stem, "tir", text);
  const std::string path = fmt::format("{}/{}.tir", options.dump_dir, stem);
  TOSAIC_CHECK_OK(make_directories(options.dump_dir));
  TOSAIC_CHECK_OK(write_file(path, text));
  return path;
}

void print_to_stderr(std::string_view moment, const Pass& pass, const Graph& graph) {
  const std::string text = print(graph, {.max_constant_elements = kMaxPrintedElements});
  fmt::print(stderr, "// {} {}\n{}\n", moment, pass.name, text);
}

bool names(std::string_view option, const Pass& pass) {
  if (option == "all") return true;
  return std::ranges::equal(option, pass.name, [](char a, char b) {
    return a == b || (a == '-' && b == '_');  // dashes and underscores are the same in options
  });
}

bool is_disabled(const PassOptions& options, const Pass& pass) {
  return std::ranges::any_of(options.disabled,
                             [&](const std::string& name) { return names(name, pass); });
}

/// Runs the pass; a broken invariant becomes an error, so that it leaves a reproducer as well.
Status run_one(const Pass& pass, Graph& graph, PassContext& context) {
  try {
    return pass.run(graph, context);
  } catch (const BugError& bug) {
    return error(Code::kInternal, "{}", bug.what());
  }
}

/// Whether an error tells of a bug in a pass, and not of the user's program.
bool tells_of_bug(const Diagnostic& d) {
  return d.code == Code::kInternal || d.code == Code::kPass || code_id(d.code).starts_with('V');
}

/// Adds what reruns the failing pass: the path of the text that was written, and the command.
Diagnostic with_reproducer(Diagnostic d, const PassOptions& options, const Pass& pass,
                           const std::string& text) {
  const Expected<std::string> path = write_reproducer(options, pass, text);
  if (!path) {
    d.notes.push_back(fmt::format("in pass {}; the graph before it could not be written: {}",
                                  pass.name, path.error().message));
    return d;
  }
  d.notes.push_back(fmt::format("in pass {}; the graph before it is in {}", pass.name, *path));
  std::string command =
      fmt::format("rerun it with: tosaic opt {} --passes={}", shell_word(*path), pass.name);
  if (d.hint.empty()) {
    d.hint = std::move(command);
  } else {
    d.notes.push_back(std::move(command));
  }
  return d;
}

void add_time(std::vector<PassTime>& times, std::string_view name, double seconds) {
  const auto it = std::ranges::find(times, name, &PassTime::name);
  if (it == times.end()) {
    times.push_back({name, seconds});
  } else {
    it->seconds += seconds;
  }
}

}  // namespace

Status PassManager::run(std::span<const Pass* const> passes, Graph& graph, PassContext& context) {
  using Clock = std::chrono::steady_clock;
  Snapshot before;
  bool is_current = false;  // `before` is the graph as it is now
  bool any_changed = context.changed;
  for (const Pass* pass : passes) {
    if (is_disabled(options_, *pass)) continue;
    if (names(options_.print_before, *pass)) print_to_stderr("before", *pass, graph);
    if (!is_current) before.take(graph);
    const size_t num_graphs = graph.module().graphs().size();
    context.changed = false;
    const Clock::time_point start = Clock::now();
    Status status = run_one(*pass, graph, context);
    if (options_.time_passes) {
      add_time(times_, pass->name, std::chrono::duration<double>(Clock::now() - start).count());
    }
    if (status.ok() && options_.verify_each) {
      const bool has_new_graphs = graph.module().graphs().size() != num_graphs;
      status = has_new_graphs ? verify(graph.module()) : verify(graph);
    }
    if (!status && !tells_of_bug(status.error()) && options_.dump_dir.empty()) return status;
    if (!status) {
      const auto restored = before.restore(graph.module());
      return with_reproducer(std::move(status).error(), options_, *pass,
                             text_with(graph.module(), graph, *restored));
    }
    is_current = !context.changed;
    any_changed = any_changed || context.changed;
    if (options_.print_changed && context.changed) {
      print_to_stderr("changed by", *pass, graph);
    } else if (names(options_.print_after, *pass)) {
      print_to_stderr("after", *pass, graph);
    }
    if (!options_.dump_dir.empty()) TOSAIC_CHECK_OK(dump(*pass, graph.module()));
    if (names(options_.stop_after, *pass)) {
      stopped_ = true;
      break;
    }
  }
  context.changed = any_changed;
  return ok();
}

Status PassManager::dump(const Pass& pass, const Module& module) {
  TOSAIC_CHECK_OK(make_directories(options_.dump_dir));
  const std::string path =
      fmt::format("{}/{:02}_{}.tir", options_.dump_dir, ++num_dumped_, pass.name);
  return write_file(path, print(module, {.max_constant_elements = kMaxDumpedElements}));
}

}  // namespace tosaic
