// SPDX-License-Identifier: Apache-2.0
// The command `tosaic`.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "cli/options.h"
#include "driver/batch.h"
#include "driver/inspect.h"
#include "driver/ops.h"
#include "support/mapped_file.h"
#include "support/printable.h"

namespace tosaic::cli {
namespace {

/// Dashes and underscores are the same in flags: "--vela_timeout=9" is "--vela-timeout=9".
std::vector<std::string> normalise_flags(int argc, char** argv) {
  std::vector<std::string> args;
  for (int i = 1; i < argc; ++i) {
    std::string arg = argv[i];
    if (arg.starts_with("--")) {
      for (size_t k = 2; k < arg.size() && arg[k] != '='; ++k) {
        if (arg[k] == '_') arg[k] = '-';
      }
    }
    args.push_back(std::move(arg));
  }
  return args;
}

/// Standard error: lines that stay, and on a terminal one that tells what goes on and is gone at
/// the end.
class Console {
 public:
  explicit Console(LogLevel level) : level_(level) {}

  void log(LogLevel level, std::string_view text) {
    if (level <= level_) {
      clear();
      fmt::print(stderr, "{}: {}\n", level == LogLevel::kInfo ? "info" : "debug", text);
    } else if (level == LogLevel::kInfo) {
      pass_by(text);
    }
  }
  void progress(int64_t done, int64_t total) {
    pass_by(fmt::format("calibrating: {} of {} samples", done, total));
  }
  void clear() {
    if (has_line_) std::fputs("\r\033[K", stderr);
    has_line_ = false;
  }

 private:
  void pass_by(std::string_view text) {
    if (!is_terminal_ || level_ == LogLevel::kError) return;
    fmt::print(stderr, "\r\033[K{}", text);
    has_line_ = true;
  }

  LogLevel level_;
  bool is_terminal_ = isatty(STDERR_FILENO) != 0;
  bool has_line_ = false;
};

int fail(const Diagnostic& d) {
  std::fputs(render(d, isatty(STDERR_FILENO) != 0).c_str(), stderr);
  return 1;
}

int show(const Expected<std::string>& text) {
  if (!text) return fail(text.error());
  std::fputs(text->c_str(), stdout);
  return 0;
}

int show_report(const Expected<CompileReport>& report, const Flags& flags, bool explained) {
  if (!report) return fail(report.error());
  for (const Diagnostic& d : report->diagnostics) {
    if (flags.level < LogLevel::kWarning) break;
    std::fputs(render(d, isatty(STDERR_FILENO) != 0).c_str(), stderr);
  }
  const bool color = isatty(STDOUT_FILENO) != 0;
  const std::string text = flags.json  ? to_json(*report)
                           : explained ? explain_text(*report, color)
                                       : to_text(*report, color);
  std::fputs(text.c_str(), stdout);
  return 0;
}

int run_compile_command(Flags& flags, bool explained) {
  Console console(flags.level);
  flags.compile.log = [&](LogLevel level, std::string_view text) { console.log(level, text); };
  flags.compile.calibration_progress = [&](int64_t done, int64_t total) {
    console.progress(done, total);
  };
  const auto report = explained ? tosaic::explain(flags.compile) : tosaic::compile(flags.compile);
  console.clear();
  return show_report(report, flags, explained);
}

int run_explain_command(Flags& flags) {
  if (!flags.batch.empty()) return show(explain_batch(flags.batch, flags.compile));
  if (flags.compile.input.empty()) {
    return fail(error(Code::kOption, "a model is missing").with_hint("see tosaic explain --help"));
  }
  return run_compile_command(flags, true);
}

int run_run_command(Flags& flags) {
  if (!flags.batch.empty()) return show(run_batch(flags.batch));
  const std::pair<std::string_view, const std::string&> needed[] = {
      {"a program", flags.run.program}, {"--input", flags.run.input}};
  for (const auto& [name, value] : needed) {
    if (value.empty())
      return fail(error(Code::kOption, "{} is missing", name).with_hint("see tosaic run --help"));
  }
  flags.run.compile = flags.compile;
  if (flags.target.empty()) flags.run.compile.target = Target();
  std::string summary;
  const Expected<std::vector<Diagnostic>> warnings = run_program(flags.run, &summary);
  if (!warnings) return fail(warnings.error());
  if (flags.run.output.empty()) std::fputs(printable(summary).c_str(), stdout);
  for (const Diagnostic& d : *warnings)
    std::fputs(render(d, isatty(STDERR_FILENO) != 0).c_str(), stderr);
  return 0;
}

int dispatch(const CLI::App& app, Flags& flags) {
  if (const Status s = resolve(flags); !s) return fail(s.error());
  if (app.got_subcommand("compile")) return run_compile_command(flags, false);
  if (app.got_subcommand("explain")) return run_explain_command(flags);
  if (app.got_subcommand("run")) return run_run_command(flags);
  if (app.got_subcommand("inspect")) return show(inspect(flags.inspect_path, flags.json));
  if (app.got_subcommand("ops")) return show(list_ops(flags.json));
  return show(run_opt(flags.opt));
}

std::vector<std::string> flag_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames())
      names.push_back("--" + name);
    for (const std::string& name : option->get_snames())
      names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr))
    names.push_back(command->get_name());
  return names;
}

