// SPDX-License-Identifier: Apache-2.0
// Reads the command line; the verbs are in run.cpp, info.cpp and ptx_report.cpp.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/settings.h"
#include "base/version.h"
#include "tools/exit_codes.h"
#include "tools/program.h"
#include "tools/run.h"
#include "tools/suggest.h"
#include "tools/terminal.h"

namespace {

using us::SettingKind;
using us::tools::RunRequest;

// One option per setting row; its value goes into the variable that the row names.
void add_settings(CLI::App& verb, RunRequest& request) {
  for (const us::SettingRow& row : us::setting_rows()) {
    const auto store = [&request, row](const std::string& value) { request.settings[row.variable] = value; };
    if (row.kind == SettingKind::Flag) {
      verb.add_flag_callback(
          row.option, [store] { store("1"); }, row.help);
    } else {
      verb.add_option_function<std::string>(row.option, store, row.help)->type_name(row.argument);
    }
  }
  verb.add_option("--trace", request.trace,
                  "write calls, streams, graph nodes, copies and kernels to FILE, for Perfetto")
      ->type_name("FILE");
  verb.add_flag("--stats", request.stats,
                "print summaries of calls, kernels and copies at exit; with --json also there");
  verb.add_flag_callback(
      "--no-cache", [&request] { request.settings["UNDERSTUDY_CACHE"] = "none"; }, "compile everything anew");
}

// Where the options of `run` end and the program begins: at "--", or at the first word that is neither an option nor
// the value of one. What follows is not ours to read.
int end_of_options(int argc, char** argv) {
  const auto takes_value = [](std::string_view option) {
    if (option == "--trace") return true;
    for (const us::SettingRow& row : us::setting_rows())
      if (option == row.option) return row.kind != SettingKind::Flag;
    return false;
  };
  int i = 2;
  while (i < argc && argv[i][0] == '-' && std::string_view(argv[i]) != "--") i += takes_value(argv[i]) ? 2 : 1;
  return std::min(i, argc);
}

int run(const RunRequest& request) {
  if (!request.command.empty()) return us::tools::run_program(request);
  us::tools::complain("run: which program? See `understudy run --help`");
  return us::tools::kExitUsage;
}

// What stands where a verb should: a misspelt one, or a program without `run`.
int refuse_verb(const std::string& word) {
  std::string text = fmt::format("unknown command `{}`", word);
  if (const auto meant = us::tools::nearest(word, {"run", "info", "ptx"}); !meant.empty())
    text += fmt::format(": did you mean `{}`?", meant);
  else if (const auto path = us::tools::find_program(word); !path.empty() && std::filesystem::exists(path))
    text += fmt::format(": a program is started by `understudy run {}`.", word);
  else
    text += ": expected run, info or ptx.";
  us::tools::complain(text + " See `understudy --help`");
  return us::tools::kExitUsage;
}

bool is_verb(std::string_view word) { return word == "run" || word == "info" || word == "ptx"; }

int parse_and_do(int argc, char** argv) {
  CLI::App app("A virtual Hopper GPU in a CPU process: runs CUDA programs without a GPU.", "understudy");
  app.set_version_flag("--version", std::string("understudy ") + us::kVersionText + " (CUDA 13.0)");
  app.require_subcommand(1);

  RunRequest request;
  CLI::App& run_verb = *app.add_subcommand("run", "Run a program on the virtual GPU. Its exit code is passed on.");
  run_verb.footer("Then the program and its arguments: understudy run [OPTIONS] PROGRAM [ARGUMENTS...]");
  add_settings(run_verb, request);

  std::string devices, file;
  bool json = false;
  CLI::App& info_verb = *app.add_subcommand("info", "Show the virtual device, the host, libraries and cache.");
  info_verb.add_option("--device", devices, "presets to show; default: the one that `run` would take")
      ->type_name("P[,P...]");
  info_verb.add_flag("--json", json, "everything, with the origin of each value");

  CLI::App& ptx_verb =
      *app.add_subcommand("ptx", "Check the PTX in a .ptx file, fat binary or executable; list kernels and coverage.");
  ptx_verb.add_option("FILE", file, "what to read")->required();
  ptx_verb.add_option("--device", devices, "whose PTX to take from fat binaries; default: h200")->type_name("P");
  ptx_verb.add_flag("--json", json, "as JSON");

  if (argc > 1 && argv[1][0] != '-' && !is_verb(argv[1])) return refuse_verb(argv[1]);
  int ours = argc;
  if (argc > 1 && std::string_view(argv[1]) == "run") {
    ours = end_of_options(argc, argv);
    const int program = ours < argc && std::string_view(argv[ours]) == "--" ? ours + 1 : ours;
    request.command.assign(argv + program, argv + argc);
  }
  try {
    app.parse(ours, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : us::tools::kExitUsage;
  }
  if (run_verb.parsed()) return run(request);
  return info_verb.parsed() ? us::tools::show_info(devices, json) : us::tools::inspect_ptx(file, devices, json);
}

}  // namespace

int main(int argc, char** argv) { return parse_and_do(argc, argv); }
