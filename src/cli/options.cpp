// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <algorithm>
#include <charconv>

#include "target/targets.h"

namespace tosaic::cli {
namespace {

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  for (char c : text + separator) {
    if (c != separator) {
      part += c;
    } else if (!part.empty()) {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  return parts;
}

void add_target(CLI::App& c, Flags& f) {
  c.add_option("--target", f.target,
               fmt::format("what to compile for: {}, or ExecuTorch's TOSA-1.0+INT+… spelling",
                           fmt::join(target_names(), ", ")))
      ->required();
}

void add_pass_flags(CLI::App& c, PassOptions& p, Flags& f) {
  c.add_flag("--verify", p.verify_each, "check the graph after every pass");
  c.add_flag("--print-changed", p.print_changed, "print the IR after passes that changed it");
  c.add_option("--print-before", p.print_before, "print the IR before this pass, or all");
  c.add_option("--print-after", p.print_after, "print the IR after this pass, or all");
  c.add_option("--stop-after", p.stop_after, "end after this pass and write the IR");
  c.add_option("--disable", f.disabled, "passes to leave out, separated by commas");
  c.add_flag("--time-passes", p.time_passes, "report the time of each pass");
}

std::string check_above_zero(const std::string& text) {
  double number = 0;
  if (CLI::detail::lexical_cast(text, number) && number > 0) return {};
  return fmt::format("{} is not a number above 0", text);
}

void add_calibration(CLI::App& c, Flags& f) {
  CalibrationOptions& o = f.compile.calibration;
  CLI::Option* calibrate = c.add_option(
      "--calibrate", o.path,
      "samples to quantise a float program by: a .npz with an array [samples, *shape] per "
      "input, by name or in order, or a folder of such files");
  c.add_option("--calibrate-limit", o.limit, "most samples to use (default all)")
      ->check(check_above_zero)
      ->needs(calibrate);
  c.add_option("--observer", f.observer,
               fmt::format("how samples give ranges: {} (default {})",
                           fmt::join(observer_names(), ", "), observer_name(o.observer)))
      ->needs(calibrate);
  c.add_option("--precision", f.precision, "of that quantisation: int8 (default) or int16x8")
      ->needs(calibrate);
}

void add_vela(CLI::App& c, Flags& f) {
  VelaOptions& v = f.compile.vela;
  c.add_option("--config", v.config_file, "a vendor's vela.ini; default: Vela's own Arm/vela.ini");
  c.add_option("--system-config", v.system_config,
               "system configuration of the .ini; default: Ethos_U55_High_End_Embedded, "
               "Ethos_U65_High_End or Ethos_U85_SYS_DRAM_Mid");
  c.add_option("--memory-mode", v.memory_mode,
               "memory mode of the .ini; default: Shared_Sram (U55), Dedicated_Sram_384KB (U65), "
               "Sram_Only (U85)");
  c.add_option("--optimise", f.optimise, "what Vela optimises for: performance (default) or size");
  c.add_option("--arena-cache-size", v.arena_cache_size, "bytes of fast memory that Vela may use")
      ->check(check_above_zero);
  c.add_option(
      "--sram-limit", f.sram_limit,
      "most SRAM the program may need: bytes, or a number with K or M (1024, 1024 * 1024)");
  c.add_option("--vela", v.vela_path,
               "a Python interpreter, a vela command or a virtual environment; else $TOSAIC_VELA, "
               "the project's environment, python3");
  c.add_option("--vela-flags", f.vela_flags, "more flags of the vela command");
  c.add_option("--vela-timeout", v.timeout_seconds, "seconds that Vela may take (default 300)")
      ->check(check_above_zero);
}

void add_tosa_version(CLI::App& c, Flags& f) {
  c.add_option("--tosa-version", f.tosa_version,
               "version of the .tosa written: 0.80, 1.0 (default) or 1.1");
}

Expected<TosaVersion> parse_version(const std::string& text) {
  if (text == "0.80") return TosaVersion{0, 80, 1};
  if (text == "1.0") return TosaVersion{1, 0, 0};
  if (text == "1.1") return TosaVersion{1, 1, 0};
  return error(Code::kOption, "--tosa-version {}: 0.80, 1.0 or 1.1 are written", text);
}

}  // namespace

void add_log_level(CLI::App& c, Flags& f) {
  c.add_option("--log-level", f.log_level,
               "what is said on standard error: error, warning (default), info (each stage) or "
               "debug (what it took and gave)");
}

void add_shapes(CLI::App& c, Flags& f) {
  c.add_option(
      "--shape", f.shapes,
      "input=8,3,224,224: the shape of an input that was exported with dynamic_shapes; may "
      "be given again for other inputs");
}

void add_compile(CLI::App& app, Flags& f) {
  CLI::App& c = *app.add_subcommand("compile", "compile a .pt2 to a .pte or a .tosa");
  CompileOptions& o = f.compile;
  c.add_option("model", o.input, "program written by torch.export.save, or .tir")->required();
  add_target(c, f);
  c.add_option("-o,--output", o.output, "file to write; .pte, .tosa or .tir")->required();
  c.add_option("--model-name", o.model, "which program of an archive with several");
  add_shapes(c, f);
  add_tosa_version(c, f);
  add_calibration(c, f);
  c.add_option("--io-dtype", f.io_dtype,
               "the program's own inputs and outputs: float32 (default of a .pte), int8, uint8 or "
               "int16; integers also give a C header, MODEL_io.h");
  c.add_option("--io-layout", f.io_layout,
               "of those of rank 4: contiguous (default) or channels_last, which moves no data");
  c.add_flag("--strict", o.strict, "anything left on the CPU is an error");
  c.add_option("--dump,--intermediates", o.dump_dir,
               "folder for the TOSA and payload of each partition, and the IR after each pass");
  c.add_flag("--json", f.json, "print the report as JSON");
  add_log_level(c, f);
  add_vela(c, f);
  add_pass_flags(c, o.passes, f);
}

void add_explain(CLI::App& app, Flags& f) {
  CLI::App& c = *app.add_subcommand("explain", "say which nodes run where, and why not");
  auto* batch =
      c.add_option("--batch", f.batch, "JSON list of {program}: many in one process, as JSON");
  c.add_option("model", f.compile.input, ".pt2, .tosa or .tir")->excludes(batch);
  c.add_option("--node", f.compile.node,
               "tell of this node alone, by its name in the exported program")
      ->excludes(batch);
  add_target(c, f);
  c.add_option("--model-name", f.compile.model, "which program of an archive with several");
  add_shapes(c, f);
  add_calibration(c, f);
  c.add_flag("--json", f.json, "print the report as JSON");
  add_log_level(c, f);
}

void add_run(CLI::App& app, Flags& f) {
  CLI::App& c =
      *app.add_subcommand("run", "execute a .tosa or a .pt2 on this machine, bit for bit");
  auto* batch = c.add_option("--batch", f.batch,
                             "JSON list of {program, input, output}: many in one process");
  c.add_option("program", f.run.program, ".tosa, or .pt2, which is lowered to TOSA first")
      ->excludes(batch);
  c.add_option("--input", f.run.input,
               ".npz with an array per input; a first axis more than the input's means samples")
      ->excludes(batch);
  c.add_option("-o,--output", f.run.output,
               ".npz to write, an array per output; without it their ranges are printed")
      ->excludes(batch);
  c.add_option("--target", f.target,
               "of a .pt2: whose integers to compute, such as ethos-u55-128; default tosa-int for "
               "what is quantised, else tosa-fp")
      ->excludes(batch);
  c.add_option("--model-name", f.compile.model, "which program of an archive with several")
      ->excludes(batch);
  add_shapes(c, f);
  add_calibration(c, f);
  c.add_option("--io-dtype", f.io_dtype,
               "of a .pt2: float32 (default), or int8, uint8, int16: the codes themselves")
      ->excludes(batch);
}

void add_inspect(CLI::App& app, Flags& f) {
  CLI::App& c = *app.add_subcommand("inspect", "show what a file holds");
  c.add_option("file", f.inspect_path, ".pt2, .tosa, .pte, .npz or .npy")->required();
  c.add_flag("--json", f.json, "print JSON");
}

void add_opt(CLI::App& app, Flags& f) {
  CLI::App& c =
      *app.add_subcommand("opt", "run passes on text IR, or turn .tosa and .tir into one another");
  c.add_option("file", f.opt.input, ".tir or .tosa")->required();
  c.add_option("--passes", f.passes, "names, separated by commas; none: only check the text");
  c.add_option("--target", f.target, "the target that passes ask (default tosa-int)");
  c.add_option("-o,--output", f.opt.output,
               ".tir, or .tosa for a TOSA graph @main; default: text on standard output");
  add_tosa_version(c, f);
  add_pass_flags(c, f.opt.pass_options, f);
}

void add_ops(CLI::App& app, Flags& f) {
  CLI::App& c = *app.add_subcommand("ops", "list the PyTorch operators that are served");
  c.add_flag("--json", f.json, "print JSON");
}

Status resolve_calibration(Flags& f) {
  CalibrationOptions& o = f.compile.calibration;
  if (!f.observer.empty()) {
    const std::optional<Observer> observer = parse_observer(f.observer);
    if (!observer) {
      return error(Code::kOption, "--observer {}: {} are taken", f.observer,
                   fmt::join(observer_names(), ", "));
    }
    o.observer = *observer;
  }
  if (f.precision != "int8" && f.precision != "int16x8") {
    return error(Code::kOption, "--precision {}: int8 or int16x8 are taken", f.precision);
  }
  o.precision = f.precision == "int8" ? Precision::kInt8 : Precision::kInt16x8;
  return ok();
}

/// "2097152", "2048K" or "2M", in bytes.
Expected<uint64_t> parse_bytes(std::string_view flag, const std::string& text) {
  uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto parsed = std::from_chars(text.data(), end, value);
  const std::string_view unit(parsed.ptr, static_cast<size_t>(end - parsed.ptr));
  const int shift = unit == "K" ? 10 : unit == "M" ? 20 : 0;
  if (parsed.ec != std::errc() || value == 0 || value > (uint64_t{1} << 40) ||
      (shift == 0 && !unit.empty())) {
    return error(Code::kOption, "{} {}: a number of bytes above 0 is taken, or one with K or M",
                 flag, text);
  }
  return value << shift;
}

/// "x=8,3,224,224"
Expected<aten::InputSizes> parse_shape(const std::string& text) {
  aten::InputSizes sizes;
  const size_t equals = text.rfind('=');
  if (equals != std::string::npos && equals > 0) {
    sizes.input = text.substr(0, equals);
    for (const std::string& item : split(text.substr(equals + 1), ',')) {
      int64_t size = 0;
      const char* const end = item.data() + item.size();
      const auto parsed = std::from_chars(item.data(), end, size);
      if (parsed.ec != std::errc() || parsed.ptr != end || size < 1) {
        return error(Code::kOption, "--shape {}: \"{}\" is not a size above 0", text, item);
      }
      sizes.sizes.push_back(size);
    }
  }
  if (sizes.sizes.empty()) {
    return error(Code::kOption, "--shape {}: the form is INPUT=SIZE,SIZE,…", text)
        .with_hint("for instance --shape x=8,3,224,224");
  }
  return sizes;
}

Status resolve_io(Flags& f) {
  if (!f.io_dtype.empty()) {
    TOSAIC_TRY(f.compile.io.dtype, parse_io_dtype(f.io_dtype));
  }
  if (f.io_layout != "contiguous" && f.io_layout != "channels_last") {
    return error(Code::kOption, "--io-layout {}: contiguous or channels_last are taken",
                 f.io_layout);
  }
  f.compile.io.channels_last = f.io_layout == "channels_last";
  return ok();
}

/// What Tosaic tells Vela by flags of its own. Vela takes them abbreviated too.
Status check_vela_flags(const std::vector<std::string>& flags) {
  static constexpr std::pair<std::string_view, std::string_view> kOwn[] = {
      {"--accelerator-config", "--target"},   {"--config", "--config"},
      {"--system-config", "--system-config"}, {"--memory-mode", "--memory-mode"},
      {"--optimise", "--optimise"},           {"--arena-cache-size", "--arena-cache-size"},
      {"--output-dir", "--output"},           {"--output-format", "--output"}};
  for (const std::string& flag : flags) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    if (!name.starts_with("--") || name.size() < 3) continue;
    for (const auto& [own, instead] : kOwn) {
      if (own.starts_with(name)) {
        return error(Code::kOption, "--vela-flags {}: tosaic sets this flag of Vela itself", name)
            .with_hint(fmt::format("use tosaic's {}", instead));
      }
    }
  }
  return ok();
}

/// Flags that mean nothing for the target.
Status check_flags_of_vela(const Flags& f) {
  const VelaOptions& v = f.compile.vela;
  const std::pair<std::string_view, bool> given[] = {
      {"--config", !v.config_file.empty()},
      {"--system-config", !v.system_config.empty()},
      {"--memory-mode", !v.memory_mode.empty()},
      {"--arena-cache-size", v.arena_cache_size != 0},
      {"--sram-limit", !f.sram_limit.empty() && f.compile.target.kind != TargetKind::kCpu},
      {"--vela", !v.vela_path.empty()},
      {"--vela-flags", !f.vela_flags.empty()}};
  for (const auto& [name, is_given] : given) {
    if (!is_given || f.compile.target.is_ethos_u()) continue;
    return error(Code::kOption, "{}: target {} does not go through Vela", name,
                 f.compile.target.name)
        .with_hint("leave it out, or choose an Ethos-U");
  }
  return ok();
}

Status resolve_log_level(Flags& f) {
  static constexpr std::string_view kNames[] = {"error", "warning", "info", "debug"};
  const auto* const name = std::ranges::find(kNames, f.log_level);
  if (name == std::end(kNames)) {
    return error(Code::kOption, "--log-level {}: {} are taken", f.log_level,
                 fmt::join(kNames, ", "));
  }
  f.level = static_cast<LogLevel>(name - kNames);
  return ok();
}

Status resolve(Flags& f) {
  TOSAIC_CHECK_OK(resolve_log_level(f));
  Expected<Target> found = find_target(f.target.empty() ? "tosa-int" : f.target);
  if (!found) {
    found.error().message = "--target: " + found.error().message;
    return std::move(found).error();
  }
  const Target target = *found;
  f.compile.target = target;
  f.opt.target = target;
  TOSAIC_TRY(f.compile.tosa_version, parse_version(f.tosa_version));
  f.opt.tosa_version = f.compile.tosa_version;
  TOSAIC_CHECK_OK(check_flags_of_vela(f));
  VelaOptions& v = f.compile.vela;
  v.accelerator = target.name;
  if (v.system_config.empty()) v.system_config = target.default_system_config;
  if (v.memory_mode.empty()) v.memory_mode = target.default_memory_mode;
  v.extra_flags = split(f.vela_flags, ' ');
  TOSAIC_CHECK_OK(check_vela_flags(v.extra_flags));
  if (f.optimise == "performance") {
    v.optimise = VelaOptimise::kPerformance;
  } else if (f.optimise == "size") {
    v.optimise = VelaOptimise::kSize;
  } else {
    return error(Code::kOption, "--optimise {}: performance or size are taken", f.optimise);
  }
  for (const std::string& name : split(f.disabled, ',')) {
    f.compile.passes.disabled.insert(name);
    f.opt.pass_options.disabled.insert(name);
  }
  TOSAIC_CHECK_OK(resolve_calibration(f));
  TOSAIC_CHECK_OK(resolve_io(f));
  if (!f.sram_limit.empty()) {
    TOSAIC_TRY(f.compile.sram_limit, parse_bytes("--sram-limit", f.sram_limit));
  }
  for (const std::string& text : f.shapes) {
    TOSAIC_TRY(aten::InputSizes sizes, parse_shape(text));
    f.compile.sizes.push_back(std::move(sizes));
  }
  f.compile.passes.dump_dir = f.compile.dump_dir;
  f.opt.passes = split(f.passes, ',');
  return ok();
}

}  // namespace tosaic::cli