Diagnostic unknown_word(std::string_view kind, const std::string& word,
                        const std::vector<std::string>& names, std::string_view help) {
  Diagnostic d =
      error(Code::kOption, "there is no {} {}; there are {}", kind, word, fmt::join(names, ", "));
  const std::vector<std::string_view> views(names.begin(), names.end());
  const std::string_view near = nearest_name(word, views);
  d.hint = near.empty() ? fmt::format("see {}", help) : fmt::format("did you mean {}", near);
  return d;
}

/// CLI11 first says what is missing; a misspelt word, which may be why, is what the user has to
/// see.
Diagnostic parse_error(const CLI::App& app, const std::vector<std::string>& args,
                       const std::string& message) {
  const auto word = std::ranges::find_if(args, [](const auto& a) { return !a.starts_with("-"); });
  const CLI::App* command = &app;
  std::string help = "tosaic --help";
  if (word != args.end()) {
    const std::vector<std::string> commands = command_names(app);
    if (std::ranges::find(commands, *word) == commands.end()) {
      return unknown_word("command", *word, commands, help);
    }
    command = app.get_subcommand(*word);
    help = fmt::format("tosaic {} --help", *word);
  }
  const std::vector<std::string> names = flag_names(*command);
  for (const std::string& arg : args) {
    if (!arg.starts_with("--") || arg == "--") continue;
    const std::string name = arg.substr(0, arg.find('='));
    if (std::ranges::find(names, name) == names.end()) {
      return unknown_word("flag", name, names, help);
    }
  }
  return error(Code::kOption, "{}", message).with_hint(fmt::format("see {}", help));
}

/// A variable of the user's shell that is not set would leave out what the flag asks for.
Status refuse_empty_values(const CLI::App& app) {
  for (const CLI::App* command : app.get_subcommands()) {
    for (const CLI::Option* option : command->get_options()) {
      if (std::ranges::find(option->results(), "") == option->results().end()) continue;
      return error(Code::kOption, "{}: the value is empty", option->get_name());
    }
  }
  return ok();
}

int run(int argc, char** argv) {
  install_signal_handlers();
  CLI::App app("PyTorch to TOSA to Arm Ethos-U", "tosaic");
  app.require_subcommand(1);
  app.set_version_flag("--version", "tosaic 0.1.0");
  Flags flags;
  if (argc > 0) flags.compile.tool = argv[0];
  add_compile(app, flags);
  add_explain(app, flags);
  add_run(app, flags);
  add_inspect(app, flags);
  add_opt(app, flags);
  add_ops(app, flags);
  const std::vector<std::string> args = normalise_flags(argc, argv);
  try {
    app.parse(
        std::vector<std::string>(args.rbegin(), args.rend()));  // CLI11 takes them from the back
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);
    return fail(parse_error(app, args, e.what()));
  }
  if (const Status s = refuse_empty_values(app); !s) return fail(s.error());
  return dispatch(app, flags);
}

}  // namespace
}  // namespace tosaic::cli

int main(int argc, char** argv) {
  const int status = tosaic::cli::run(argc, argv);
  if (status == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    return tosaic::cli::fail(
        tosaic::error(tosaic::Code::kFileWrite, "standard output cannot be written"));
  }
  return status;
}
