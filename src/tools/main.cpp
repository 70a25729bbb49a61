// SPDX-License-Identifier: Apache-2.0
// Reads the command line; the verbs are in run.cpp, check/check.cpp, info.cpp and ptx_report.cpp.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <string_view>

#include <fmt/format.h>

#include "base/settings.h"
#include "base/version.h"
#include "tools/check/request.h"
#include "tools/exit_codes.h"
#include "tools/profile/request.h"
#include "tools/program.h"
#include "tools/run.h"
#include "tools/suggest.h"
#include "tools/terminal.h"

namespace {

using us::SettingKind;
using us::tools::CheckRequest;
using us::tools::ProfileRequest;
using us::tools::RunRequest;

// One option per setting row; its value goes into the variable that the row names.
void add_setting(CLI::App& verb, RunRequest& request, const us::SettingRow& row) {
  const auto store = [&request, row](const std::string& value) { request.settings[row.variable] = value; };
  if (row.kind == SettingKind::Flag) {
    verb.add_flag_callback(
        row.option, [store] { store("1"); }, row.help);
  } else {
    verb.add_option_function<std::string>(row.option, store, row.help)->type_name(row.argument);
  }
}

void add_settings(CLI::App& verb, RunRequest& request) {
  for (const us::SettingRow& row : us::setting_rows()) add_setting(verb, request, row);
  verb.add_option("--trace", request.trace,
                  "write calls, streams, graph nodes, copies and kernels to FILE, for Perfetto")
      ->type_name("FILE");
  verb.add_flag("--stats", request.stats,
                "print summaries of calls, kernels and copies at exit; with --json also there");
  verb.add_flag_callback(
      "--no-cache", [&request] { request.settings["UNDERSTUDY_CACHE"] = "none"; }, "compile everything anew");
}

// The settings that a program has as well when somebody listens to it. Reports have options of their own.
void add_settings_of_listened(CLI::App& verb, RunRequest& r) {
  constexpr std::string_view not_ours[] = {"json", "record", "count"};
  for (const us::SettingRow& row : us::setting_rows()) {
    const std::string_view field = row.field;
    if (std::ranges::find(not_ours, field) == std::end(not_ours) && !field.starts_with("check") &&
        !field.starts_with("profile"))
      add_setting(verb, r, row);
  }
  verb.add_flag_callback(
      "--no-cache", [&r] { r.settings["UNDERSTUDY_CACHE"] = "none"; }, "compile everything anew");
}

struct TextOptions {
  CLI::App& verb;
  void operator()(const char* name, std::string& to, const char* type, const char* help) const {
    verb.add_option(name, to, help)->type_name(type);
  }
};

// What scripts say to Nsight Compute about how it measures: there is nothing to measure here.
void add_options_of_ncu(CLI::App& verb) {
  static std::string ignored;
  const char* const kGroup = "Options of Nsight Compute that change nothing here";
  for (const char* name : {"--set", "--target-processes", "--replay-mode", "--clock-control", "--import-source"})
    verb.add_option(name, ignored, "")->type_name("VALUE")->group(kGroup);
  verb.add_flag_callback(
          "-f,--force-overwrite", [] {}, "")
      ->group(kGroup);
}

void add_profile(CLI::App& verb, ProfileRequest& r) {
  add_settings_of_listened(verb, r.run);
  const TextOptions text{verb};
  const auto list = [&verb](const char* name, std::vector<std::string>& to, const char* type, const char* help) {
    return verb.add_option(name, to, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  text("-k,--kernel-name", r.kernel, "NAME", "profile these kernels only: a name, or regex:EXPRESSION");
  text("-s,--launch-skip", r.skip, "N", "leave out the first N launches of them");
  text("-c,--launch-count", r.count, "N", "profile so many launches of them");
  text("--filter-mode", r.filter_mode, "MODE",
       "how launches are numbered for --launch-skip and --launch-count: global (default), or per-launch-config (those "
       "of "
       "each kernel with one grid, block, cluster and dynamic shared memory)");
  list("--section", r.sections, "NAME", "only these sections; docs/profile.md lists them");
  list("--metrics", r.metrics, "NAME[,NAME...]", "these metrics: names, or regex:EXPRESSION")->delimiter(',');
  verb.add_flag("--virtual-time", r.virtual_time,
                "events and waits of the program are timed by the model of an H200, so it prints the times of one");
  verb.add_flag("--virtual-host-clock", r.host_clock, "with --virtual-time: the clocks of the host, too");
  text("--cache-control", r.cache_control, "MODE",
       "what launches find in L2: all (default: nothing, as it is flushed) or none (what those before them have left; "
       "default with --virtual-time)");
  text("--page", r.page, "PAGE",
       "details, raw (metrics of a launch in one line, with --csv), source (lines), summary (times by kernel), or a "
       "report of Nsight Systems: cuda_gpu_kern_sum, cuda_gpu_mem_time_sum, cuda_gpu_mem_size_sum, cuda_gpu_trace");
  text("--print-source", r.print_source, "VIEW", "of --page source: cuda (default), ptx, sass, or cuda,sass");
  text("--print-units", r.print_units, "UNITS",
       "base (default: ns, byte), or auto (with prefixes: us, Mbyte), which Nsight Compute does unless it is told "
       "otherwise");
  verb.add_flag("--csv", r.csv, "print comma-separated values, as Nsight Compute does");
  text("--log-file", r.log, "FILE", "write the page to FILE, apart from what the program prints");
  add_options_of_ncu(verb);
  text("--json", r.json, "FILE", "write the report as JSON, instructions included");
  text("--html", r.html, "FILE", "write the report as one HTML file, with charts and the source view");
  text("--timeline", r.timeline, "FILE", "write when launches would run on the device, as a trace for Perfetto");
  text("-o,--save", r.save, "FILE", "keep what was counted, for --import");
  text("-i,--import", r.import, "FILE", "report what was kept, without running anything");
  text("--baseline", r.baseline, "FILE", "tell differences from that run, which --save has kept");
  list("--assert", r.assertions, "EXPR",
       "[KERNEL:]METRIC OP NUMBER, or OP [NUMBER *] baseline, must hold for every launch; else exit code 4");
  text("--junit", r.junit, "FILE", "write as JUnit's XML which assertions hold");
}

void add_check(CLI::App& verb, CheckRequest& r) {
  add_settings_of_listened(verb, r.run);
  const TextOptions text{verb};
  text("--tool", r.tool, "TOOL", "all, memcheck, racecheck, initcheck or synccheck, as of compute-sanitizer");
  text("--check", r.checks, "NAME[,-NAME...]",
       "only these checks, or all but those with a hyphen; docs/check.md lists them");
  text("--kernel", r.kernel, "GLOB", "judge these kernels only");
  text("--launch", r.launch, "K", "judge the K-th launch of those kernels only, from 1 on");
  text("--leak-check", r.leak_check, "full|no", "report memory that was not freed; default: no");
  verb.add_option("--print-limit", r.print_limit, "findings to print; files hold all; default: 100")->type_name("N");
  verb.add_option("--error-exitcode", r.error_exitcode, "exit code when there are errors; default: 120")
      ->type_name("N");
  verb.add_flag("--strict", r.strict, "volatile accesses that order data by fences are errors");
  verb.add_option("--suppressions", r.suppressions, "what not to report; compute-sanitizer's XML, too")
      ->type_name("FILE")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  text("--write-suppressions", r.write_suppressions, "FILE", "write lines that suppress what was found");
  text("--json", r.json, "FILE", "write the report as JSON");
  text("--sarif", r.sarif, "FILE", "write the report as SARIF 2.1.0");
  text("--junit", r.junit, "FILE", "write the report as JUnit XML");
  text("--save", r.save, "FILE", "keep what was found, for --read");
  text("--read", r.read, "FILE", "report what was kept, without running anything");
  text("--explore", r.explore, "N",
       "run the program under up to N schedules, until one more thing is found: its seed is printed");
}

// Where the options of `run` end and the program begins: at "--", or at the first word that is neither an option nor
// the value of one. What follows is not ours to read.
int end_of_options(const CLI::App& verb, int argc, char** argv) {
  const auto takes_value = [&verb](const std::string& option) {
    const CLI::Option* const known = verb.get_option_no_throw(option);
    return known && known->get_items_expected_min() > 0;
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

int check(const CheckRequest& request) {
  if (!request.run.command.empty() || !request.read.empty()) return us::tools::check_program(request);
  us::tools::complain("check: which program? See `understudy check --help`");
  return us::tools::kExitUsage;
}

int profile(const ProfileRequest& request) {
  if (!request.run.command.empty() || !request.import.empty()) return us::tools::profile_program(request);
  us::tools::complain("profile: which program? See `understudy profile --help`");
  return us::tools::kExitUsage;
}

constexpr const char* verbs[] = {"run", "check", "profile", "info", "ptx", "doctor"};

// What stands where a verb should: a misspelt one, or a program without `run`.
int refuse_verb(const std::string& word) {
  std::string text = fmt::format("unknown command `{}`", word);
  if (const auto meant = us::tools::nearest(word, {"run", "check", "profile", "info", "ptx", "doctor"}); !meant.empty())
    text += fmt::format(": did you mean `{}`?", meant);
  else if (const auto path = us::tools::find_program(word); !path.empty() && std::filesystem::exists(path))
    text += fmt::format(": a program is started by `understudy run {}`.", word);
  else
    text += ": expected run, check, profile, info, ptx or doctor.";
  us::tools::complain(text + " See `understudy --help`");
  return us::tools::kExitUsage;
}

bool is_verb(std::string_view word) { return std::ranges::find(verbs, word) != std::end(verbs); }

int parse_and_do(int argc, char** argv) {
  CLI::App app("A virtual Hopper GPU in a CPU process: runs CUDA programs without a GPU.", "understudy");
  app.set_version_flag("--version", std::string("understudy ") + us::kVersionText + " (CUDA 13.0)");
  app.require_subcommand(1);

  RunRequest request;
  CLI::App& run_verb = *app.add_subcommand("run", "Run a program on the virtual GPU. Its exit code is passed on.");
  run_verb.footer("Then the program and its arguments: understudy run [OPTIONS] PROGRAM [ARGUMENTS...]");
  add_settings(run_verb, request);

  CheckRequest check_request;
  CLI::App& check_verb = *app.add_subcommand("check", "Run a program and report every misuse at its source line.");
  check_verb.footer("Then the program and its arguments: understudy check [OPTIONS] PROGRAM [ARGUMENTS...]");
  add_check(check_verb, check_request);

  ProfileRequest profile_request;
  CLI::App& profile_verb =
      *app.add_subcommand("profile", "Run a program and report what its kernels do on the device, launch by launch.");
  profile_verb.footer("Then the program and its arguments: understudy profile [OPTIONS] PROGRAM [ARGUMENTS...]");
  add_profile(profile_verb, profile_request);

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
  bool sass = false;
  std::string ptxas;
  ptx_verb.add_flag("--sass", sass, "machine code beside PTX and CUDA source; FILE may be a cubin, too");
  ptx_verb.add_option("--ptxas", ptxas, "what makes machine code of PTX; default: looked for; none: nothing")
      ->type_name("FILE");

  CLI::App& doctor_verb =
      *app.add_subcommand("doctor", "Say what a program needs, what of it is here, and what to do about the rest.");
  std::string patient;
  doctor_verb.add_option("PROGRAM", patient,
                         "an executable, a library, or a directory of them (a Python package); none: the installation");

  if (argc > 1 && argv[1][0] != '-' && !is_verb(argv[1])) return refuse_verb(argv[1]);
  int ours = argc;
  for (const auto& [verb, command] : {std::pair(&run_verb, &request.command),
                                      {&check_verb, &check_request.run.command},
                                      {&profile_verb, &profile_request.run.command}})
    if (argc > 1 && argv[1] == verb->get_name()) {
      ours = end_of_options(*verb, argc, argv);
      const int program = ours < argc && std::string_view(argv[ours]) == "--" ? ours + 1 : ours;
      command->assign(argv + program, argv + argc);
    }
  try {
    app.parse(ours, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : us::tools::kExitUsage;
  }
  if (run_verb.parsed()) return run(request);
  if (check_verb.parsed()) return check(check_request);
  if (profile_verb.parsed()) return profile(profile_request);
  if (doctor_verb.parsed()) return us::tools::show_needs(patient);
  if (sass) return us::tools::inspect_sass(file, devices, ptxas, json);
  if (!ptxas.empty()) {
    us::tools::complain("ptx: --ptxas says what makes machine code, which is shown only with --sass");
    return us::tools::kExitUsage;
  }
  return info_verb.parsed() ? us::tools::show_info(devices, json) : us::tools::inspect_ptx(file, devices, json);
}

}  // namespace

int main(int argc, char** argv) { return parse_and_do(argc, argv); }
