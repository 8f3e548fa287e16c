// SPDX-License-Identifier: Apache-2.0
#include "driver/compile.h"

#include <algorithm>
#include <chrono>
#include <unordered_map>
#include <unordered_set>

#include "aten/pt2/reader.h"
#include "aten/row.h"
#include "driver/borders.h"
#include "driver/command.h"
#include "driver/dump_folder.h"
#include "driver/eviction.h"
#include "driver/layers.h"
#include "driver/opt.h"
#include "driver/pipelines.h"
#include "driver/pte_emit.h"
#include "ethosu/payload.h"
#include "ir/text.h"
#include "ir/verify.h"
#include "partition/partition.h"
#include "quant/qdq.h"
#include "support/mapped_file.h"
#include "support/output_file.h"
#include "target/targets.h"
#include "tosa/flatbuffer.h"

namespace tosaic {
namespace {

bool ends_with(std::string_view text, std::string_view suffix) {
  return text.ends_with(suffix);
}

std::span<const std::byte> as_bytes(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Measures stages: each lap goes from the end of the one before.
class Stopwatch {
 public:
  Stopwatch(std::vector<StageTime>& times, const Log& log) : times_(times), log_(log) {}
  void lap(std::string name) {
    const auto now = std::chrono::steady_clock::now();
    times_.push_back({std::move(name), std::chrono::duration<double>(now - last_).count()});
    const StageTime& stage = times_.back();
    if (log_) log_(LogLevel::kDebug, fmt::format("{}: {:.1f} ms", stage.name, stage.seconds * 1e3));
    last_ = now;
  }

 private:
  std::vector<StageTime>& times_;
  const Log& log_;
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

/// "1,?,8" of [1,s,8].
std::string example_shape(const Value& v) {
  std::string text;
  for (int64_t size : v.shape())
    text += (text.empty() ? "" : ",") + (size < 0 ? "?" : fmt::format("{}", size));
  return text;
}

/// Memory is planned and Vela works on numbers only.
Status refuse_symbolic_sizes(const Graph& graph) {
  for (const Value* v : graph.inputs()) {
    for (int axis = 0; axis < v->shape().rank(); ++axis) {
      if (v->shape()[axis] >= 0) continue;
      return error(Code::kDynamicShape, "input \"{}\" is {}: the size of axis {} is symbolic",
                   v->name(), to_string(v->type()), axis)
          .with_hint(fmt::format("give its shape: --shape {}={}", v->name(), example_shape(*v)));
    }
  }
  return ok();
}

Graph& callee_of(const Node& call) {
  return *call.graph().module().find_graph(call.attr("callee")->as_string());
}

/// Whether parts of a partition may be taken that was refused as a whole: by Vela, or by the rows
/// of the target for one of its operations.
bool is_refusal(const Diagnostic& d) {
  return blames_program(d) || d.code == Code::kVerifyTarget;
}

/// A partition as Vela gets it.
struct LoweredPart {
  int partition = -1;  ///< as placements count
  Graph* graph = nullptr;
  std::vector<std::byte> tosa;
  size_t num_constants = 0;  ///< operators of it that are constants
};

/// One run of `compile` or `explain`.
class Compilation {
 public:
  Compilation(const CompileOptions& options, Eviction& eviction)
      : options_(options),
        eviction_(eviction),
        passes_(options.passes),
        watch_(report_.times, options.log) {
    report_.target = options.target.name;
    report_.output = options.output;
  }

  Status compile();
  Status explain();
  Status lower_for_host(HostProgram& program);
  /// The module as it stands, for the reproducer of a bug.
  const Module* module() const { return module_.get(); }
  CompileReport take_report() {
    for (const PassTime& t : passes_.times()) {
      if (options_.passes.time_passes) {
        report_.pass_times.push_back({std::string(t.name), t.seconds});
      }
    }
    report_.diagnostics.insert(report_.diagnostics.begin(), sink_.all().begin(), sink_.all().end());
    return std::move(report_);
  }

 private:
  bool for_npu() const { return options_.target.is_ethos_u(); }
  template <typename... Args>
  void tell(LogLevel level, fmt::format_string<Args...> format, Args&&... args) const {
    if (options_.log) options_.log(level, fmt::format(format, std::forward<Args>(args)...));
  }
  Status read();
  Status require_aten() const;
  Status prepare();
  Status quantise(PassContext& c);
  Status convert_io(PassContext& c);
  void report_io();
  Status place_nodes();
  Expected<std::optional<Diagnostic>> refusal_of(std::span<Node* const> nodes, bool ask_vela);
  std::vector<Node*> nodes_of_partition(int partition) const;
  /// Remembers a refusal for the next attempt.
  void suspect(int partition, const Diagnostic& refusal) {
    if (!is_refusal(refusal) || options_.strict) return;
    eviction_.suspect = partition;
    eviction_.refusal = refusal;
  }
  Status evict_refused_nodes();
  Status evict_by_rows();
  void warn_of_evicted();
  bool wants_samples() const;
  std::string hint_for_left(const NodeReport& first) const;
  Status refuse_what_is_left();
  void warn_of_cpu();
  Status lower_as_one_graph();
  Status compile_to_tosa();
  Status compile_to_pte();
  Status optimise(Graph*& graph, PassManager& passes);
  Status lower_partition(Node& call);
  void forget_partitions();
  Expected<std::vector<std::byte>> payload_of(const VelaResult& vela, DelegateReport& delegate);
  Status lower_partitions();
  Status check_arguments(const LoweredPart& part, const VelaResult& vela) const;
  Expected<std::vector<Delegate>> compile_partitions();
  Status dump(std::string_view name, std::span<const std::byte> content);
  std::string header_path() const;
  Status write(std::span<const std::byte> content);
  void explain_tosa();
  Status keep_only_node();
  void warn_of_outputs();
  Status warn_of_missing_kernels();
  PassContext context() {
    PassContext c;
    c.target = &options_.target;
    c.legal = [this](const Node& node) { return !options_.target.legal(node); };
    c.diagnostics = &sink_;
    return c;
  }

  const CompileOptions& options_;
  Eviction& eviction_;
  PassManager passes_;
  CompileReport report_;
  DiagnosticSink sink_;
  Stopwatch watch_;
  std::unique_ptr<Module> module_;
  bool on_host_ = false;  ///< `tosaic run`: one TOSA graph, whatever the target
  bool wants_samples_ = false;
  QuantisationResult quantised_;  ///< of our own quantisation
  std::vector<Loc> output_locs_;  ///< as the program was read
  std::vector<Placement> placements_;
  std::vector<LoweredPart> parts_;
  std::unordered_set<const Value*> nhwc_;  ///< values at the borders with --io-layout
};

Status Compilation::read() {
  tell(LogLevel::kInfo, "reading {}", options_.input);
  if (ends_with(options_.input, ".tir")) {
    TOSAIC_TRY(const std::string text, read_text_file(options_.input));
    TOSAIC_TRY(module_, parse_module(text, options_.input));
    if (module_->main() == nullptr) {
      return error(Code::kFileKind, "{} has no graph @main", options_.input);
    }
  } else if (ends_with(options_.input, ".pt2")) {
    TOSAIC_TRY(module_, aten::read_pt2(options_.input, options_.model, options_.sizes));
  } else {
    return error(Code::kFileKind, "{} is no .pt2 file", options_.input)
        .with_hint("write one with torch.export.save(torch.export.export(model, inputs), file)");
  }
  output_locs_ = locs_of_outputs(*module_->main());
  watch_.lap("read");
  return verify(*module_);
}

/// Text IR may hold graphs of any dialect.
Status Compilation::require_aten() const {
  if (module_->main()->dialect() == Dialect::kAten) return ok();
  return error(Code::kFileKind, "{}: graph @main is no aten graph", options_.input);
}

Status Compilation::prepare() {
  tell(LogLevel::kInfo, "preparing {} nodes", module_->main()->num_nodes());
  PassContext c = context();
  if (!options_.calibration.path.empty()) {
    TOSAIC_CHECK_OK(quantise(c));
  } else {
    TOSAIC_CHECK_OK(passes_.run(prepare_pipeline(), *module_->main(), c));
    watch_.lap("prepare");
  }
  if (passes_.stopped()) return ok();
  return convert_io(c);
}

/// --io-dtype: what the program's own inputs and outputs are.
Status Compilation::convert_io(PassContext& c) {
  const DType wanted = options_.io.dtype;
  const bool is_float_target = options_.target.kind == TargetKind::kTosaFp;
  const bool is_int_target =
      options_.target.kind == TargetKind::kTosaInt || (on_host_ && for_npu());
  if (wanted == DType::kF32 ? is_int_target : wanted != DType::kUnknown && is_float_target) {
    return error(Code::kOption, "--io-dtype {}: target {} computes in {}", torch_name(wanted),
                 options_.target.name, is_int_target ? "integers" : "floating point");
  }
  if (wanted == DType::kF32 || (wanted == DType::kUnknown && !is_int_target)) return ok();
  Graph& main = *module_->main();
  TOSAIC_CHECK_OK(passes_.run(integer_io_pipeline(), main, c));
  if (passes_.stopped()) return ok();
  TOSAIC_CHECK_OK(check_io_dtype(main, wanted, sink_));
  if (wanted == DType::kU8) TOSAIC_CHECK_OK(passes_.run(unsigned_io_pipeline(), main, c));
  watch_.lap("io");
  return ok();
}

/// Our own quantisation, of a float program.
Status Compilation::quantise(PassContext& c) {
  if (options_.target.kind != TargetKind::kTosaInt && !for_npu()) {
    return error(Code::kOption, "--calibrate: target {} computes in floating point",
                 options_.target.name)
        .with_hint("leave it out, or choose tosa-int or an Ethos-U");
  }
  Graph& main = *module_->main();
  TOSAIC_CHECK_OK(passes_.run(prepare_float_pipeline(), main, c));
  watch_.lap("prepare");
  if (passes_.stopped()) return ok();
  tell(LogLevel::kInfo, "calibrating by {}", options_.calibration.path);
  TOSAIC_TRY(quantised_, quantise_program(main, options_.calibration, options_.target, sink_,
                                          options_.calibration_progress));
  TOSAIC_CHECK_OK(verify(main));
  report_.num_samples = quantised_.num_samples;
  report_.sqnr_db = quantised_.sqnr_db;
  report_.num_infinite = quantised_.num_infinite;
  main.erase_dead_nodes();
  watch_.lap("calibrate");
  return ok();
}

Status Compilation::place_nodes() {
  Graph& main = *module_->main();
  tell(LogLevel::kInfo, "placing {} nodes on {}", main.num_nodes(), options_.target.name);
  std::unordered_map<const Node*, Reject> evicted;
  size_t index = 0;
  for (const Node& node : main.nodes()) {
    const auto it = eviction_.nodes.find(index++);
    if (it != eviction_.nodes.end()) evicted.emplace(&node, it->second);
  }
  report_.nodes.clear();
  report_.delegates.clear();
  placements_ = place(main, options_.target, evicted);
  for (Placement& p : placements_) {
    // What our quantisation left float, it left for this reason.
    const auto it = quantised_.float_nodes.find(p.node);
    if (p.reason && it != quantised_.float_nodes.end()) {
      p.reason = it->second;
    }
    NodeReport n;
    if (p.node->num_results() > 0) n.name = p.node->result().name();
    n.op = aten::shown_name(*p.node);
    if (p.node->num_results() > 0) n.type = to_string(p.node->result().type());
    n.where = resolve(p.node->loc());
    n.device = !p.on_target ? "cpu" : for_npu() ? "npu" : "tosa";
    if (p.on_target) {
      n.delegate = fmt::format("part{}", p.partition);
      const auto part = static_cast<size_t>(p.partition);
      if (report_.delegates.size() <= part) report_.delegates.resize(part + 1);
      report_.delegates[part].name = n.delegate;
      ++report_.delegates[part].num_nodes;
    }
    n.reason = p.reason;
    // What Vela refuses is not known before it was asked.
    if (n.reason && n.reason->code != Code::kRejectEvicted) {
      n.command = explain_command(options_, n.name);
    }
    report_.nodes.push_back(std::move(n));
  }
  wants_samples_ = wants_samples();  // later nodes may be gone
  watch_.lap("partition");
  return ok();
}

/// Lowers some nodes without the others and asks the target's rows, and Vela if `ask_vela`: who
/// refuses them, if anybody. Other errors of Vela (missing, out of time) are errors here too.
Expected<std::optional<Diagnostic>> Compilation::refusal_of(std::span<Node* const> nodes,
                                                            bool ask_vela) {
  const std::string_view name = module_->unique_graph_name("trial");
  Graph* trial = &extract(*module_->main(), nodes, name);
  PassManager quiet{PassOptions{}};
  if (const Status lowered = optimise(trial, quiet); !lowered) {
    if (!is_refusal(lowered.error())) return lowered.error();
    module_->erase_graph(name);
    return std::optional(lowered.error());
  }
  if (!ask_vela) {
    module_->erase_graph(name);
    return std::optional<Diagnostic>();
  }
  TOSAIC_TRY(const std::vector<std::byte> tosa, tosa::write_flatbuffer(*trial, TosaVersion()));
  module_->erase_graph(name);
  const auto vela = run_vela(tosa, options_.vela);
  if (vela) return std::optional<Diagnostic>();
  if (is_refusal(vela.error())) return std::optional(vela.error());
  return vela.error();
}

std::vector<Node*> Compilation::nodes_of_partition(int partition) const {
  std::vector<Node*> nodes;
  for (const Placement& p : placements_) {
    if (p.on_target && p.partition == partition) nodes.push_back(p.node);
  }
  return nodes;
}

/// A partition was refused: finds the nodes to blame, and places anew without them. When none can
/// be found, the refusal is the error, and so it is when Vela takes nothing: then it is not the
/// nodes.
Status Compilation::evict_refused_nodes() {
  constexpr size_t kMostEvicted = 16;
  const Diagnostic& refusal = *eviction_.refusal;
  const bool is_velas = eviction_.by_vela();
  const std::vector<Node*> nodes = nodes_of_partition(*eviction_.suspect);
  tell(LogLevel::kInfo, "{} refused a partition: searching its {} nodes for what is refused",
       is_velas ? "Vela" : report_.target, nodes.size());
  std::unordered_map<const Node*, Reject> reasons;  // of what was refused alone
  const TakesNodes takes = [&](std::span<Node* const> some) -> Expected<bool> {
    TOSAIC_TRY(const auto why, refusal_of(some, is_velas));
    if (why && some.size() == 1) {
      reasons.emplace(some[0],
                      reject(Code::kRejectEvicted, "with its partition: {}", why->message));
    }
    return !why;
  };
  TOSAIC_TRY(const std::vector<Node*> refused, find_refused(nodes, takes, kMostEvicted));
  if (refused.empty() || (is_velas && refused.size() == nodes.size())) return refusal;
  size_t index = 0;
  for (const Placement& p : placements_) {
    if (std::ranges::find(refused, p.node) != refused.end()) {
      const auto it = reasons.find(p.node);
      eviction_.nodes.emplace(
          index, it != reasons.end()
                     ? it->second
                     : reject(Code::kRejectEvicted, "together with others: {}", refusal.message));
    }
    ++index;
  }
  watch_.lap("bisect");
  eviction_.suspect.reset();
  return place_nodes();
}

/// What `compile` finds in lowering: partitions that the target's rows refuse as a whole.
Status Compilation::evict_by_rows() {
  for (int partition = 0; static_cast<size_t>(partition) < report_.delegates.size();) {
    TOSAIC_TRY(auto refusal, refusal_of(nodes_of_partition(partition), false));
    if (!refusal) {
      ++partition;
      continue;
    }
    eviction_.suspect = partition;
    eviction_.refusal = std::move(refusal);
    TOSAIC_CHECK_OK(evict_refused_nodes());
    partition = 0;
  }
  return ok();
}

void Compilation::warn_of_evicted() {
  if (eviction_.nodes.empty()) return;
  const bool is_velas = eviction_.by_vela();
  Diagnostic d = error(Code::kWarnEvicted, "{} refused {} node{} that {} should take",
                       is_velas ? "Vela" : "the verifier", eviction_.nodes.size(),
                       eviction_.nodes.size() == 1 ? "" : "s", report_.target);
  d.severity = Severity::kWarning;
  for (const auto& [i, reason] : eviction_.nodes) {
    const NodeReport& n = report_.nodes[i];
    d.notes.push_back(
        n.where.line == 0 ? n.op : fmt::format("{} at {}:{}", n.op, n.where.file, n.where.line));
  }
  d.notes.push_back(fmt::format("it said: {}", eviction_.refusal->message));
  d.hint = "they run on the CPU; --strict makes this an error";
  if (is_velas) d.hint += ". Please report it";
  sink_.add(std::move(d));
}

/// Samples would help: nodes are left for want of quantisation, nothing in the program is quantised
/// or in training for it, and no samples were given.
bool Compilation::wants_samples() const {
  const auto is_quantised = [](const Placement& p) {
    const std::string_view name = aten::shown_name(*p.node);
    return p.on_target || !p.reason ||  // without a reason: quantize and dequantize nodes
           name.find("fake_quant") != name.npos || name.find("qparams") != name.npos;
  };
  return options_.calibration.path.empty() && options_.target.kind != TargetKind::kTosaFp &&
         std::ranges::none_of(placements_, is_quantised) &&
         std::ranges::any_of(placements_, [](const Placement& p) {
           return p.reason->code == Code::kRejectNotQuantised &&
                  !try_lower(*p.node, host_target());  // else float is not what it lacks
         });
}

/// What to do about nodes that are left, of which `first` is the first.
std::string Compilation::hint_for_left(const NodeReport& first) const {
  if (first.reason && first.reason->code != Code::kRejectNotQuantised &&
      !first.reason->hint.empty()) {
    return first.reason->hint;
  }
  if (wants_samples_) return "quantise the program: give samples of its inputs with --calibrate";
  return "see all of them with: " + explain_command(options_);
}

/// With --strict, and for targets without a CPU, a node that is left is an error.
Status Compilation::refuse_what_is_left() {
  size_t num_left = 0;
  const NodeReport* first = nullptr;
  for (const NodeReport& n : report_.nodes) {
    const bool is_border = n.device == "cpu" && !n.reason;
    if (n.device != "cpu" || (is_border && for_npu() && !on_host_)) continue;
    // Quantisation that stands around a node without an integer form is left because of it.
    if (first == nullptr || (!first->reason && n.reason)) first = &n;
    ++num_left;
  }
  if (first == nullptr) return ok();
  Diagnostic d =
      error(Code::kStrict, "{}",
            first->reason ? first->reason->why : fmt::format("{} has no integer form", first->op));
  d.where = first->where;
  if (!first->type.empty()) {
    d.notes.push_back(fmt::format("{} gives {}", first->op, first->type));
  }
  d.notes.push_back(fmt::format("{} of {} nodes are not taken by {}", num_left,
                                report_.nodes.size(), report_.target));
  if (!first->command.empty()) d.notes.push_back("show this alone with: " + first->command);
  d.hint = hint_for_left(*first);
  return d;
}

/// Quantisation at the borders is the CPU's anyway and no reason to warn.
void Compilation::warn_of_cpu() {
  const auto num_left = std::ranges::count_if(
      report_.nodes, [](const NodeReport& n) { return n.device == "cpu" && n.reason; });
  if (num_left == 0 || !for_npu()) return;
  Diagnostic d =
      error(Code::kWarnCpu, "{} of {} nodes run on the CPU", num_left, report_.nodes.size());
  d.severity = Severity::kWarning;
  d.hint = "see why with: " + explain_command(options_);
  if (wants_samples_) {
    d.hint = "quantise the program: give samples of its inputs with --calibrate";
  }
  sink_.add(std::move(d));
}

Status Compilation::optimise(Graph*& graph, PassManager& passes) {
  const std::string_view name = graph->name();
  TOSAIC_TRY(graph, lower_to_tosa(*graph, options_.target));
  PassContext c = context();
  TOSAIC_CHECK_OK(passes.run(tosa_pipeline(), *graph, c));
  name_borders(*graph);
  TOSAIC_CHECK_OK(verify(*graph));
  for (const Node& node : graph->nodes()) {
    if (const auto reason = options_.target.legal(node)) {
      Diagnostic d = error(Code::kVerifyTarget, "{}", reason->why)
                         .at(resolve(node.loc()))
                         .with_note(fmt::format("in the lowered form of {}", name));
      if (options_.strict) d.hint = "without --strict, the nodes to blame run on the CPU";
      return d;
    }
  }
  return ok();
}

Status Compilation::dump(std::string_view name, std::span<const std::byte> content) {
  if (options_.dump_dir.empty()) return ok();
  return write_file(fmt::format("{}/{}", options_.dump_dir, name), content);
}

/// model_io.h beside model.pte, when whoever runs the program has to convert.
std::string Compilation::header_path() const {
  if (options_.io.dtype == DType::kUnknown || options_.io.dtype == DType::kF32) return {};
  if (ends_with(options_.output, ".tir")) return {};
  return options_.output.substr(0, options_.output.rfind('.')) + "_io.h";
}

Status Compilation::write(std::span<const std::byte> content) {
  tell(LogLevel::kInfo, "writing {}", options_.output);
  report_.output_bytes = content.size();
  const std::string header = header_path();
  if (!header.empty()) {
    TOSAIC_CHECK_OK(write_file(header, std::string_view(io_header(options_.output, report_))));
    report_.header = header;
  }
  if (Status s = write_file(options_.output, content); !s) {
    if (!header.empty()) std::remove(header.c_str());
    return s;
  }
  watch_.lap("write");
  return ok();
}

/// --io-layout, and what the report says of inputs and outputs: in PyTorch's shapes for a .pte,
/// whose tensors know the order of their axes; in those of the file for a .tosa.
void Compilation::report_io() {
  Graph& main = *module_->main();
  if (options_.io.channels_last) {
    for (const Value* v : make_channels_last(main))
      nhwc_.insert(v);
  }
  report_.inputs = io_of_inputs(main);
  report_.outputs = io_of_outputs(main);
  const auto set_layout = [&](const Value* v, IoReport& io) {
    if (io.shape.size() != 4 || !options_.io.channels_last) return;
    if (!nhwc_.contains(v)) {
      Diagnostic d = error(Code::kWarnIoLayout, "\"{}\" stays contiguous", io.name);
      d.severity = Severity::kWarning;
      d.hint = "a kernel of the CPU reads or writes it in this layout";
      sink_.add(std::move(d));
      return;
    }
    io.layout = "channels_last";
    if (main.dialect() == Dialect::kMixed) std::rotate(&io.shape[1], &io.shape[3], &io.shape[4]);
  };
  for (size_t i = 0; i < report_.inputs.size(); ++i)
    set_layout(main.inputs()[i], report_.inputs[i]);
  for (size_t i = 0; i < report_.outputs.size(); ++i)
    set_layout(main.output(static_cast<int>(i)), report_.outputs[i]);
}

/// The whole program as one TOSA graph.
Status Compilation::lower_as_one_graph() {
  TOSAIC_CHECK_OK(refuse_what_is_left());
  Graph* main = module_->main();
  TOSAIC_CHECK_OK(check_passed_on(*main, options_.target, output_locs_));
  tell(LogLevel::kInfo, "lowering {} nodes to TOSA", main->num_nodes());
  report_io();
  TOSAIC_CHECK_OK(optimise(main, passes_));
  watch_.lap("lower");
  return ok();
}

Status Compilation::compile_to_tosa() {
  TOSAIC_CHECK_OK(lower_as_one_graph());
  const Graph* main = module_->main();
  const auto as_in_file = [](IoReport& io, const Value& v) {
    io.name = v.name();
    if (v.dtype() == DType::kI32) io.dtype = torch_name(v.dtype());  // also for int64
  };
  for (size_t i = 0; i < report_.inputs.size(); ++i)
    as_in_file(report_.inputs[i], *main->inputs()[i]);
  for (size_t i = 0; i < report_.outputs.size(); ++i)
    as_in_file(report_.outputs[i], *main->output(static_cast<int>(i)));
  TOSAIC_TRY(const std::vector<std::byte> tosa,
             tosa::write_flatbuffer(*main, options_.tosa_version));
  report_.delegates.resize(1);
  report_.delegates[0].name = "main";
  report_.delegates[0].num_tosa_ops = main->num_nodes();
  report_.delegates[0].tosa_bytes = tosa.size();
  TOSAIC_CHECK_OK(dump("main.tosa", tosa));
  if (ends_with(options_.output, ".tir")) return write(as_bytes(print(*module_)));
  return write(tosa);
}

/// Lowers the partition of a call and adds it to parts_.
Status Compilation::lower_partition(Node& call) {
  const auto moved = [this](const Value& from, const Value& to) {
    if (nhwc_.erase(&from) > 0) nhwc_.insert(&to);
  };
  LoweredPart part;
  part.graph = &callee_of(call);
  const auto delegate =
      std::ranges::find(report_.delegates, part.graph->name(), &DelegateReport::name);
  part.partition = static_cast<int>(delegate - report_.delegates.begin());
  Node& needed = drop_unread_results(call, *part.graph, moved);
  if (Status lowered = optimise(part.graph, passes_); !lowered) {
    suspect(part.partition, lowered.error());
    return lowered;
  }
  TOSAIC_CHECK_OK(drop_unread_inputs(needed, *part.graph, moved));
  if (part.graph->inputs().empty()) return ok();  // its results are constants now
  delegate->num_tosa_ops = part.graph->num_nodes();
  TOSAIC_TRY(part.tosa, tosa::write_flatbuffer(*part.graph, TosaVersion(),
                                               {.num_constant_operators = &part.num_constants}));
  delegate->tosa_bytes = part.tosa.size();
  TOSAIC_CHECK_OK(dump(fmt::format("{}.tosa", delegate->name), part.tosa));
  parts_.push_back(std::move(part));
  return ok();
}

Expected<std::vector<std::byte>> Compilation::payload_of(const VelaResult& vela,
                                                         DelegateReport& delegate) {
  delegate.command_bytes = vela.command_stream.size();
  delegate.weight_bytes = vela.read_only.size();
  delegate.scratch_bytes = vela.scratch_bytes;
  delegate.performance = vela.performance;
  delegate.vela_version = vela.version;
  TOSAIC_TRY(std::vector<std::byte> payload, write_vela_bin_stream(vela));
  TOSAIC_CHECK_OK(dump(fmt::format("{}.payload", delegate.name), payload));
  return payload;
}

/// From the last to the first: what one turns out not to read, nothing before it has to compute.
Status Compilation::lower_partitions() {
  const size_t count = report_.delegates.size();
  tell(LogLevel::kInfo, "lowering {} partition{} to TOSA", count, count == 1 ? "" : "s");
  Graph& main = *module_->main();
  main.erase_dead_nodes();
  for (Node* node = main.last(); node != nullptr;) {
    const bool is_call = node->is(kCallOp);
    if (!is_call || callee_of(*node).dialect() != Dialect::kAten) {  // kTosa: it is done
      node = node->prev();
      continue;
    }
    const Node* const after = node->next();
    TOSAIC_CHECK_OK(lower_partition(*node));
    main.erase_dead_nodes();
    node = after->prev();
  }
  std::ranges::sort(parts_, {}, &LoweredPart::partition);
  forget_partitions();
  return ok();
}

/// Those whose results nothing needs.
void Compilation::forget_partitions() {
  std::unordered_set<std::string_view> needed;
  for (const LoweredPart& part : parts_)
    needed.insert(part.graph->name());
  for (NodeReport& n : report_.nodes) {
    if (n.delegate.empty() || needed.contains(n.delegate)) continue;
    n.delegate.clear();
    n.device = "none";
  }
  std::erase_if(report_.delegates, [&](const DelegateReport& d) {
    if (needed.contains(d.name)) return false;
    module_->erase_graph(d.name);
    return true;
  });
}

/// Vela leaves out what nothing reads, and does not say which input that was.
Status Compilation::check_arguments(const LoweredPart& part, const VelaResult& vela) const {
  const size_t num_inputs = part.graph->inputs().size();
  const auto num_outputs = static_cast<size_t>(part.graph->num_outputs());
  if (vela.inputs.size() == num_inputs && vela.outputs.size() == num_outputs) return ok();
  return error(
      Code::kVelaOutput, "Vela reports {} inputs and {} outputs of {}, which has {} and {}",
      vela.inputs.size(), vela.outputs.size(), part.graph->name(), num_inputs, num_outputs);
}

/// All partitions: lowered one by one, since they share the module, then through Vela at once.
Expected<std::vector<Delegate>> Compilation::compile_partitions() {
  TOSAIC_CHECK_OK(lower_partitions());
  std::vector<std::vector<std::byte>> programs;
  for (LoweredPart& part : parts_)
    programs.push_back(std::move(part.tosa));
  watch_.lap("lower");
  VelaOptions vela_options = options_.vela;
  vela_options.enable_db = true;  // costs nothing that can be measured
  if (!parts_.empty()) {
    tell(LogLevel::kInfo, "Vela compiles {} partition{}", parts_.size(),
         parts_.size() == 1 ? "" : "s");
  }
  std::vector<Expected<VelaResult>> results = run_vela_on_each(programs, vela_options);
  watch_.lap("vela");
  std::vector<Delegate> delegates;
  for (size_t i = 0; i < results.size(); ++i) {
    const LoweredPart& part = parts_[i];
    if (!results[i]) {
      suspect(part.partition, results[i].error());
      return std::move(results[i]).error();
    }
    TOSAIC_CHECK_OK(check_arguments(part, *results[i]));
    DelegateReport& d = report_.delegates[i];
    report_layers(*part.graph, part.num_constants, *results[i], d);
    TOSAIC_TRY(std::vector<std::byte> payload, payload_of(*results[i], d));
    tell(LogLevel::kDebug, "{}: {} bytes of TOSA, {} of payload, by {}", d.name, d.tosa_bytes,
         payload.size(), results[i]->called);
    delegates.push_back({d.name, std::move(payload)});
  }
  return delegates;
}

Status Compilation::compile_to_pte() {
  if (options_.strict) TOSAIC_CHECK_OK(refuse_what_is_left());
  Graph& main = *module_->main();
  TOSAIC_CHECK_OK(outline(main, placements_));
  report_io();
  TOSAIC_CHECK_OK(prepare_cpu(main, options_.target, placements_));
  TOSAIC_CHECK_OK(verify(main));
  TOSAIC_TRY(const std::vector<Delegate> delegates, compile_partitions());
  if (ends_with(options_.output, ".tir")) return write(as_bytes(print(*module_)));
  TOSAIC_TRY(EmittedPte pte, emit_pte(main, delegates, options_.target, nhwc_));
  report_.planned_bytes = pte.planned_bytes;
  report_.kernels = pte.kernels;
  report_.sram_limit = options_.sram_limit;
  report_memory(report_);
  TOSAIC_CHECK_OK(check_sram(report_, options_.sram_limit));
  warn_of_evicted();
  warn_of_cpu();
  watch_.lap("emit");
  return write(pte.bytes);
}

Status Compilation::compile() {
  const bool is_pte = ends_with(options_.output, ".pte");
  const bool is_tosa = ends_with(options_.output, ".tosa");
  if (!is_pte && !is_tosa && !ends_with(options_.output, ".tir")) {
    return error(Code::kOption, "-o {}: the suffix must be .pte, .tosa or .tir", options_.output);
  }
  TOSAIC_CHECK_OK(check_pass_names(options_.passes));
  if (!options_.passes.stop_after.empty() && (is_pte || is_tosa)) {
    return error(Code::kOption, "-o {}: --stop-after writes text IR, a .tir", options_.output);
  }
  const bool wants_pte = for_npu() || options_.target.kind == TargetKind::kCpu;
  if (is_tosa && wants_pte) {
    return error(Code::kOption, "-o {}: target {} gives a .pte", options_.output,
                 options_.target.name)
        .with_hint("--dump DIR keeps the TOSA of each partition");
  }
  if (is_pte && !wants_pte) {
    return error(Code::kOption, "-o {}: target {} gives a .tosa", options_.output,
                 options_.target.name);
  }
  if (wants_pte && options_.tosa_version != TosaVersion()) {
    return error(Code::kOption, "--tosa-version: a .pte is made of TOSA 1.0, which Vela reads")
        .with_hint("--target tosa-int or tosa-fp writes a .tosa of another version");
  }
  TOSAIC_CHECK_OK(refuse_overwriting("-o", options_.output, options_.input));
  TOSAIC_CHECK_OK(check_folder_of(options_.output));
  TOSAIC_CHECK_OK(read());
  if (!options_.dump_dir.empty()) TOSAIC_CHECK_OK(prepare_dump_folder(options_.dump_dir));
  TOSAIC_CHECK_OK(require_aten());
  TOSAIC_CHECK_OK(refuse_symbolic_sizes(*module_->main()));
  TOSAIC_CHECK_OK(prepare());
  if (passes_.stopped()) return write(as_bytes(print(*module_)));
  TOSAIC_CHECK_OK(place_nodes());
  if (eviction_.suspect) TOSAIC_CHECK_OK(evict_refused_nodes());
  return wants_pte ? compile_to_pte() : compile_to_tosa();
}

HostBorder border_of(const Value& v) {
  HostBorder border;
  const Quant* quant = v.quant();
  if (quant != nullptr && quant->per_tensor()) {
    border.codes = numeric::AffineParams{.scale = quant->scale(),
                                         .zero_point = quant->zero_point(),
                                         .qmin = static_cast<int32_t>(quant->qmin),
                                         .qmax = static_cast<int32_t>(quant->qmax)};
  }
  return border;
}

std::vector<HostBorder> borders_of(std::span<Value* const> values) {
  std::vector<HostBorder> borders;
  for (const Value* v : values)
    borders.push_back(border_of(*v));
  return borders;
}

/// What the user's program had there before it was lowered. Codes that were its own stay codes.
void set_own_dtypes(std::vector<HostBorder>& borders, std::span<const DType> dtypes) {
  for (size_t i = 0; i < borders.size(); ++i) {
    borders[i].dtype = dtypes[i];
    if (dtypes[i] != DType::kF32) borders[i].codes.reset();
  }
}

std::vector<DType> dtypes_of(std::span<Value* const> values) {
  std::vector<DType> dtypes;
  for (const Value* v : values)
    dtypes.push_back(v->dtype());
  return dtypes;
}

Status Compilation::lower_for_host(HostProgram& program) {
  on_host_ = true;
  TOSAIC_CHECK_OK(read());
  TOSAIC_CHECK_OK(require_aten());
  Graph& main = *module_->main();
  TOSAIC_CHECK_OK(refuse_symbolic_sizes(main));
  const std::vector<DType> inputs = dtypes_of(main.inputs());
  const std::vector<DType> outputs = dtypes_of(main.outputs());
  TOSAIC_CHECK_OK(prepare());
  TOSAIC_CHECK_OK(place_nodes());
  program.inputs = borders_of(main.inputs());
  program.outputs = borders_of(main.outputs());
  set_own_dtypes(program.inputs, inputs);
  set_own_dtypes(program.outputs, outputs);
  TOSAIC_CHECK_OK(lower_as_one_graph());
  program.module = std::move(module_);
  return ok();
}

/// Operation by operation: the graph is one partition already.
void Compilation::explain_tosa() {
  report_.delegates.resize(1);
  report_.delegates[0].name = "main";
  report_.inputs = io_of_inputs(*module_->main());
  report_.outputs = io_of_outputs(*module_->main());
  for (const Node& node : module_->main()->nodes()) {
    NodeReport n;
    if (node.num_results() > 0) n.name = node.result().name();
    n.op = node.full_name();
    n.type = node.num_results() > 0 ? to_string(node.result().type()) : "";
    n.where = resolve(node.loc());
    n.reason = options_.target.legal(node);
    if (n.reason) n.command = explain_command(options_, n.name);
    n.device = n.reason ? "cpu" : for_npu() ? "npu" : "tosa";
    if (!n.reason) {
      n.delegate = "main";
      ++report_.delegates[0].num_nodes;
      ++report_.delegates[0].num_tosa_ops;
    }
    report_.nodes.push_back(std::move(n));
  }
}

Status Compilation::explain() {
  if (ends_with(options_.input, ".tosa")) {
    TOSAIC_TRY(const auto file, MappedFile::open(options_.input));
    TOSAIC_TRY(module_, tosa::read_flatbuffer(file->bytes(), file, options_.input));
  } else {
    TOSAIC_CHECK_OK(read());
  }
  if (module_->main()->dialect() == Dialect::kTosa) {
    explain_tosa();
    return keep_only_node();
  }
  TOSAIC_CHECK_OK(require_aten());
  TOSAIC_CHECK_OK(prepare());
  TOSAIC_CHECK_OK(place_nodes());
  if (for_npu() && refuse_symbolic_sizes(*module_->main())) TOSAIC_CHECK_OK(evict_by_rows());
  TOSAIC_CHECK_OK(keep_only_node());
  warn_of_outputs();
  return warn_of_missing_kernels();
}

/// --node
Status Compilation::keep_only_node() {
  const std::string& wanted = options_.node;
  if (wanted.empty()) return ok();
  std::vector<std::string_view> names;
  for (const NodeReport& n : report_.nodes)
    names.push_back(n.name);
  if (std::ranges::find(names, wanted) == names.end()) {
    Diagnostic d = error(Code::kOption, "--node {}: the program has no node of this name", wanted);
    const std::string_view near = nearest_name(wanted, names);
    d.hint = near.empty() ? "names are those that print(exported_program) shows"
                          : fmt::format("did you mean {}", near);
    return d;
  }
  std::erase_if(report_.nodes, [&](const NodeReport& n) { return n.name != wanted; });
  report_.only_node = wanted;
  return ok();
}

/// `compile` will fail for an output of a .tosa that cannot be one.
void Compilation::warn_of_outputs() {
  const bool has_cpu = for_npu() || options_.target.kind == TargetKind::kCpu;
  const bool leaves_some =
      std::ranges::any_of(report_.nodes, [](const NodeReport& n) { return n.device == "cpu"; });
  if (has_cpu || leaves_some || !options_.node.empty()) return;
  const Status checked = check_passed_on(*module_->main(), options_.target, output_locs_);
  if (checked) return;
  Diagnostic d = checked.error();
  d.severity = Severity::kWarning;
  sink_.add(std::move(d));
}

/// `compile` will fail for a node that no kernel of the CPU computes.
Status Compilation::warn_of_missing_kernels() {
  Graph& main = *module_->main();
  const bool has_cpu = for_npu() || options_.target.kind == TargetKind::kCpu;
  if (!has_cpu || !options_.node.empty() || !refuse_symbolic_sizes(main).ok()) return ok();
  TOSAIC_CHECK_OK(outline(main, placements_));
  if (const Status prepared = prepare_cpu(main, options_.target, placements_); !prepared) {
    Diagnostic d = prepared.error();
    d.severity = Severity::kWarning;
    sink_.add(std::move(d));
  }
  return ok();
}

/// A broken invariant: E0001, with the module as it stands.
Diagnostic report_bug(const BugError& bug, const Module* module) {
  Diagnostic d = error(Code::kInternal, "{}", bug.what());
  d.hint = "this is a bug in tosaic: please report it with the program";
  if (module == nullptr) return d;
  PrintOptions elided;
  elided.max_constant_elements = 1024;
  if (const auto path = write_temporary_file("tosaic-bug", "tir", print(*module, elided))) {
    d.notes.push_back(fmt::format("the program as it was is in {}", *path));
  }
  return d;
}

template <typename F>
Expected<CompileReport> guarded(const CompileOptions& options, Eviction& eviction, F work) {
  Compilation c(options, eviction);
  try {
    TOSAIC_CHECK_OK(work(c));
  } catch (const BugError& bug) {
    return report_bug(bug, c.module());
  } catch (const std::bad_alloc&) {
    return error(Code::kInternal, "memory ran out");
  }
  return c.take_report();
}

/// Errors at a node that `explain` meets as well.
bool explain_shows(const Diagnostic& d) {
  const bool is_at_node = d.where.line != 0 || !d.where.scope.empty();
  return is_at_node && (d.code == Code::kUnsupportedFeature || d.code == Code::kNoCpuKernel);
}

Expected<CompileReport> with_command(Expected<CompileReport> report,
                                     const CompileOptions& options) {
  if (report || !explain_shows(report.error())) return report;
  return std::move(report).error().with_note("show this again with: " + explain_command(options));
}

/// tosa-int for quantised programs and for those without floats, else tosa-fp.
Expected<Target> target_of_program(const CompileOptions& options) {
  if (!options.calibration.path.empty()) return find_target("tosa-int");
  TOSAIC_TRY(const auto module, aten::read_pt2(options.input, options.model, options.sizes));
  const auto is_integer = [](const Value* v) { return !is_float(v->dtype()); };
  const Graph& main = *module->main();
  bool has_float = !std::ranges::all_of(main.inputs(), is_integer);
  for (const Node& node : main.nodes()) {
    if (is_quantize(node) || is_dequantize(node)) return find_target("tosa-int");
    if (node.num_results() > 0 && is_float(node.result().dtype())) has_float = true;
  }
  return find_target(has_float ? "tosa-fp" : "tosa-int");
}

}  // namespace

Expected<CompileReport> compile(const CompileOptions& options) {
  constexpr int kMaxAttempts = 8;
  Eviction eviction;
  for (int attempt = 1;; ++attempt) {
    auto report = guarded(options, eviction, [](Compilation& c) { return c.compile(); });
    if (report || !eviction.suspect || attempt == kMaxAttempts) {
      return with_command(std::move(report), options);
    }
    // With the same partition under suspicion, nothing was found in it.
    if (!is_refusal(report.error())) return report;
    if (eviction.searched == eviction.nodes.size() && attempt > 1) return report;
    eviction.searched = eviction.nodes.size();
  }
}

Expected<HostProgram> lower_for_host(const CompileOptions& given) {
  CompileOptions options = given;
  if (options.target.name.empty()) {
    TOSAIC_TRY(options.target, target_of_program(options));
  }
  Eviction none;
  HostProgram program;
  auto report = with_command(
      guarded(options, none, [&](Compilation& c) { return c.lower_for_host(program); }), options);
  if (!report) return std::move(report).error();
  program.diagnostics = std::move(report->diagnostics);
  return program;
}

Expected<CompileReport> explain(const CompileOptions& options) {
  Eviction none;
  return guarded(options, none, [](Compilation& c) { return c.explain(); });
}

}  // namespace tosaic
