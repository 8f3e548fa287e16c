// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "driver/compile.h"
#include "driver/opt.h"
#include "driver/run.h"

namespace tosaic::cli {

/// What the command line says, before it is checked.
struct Flags {
  CompileOptions compile;
  OptOptions opt;
  RunOptions run;
  std::string batch;
  std::string inspect_path;
  std::string target = "";
  std::string tosa_version = "1.0";
  std::string optimise = "performance";
  std::string passes;
  std::string disabled;
  std::string vela_flags;
  std::string observer;
  std::string precision = "int8";
  std::vector<std::string> shapes;
  std::string sram_limit;
  std::string io_dtype;
  std::string io_layout = "contiguous";
  std::string log_level = "warning";
  LogLevel level = LogLevel::kWarning;
  bool json = false;
};

/// Adds the subcommands. Dashes and underscores are the same in every flag: see normalise_flags.
void add_compile(CLI::App& app, Flags& flags);
void add_explain(CLI::App& app, Flags& flags);
void add_run(CLI::App& app, Flags& flags);
void add_inspect(CLI::App& app, Flags& flags);
void add_opt(CLI::App& app, Flags& flags);
void add_ops(CLI::App& app, Flags& flags);

/// Fills CompileOptions::target, versions and Vela's settings from the texts.
Status resolve(Flags& flags);

}  // namespace tosaic::cli
