// SPDX-License-Identifier: Apache-2.0
// The verb: runs the program with somebody who listens, and reports what was found in all of its processes.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

#include "base/files.h"
#include "base/settings.h"
#include "tools/check/report.h"
#include "tools/check/request.h"
#include "tools/exit_codes.h"
#include "tools/files.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 19 && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool files_are_good(const CheckRequest& r) {
  for (const auto& [option, file] : {std::pair<const char*, const std::string&>("--json", r.json),
                                     {"--sarif", r.sarif},
                                     {"--junit", r.junit},
                                     {"--save", r.save},
                                     {"--write-suppressions", r.write_suppressions}})
    if (const std::string why = file.empty() ? "" : why_no_file(file); !why.empty())
      return complain(fmt::format("{} {}: {}", option, file, why)), false;
  return true;
}

bool options_are_good(const CheckRequest& r) {
  if (!r.launch.empty() && (!is_number(r.launch) || r.launch == "0"))
    return complain(fmt::format("--launch {}: expected a number from 1 on", r.launch)), false;
  if (!r.explore.empty() && (!is_number(r.explore) || std::stoull(r.explore) - 1 >= kMostCount))
    return complain(fmt::format("--explore {}: expected a whole number from 1 to {}", r.explore, kMostCount)), false;
  if (r.error_exitcode != -1 && (r.error_exitcode < 0 || r.error_exitcode > 255))
    return complain(fmt::format("--error-exitcode {}: expected 0 to 255", r.error_exitcode)), false;
  return files_are_good(r);
}

std::string suppression_lines(const CheckReport& r) {
  std::string out = "# name [kernel=GLOB] [file=GLOB[:LINE]] [frame=GLOB] [object=GLOB]  # reason\n";
  for (const CheckReport::Entry& e : r.entries)
    if (!e.by) out += suppression_of(e.finding) + "\n";
  return out;
}

std::vector<sanitizer::Findings> read_saved(const std::string& path) {
  std::string bytes;
  if (!read_file(path, bytes))
    return complain(fmt::format("--read {}: {}", path, std::strerror(errno))), std::vector<sanitizer::Findings>();
  return {sanitizer::read_records(bytes)};
}

void save(const std::string& path, std::vector<sanitizer::Findings> all) {
  if (path.empty()) return;
  sanitizer::Findings sum;
  sum.ended = true;
  for (sanitizer::Findings& f : all) {
    sum.process = f.process;
    sum.program = f.program;
    sum.ended &= f.ended;
    sanitizer::merge(sum, std::move(f));
  }
  write_file(path, sanitizer::to_records(sum));
}

// Returns whether there are errors.
bool tell(const CheckRequest& r, const std::vector<sanitizer::Findings>& all, const sanitizer::CheckSet& checks,
          Suppressions& suppressions) {
  save(r.save, all);
  const CheckReport report = make_report(all, suppressions, checks, r.strict);
  fmt::print(stderr, "{}", to_text(report, suppressions, r.print_limit));
  if (!r.json.empty()) write_file(r.json, to_json(report, suppressions));
  if (!r.sarif.empty()) write_file(r.sarif, to_sarif(report));
  const std::string program = r.run.command.empty() ? r.read : fs::path(r.run.command.front()).filename().string();
  if (!r.junit.empty()) write_file(r.junit, to_junit(report, program));
  if (!r.write_suppressions.empty()) write_file(r.write_suppressions, suppression_lines(report));
  return report.count(sanitizer::Severity::Error) != 0;
}

bool started(int code) {
  return code != kExitUsage && code != kExitNotFound && code != kExitNotExecutable && code != kExitStaticRuntime;
}

struct Explored {
  std::vector<sanitizer::Findings> all;  // of all processes; each finding once, with the seed that showed it
  int code = 0;                          // of the first run
};

// What running a program sets for its children is not there for the next.
class Environment {
 public:
  Environment() {
    for (char** v = environ; v && *v; ++v) variables_.push_back(*v);
  }
  void restore() const {
    ::clearenv();
    for (const std::string& v : variables_)
      if (const std::size_t eq = v.find('='); eq != v.npos && eq)
        ::setenv(v.substr(0, eq).c_str(), v.substr(eq + 1).c_str(), 1);
  }

 private:
  std::vector<std::string> variables_;
};

// What the options and the environment say together.
Result<Settings> settings_of(const RunRequest& run) {
  return read_settings([&](const char* variable) -> const char* {
    const auto option = run.settings.find(variable);
    return option == run.settings.end() ? ::getenv(variable) : option->second.c_str();
  });
}

// Runs the program under one schedule after the other, from the seed on that was asked for, until one shows something
// that those before it have not shown.
Explored explore(RunRequest run, const std::string& directory, u32 first, u64 schedules) {
  Explored out;
  std::unordered_set<std::string> known;
  const Environment environment;
  for (u64 k = 0; k < schedules && first + k <= kMostCount; ++k) {
    const u32 seed = first + static_cast<u32>(k);
    const std::string folder = fmt::format("{}/{}", directory, seed);
    std::error_code error;
    fs::create_directory(folder, error);
    run.settings["UNDERSTUDY_CHECK"] = folder;
    run.settings["UNDERSTUDY_SEED"] = fmt::format("{}", seed);
    if (k) environment.restore();
    const int code = run_program(run);
    if (k == 0) out.code = code;
    auto found = read_findings(folder);
    bool more = false;
    for (sanitizer::Findings& f : found) {
      for (sanitizer::Finding& one : f.all) one.seed = seed;
      if (k) {
        std::erase_if(f.all, [&](const sanitizer::Finding& one) { return known.count(sanitizer::key_of(one)) != 0; });
        f.judged.clear(), f.not_judged.clear();
      }
      more |= !f.all.empty();
    }
    for (const sanitizer::Findings& f : found)
      for (const sanitizer::Finding& one : f.all) known.insert(sanitizer::key_of(one));
    if (k == 0 || more) std::move(found.begin(), found.end(), std::back_inserter(out.all));
    if ((k && more) || !started(code)) break;
  }
  return out;
}

}  // namespace

int check_program(const CheckRequest& r) {
  const auto checks = chosen_checks(r);
  if (!checks) return complain(checks.diags()), kExitUsage;
  if (!options_are_good(r)) return kExitUsage;
  Suppressions suppressions;
  for (const std::string& file : r.suppressions)
    if (const auto bad = suppressions.read(file); !bad.empty()) return complain(bad), kExitUsage;
  const int on_error = r.error_exitcode == -1 ? kExitFindings : r.error_exitcode;
  if (!r.read.empty()) {
    const auto saved = read_saved(r.read);
    if (saved.empty()) return kExitUsage;
    return tell(r, saved, *checks, suppressions) ? on_error : 0;
  }
  const TemporaryDirectory directory;
  if (directory.path.empty()) return kExitUsage;
  RunRequest run = r.run;
  if (!checks->all()) run.settings["UNDERSTUDY_CHECKS"] = names_of(*checks);
  if (!r.kernel.empty()) run.settings["UNDERSTUDY_CHECK_KERNELS"] = r.kernel;
  if (!r.launch.empty()) run.settings["UNDERSTUDY_CHECK_LAUNCH"] = r.launch;
  const auto settings = settings_of(run);
  if (!settings) return complain(settings.diags()), kExitUsage;
  const Explored runs = explore(run, directory.path, settings->seed, r.explore.empty() ? 1 : std::stoull(r.explore));
  if (runs.all.empty() && !started(runs.code)) return runs.code;
  return tell(r, runs.all, *checks, suppressions) ? on_error : runs.code;
}

}  // namespace us::tools
