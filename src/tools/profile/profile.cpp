// SPDX-License-Identifier: Apache-2.0
// The verb: runs the program with somebody who counts, and reports the launches of all of its processes.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <optional>
#include <regex>
#include <sstream>
#include <utility>

#include <fmt/format.h>

#include "base/files.h"
#include "timing/parameters.h"
#include "timing/record_kinds.h"
#include "tools/exit_codes.h"
#include "tools/files.h"
#include "tools/profile/assertions.h"
#include "tools/profile/html.h"
#include "tools/profile/nsys_tables.h"
#include "tools/profile/progress.h"
#include "tools/profile/report.h"
#include "tools/profile/request.h"
#include "tools/profile/summary.h"
#include "tools/profile/timeline.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

constexpr std::string_view kPages[] = {"details", "raw", "source", "summary"};
constexpr std::string_view kPerConfig = "per-launch-config";
constexpr std::string_view kSources[] = {"cuda", "ptx", "sass", "cuda,sass"};

std::string wrong_expression(const std::string& text) {
  constexpr std::string_view kRegex = "regex:";
  if (!text.starts_with(kRegex)) return "";
  try {
    std::regex r(text.substr(kRegex.size()));
  } catch (const std::regex_error& e) {
    return fmt::format("`{}`: expected a regular expression behind regex: ({})", text, e.what());
  }
  return "";
}

std::string wrong_section(const std::string& name) {
  for (u32 k = 0; k < timing::kSections; ++k)
    if (timing::name_of(static_cast<timing::Section>(k)).name == name) return "";
  const auto missing = timing::missing_sections();
  if (std::ranges::find(missing, name) != missing.end()) return fmt::format("--section {}: not there yet", name);
  std::string all;
  for (u32 k = 0; k < timing::kSections; ++k)
    all += fmt::format("{}{}", k ? ", " : "", timing::name_of(static_cast<timing::Section>(k)).name);
  return fmt::format("--section {}: expected one of {}", name, all);
}

std::string wrong_setting(const ProfileRequest& r, const char* variable, std::string_view but) {
  const auto it = r.run.settings.find(variable);
  const char* const inherited = std::getenv(variable);
  const std::string text = it != r.run.settings.end() ? it->second : inherited ? inherited : "";
  return text == but ? "" : text;
}

std::string wrong_with_time(const ProfileRequest& r) {
  if (!r.cache_control.empty() && r.cache_control != "all" && r.cache_control != "none")
    return fmt::format("--cache-control {}: expected all (L2 is empty before each launch) or none", r.cache_control);
  if (!r.cache_control.empty() && !r.import.empty()) return "--cache-control: --import runs nothing";
  if (r.host_clock && !r.virtual_time)
    return "--virtual-host-clock: the host's clocks follow --virtual-time: give it, too";
  if (!r.virtual_time) return "";
  if (!r.import.empty()) return "--virtual-time: --import runs nothing";
  for (const auto& [option, value] : {std::pair<const char*, const std::string&>("--kernel-name", r.kernel),
                                      {"--launch-skip", r.skip},
                                      {"--launch-count", r.count}})
    if (!value.empty())
      return fmt::format("--virtual-time: it needs the times of all launches, and {} leaves some out", option);
  if (wrong_setting(r, "UNDERSTUDY_PTXAS", "") == "none")
    return "--virtual-time: times need machine code, and without ptxas there is none";
  std::istringstream devices(wrong_setting(r, "UNDERSTUDY_DEVICE", ""));
  std::string first;
  for (std::string device; std::getline(devices, device, ',');) {
    if (!timing::timed_device(device)) return "--virtual-time: " + timing::no_parameters(device);
    if (first.empty()) first = device;
    if (device != first)
      return fmt::format("--virtual-time: its devices are of one kind, and --device is {} and {}", first, device);
  }
  return "";
}

bool of_nsys(const std::string& page) { return std::ranges::find(nsys_reports(), page) != nsys_reports().end(); }

std::string wrong_with(const ProfileRequest& r, std::vector<Assertion>& assertions) {
  if (const std::string why = wrong_with_time(r); !why.empty()) return why;
  if (std::ranges::find(kPages, r.page) == std::end(kPages) && !of_nsys(r.page))
    return fmt::format("--page {}: expected one of {}, {}", r.page, fmt::join(kPages, ", "),
                       fmt::join(nsys_reports(), ", "));
  if (r.print_units != "base" && r.print_units != "auto")
    return fmt::format("--print-units {}: expected base or auto (with prefixes)", r.print_units);
  if (!r.filter_mode.empty() && r.filter_mode != "global" && r.filter_mode != kPerConfig)
    return fmt::format("--filter-mode {}: expected global or {}", r.filter_mode, kPerConfig);
  if (std::ranges::find(kSources, r.print_source) == std::end(kSources))
    return fmt::format("--print-source {}: expected sass, ptx, cuda, or `cuda,sass`", r.print_source);
  if (r.csv && r.page == "summary") return "--csv: there is no such form of --page summary";
  if (r.csv && r.page == "source" && r.print_source == "cuda,sass")
    return "--csv: there is no such form of --print-source cuda,sass";
  for (const std::string& m : r.metrics)
    if (const auto why = wrong_expression(m); !why.empty()) return "--metrics " + why;
  for (const std::string& s : r.sections)
    if (const auto why = wrong_section(s); !why.empty()) return why;
  for (const std::string& text : r.assertions) {
    std::string why;
    const auto a = read_assertion(text, why);
    if (!a) return fmt::format("--assert `{}`: {}", text, why);
    if (a->of_baseline && r.baseline.empty()) return fmt::format("--assert `{}`: which --baseline?", text);
    assertions.push_back(*a);
  }
  if (!r.junit.empty() && r.assertions.empty()) return "--junit: it tells which assertions hold; give some by --assert";
  for (const auto& [option, file] : {std::pair<const char*, const std::string&>("--json", r.json),
                                     {"--log-file", r.log},
                                     {"--save", r.save},
                                     {"--junit", r.junit},
                                     {"--timeline", r.timeline},
                                     {"--html", r.html}})
    if (const std::string why = file.empty() ? "" : why_no_file(file); !why.empty())
      return fmt::format("{} {}: {}", option, file, why);
  return "";
}

std::vector<timing::LaunchProfile> sorted(std::vector<timing::LaunchProfile> all) {
  std::ranges::stable_sort(all, {}, [](const timing::LaunchProfile& p) { return std::pair(p.process, p.id); });
  return all;
}

// An empty path: nothing to read. False: it has been said why.
bool read_kept(const char* option, const std::string& file, std::string& bytes) {
  if (file.empty()) return true;
  if (!read_file(file, bytes)) {
    complain(fmt::format("{} {}: {}", option, file, std::strerror(errno)));
    return false;
  }
  if (!bytes.starts_with(timing::kKeptProfiles)) {
    complain(fmt::format("{} {}: expected a file that --save of this version of understudy has made", option, file));
    return false;
  }
  bytes.erase(0, timing::kKeptProfiles.size());
  return true;
}

void print(const ProfileRequest& r, const std::vector<ReportLaunch>& report, const Sink& out) {
  if (r.page == "source")
    r.csv ? source_csv(report, r.print_source, out) : source_text(report, r.print_source, out);
  else if (r.csv)
    r.page == "raw" ? raw_csv(report, out) : details_csv(report, out);
  else if (!r.baseline.empty())
    differences_text(report, out);
  else
    details_text(report, r.sections.empty() && r.metrics.empty(), out);
}

// What `print` makes, to the file, or to standard output.
void print_to(const std::string& file, const std::function<void(const Sink&)>& print) {
  std::ofstream out;
  if (!file.empty()) out.open(file, std::ios::binary);
  print([&](std::string_view text) {
    if (file.empty())
      std::fwrite(text.data(), 1, text.size(), stdout);
    else
      out << text;
  });
  if (!file.empty() && !out.flush()) complain(fmt::format("{}: {}", file, std::strerror(errno)));
}

bool judge(const ProfileRequest& r, const std::vector<Assertion>& assertions,
           const std::vector<timing::LaunchProfile>& all, const std::vector<const timing::LaunchProfile*>& before) {
  std::vector<Verdict> said;
  for (const Assertion& a : assertions)
    for (Verdict& v : verdicts(a, all, before)) said.push_back(std::move(v));
  bool holds = true;
  for (const Verdict& v : said) {
    std::istringstream lines(v.violated);
    for (std::string line; std::getline(lines, line); holds = false)
      complain(fmt::format("assertion violated: {}: {}", v.assertion, line));
  }
  if (!r.junit.empty()) write_file(r.junit, to_junit("understudy profile", junit_cases(said)));
  return holds;
}

timing::Detail detail_for(const ProfileRequest& r) {
  const bool all = r.page == "source" || !r.json.empty() || !r.html.empty() || !r.timeline.empty();
  return all ? timing::Detail::All : timing::Detail::Metrics;
}

// Somebody reads the advice that the model is asked for.
bool wants_what_ifs(const ProfileRequest& r) {
  if (!r.html.empty()) return true;
  if (!r.sections.empty() || !r.metrics.empty()) return false;
  return !r.json.empty() || !r.save.empty() || (r.page == "details" && !r.csv && r.baseline.empty());
}

int tell(const ProfileRequest& r, std::vector<std::string> files, const std::vector<Assertion>& assertions,
         const std::optional<Baseline>& baseline, int code) {
  std::vector<timing::LaunchProfile> all;
  std::string kept;
  for (std::string& bytes : files) {
    for (timing::LaunchProfile& p : timing::read_profiles(bytes, detail_for(r))) all.push_back(std::move(p));
    kept = kept.empty() ? std::move(bytes) : kept + bytes;
    bytes = {};
  }
  all = sorted(std::move(all));
  write_file(r.save, kept, timing::kKeptProfiles);
  const auto before = baseline ? baseline->of(all) : std::vector<const timing::LaunchProfile*>();
  const auto report = make_report(all, {r.sections, r.metrics, r.print_units == "auto"}, before);
  if (all.empty()) complain("no kernel was profiled");
  std::vector<PlacedProcess> work;
  if (r.page == "summary" || of_nsys(r.page) || !r.timeline.empty())
    work = placed(all, {timing::read_work(kept), timing::read_reused(kept)});
  print_to(r.log, [&](const Sink& out) {
    if (r.page == "summary")
      out(summary_text(work));
    else if (of_nsys(r.page))
      out(nsys_table(r.page, work, r.csv));
    else
      print(r, report, out);
  });
  if (!r.timeline.empty()) write_file(r.timeline, timeline(work));
  if (!r.html.empty()) write_file(r.html, to_html(report));
  if (!r.json.empty()) print_to(r.json, [&](const Sink& out) { to_json(report, out); });
  return judge(r, assertions, all, before) ? code : kExitAssertion;
}

}  // namespace

int profile_program(const ProfileRequest& request) {
  ProfileRequest r = request;
  const bool details = r.csv || !r.sections.empty() || !r.metrics.empty() || !r.baseline.empty();
  if (r.page.empty()) r.page = r.virtual_time && !details ? "summary" : "details";
  std::vector<Assertion> assertions;
  if (const std::string why = wrong_with(r, assertions); !why.empty()) return complain(why), kExitUsage;
  std::string bytes, old;
  if (!read_kept("--import", r.import, bytes) || !read_kept("--baseline", r.baseline, old)) return kExitUsage;
  std::optional<Baseline> baseline;
  if (!r.baseline.empty()) baseline.emplace(sorted(timing::read_profiles(old, timing::Detail::Metrics)));
  if (baseline && !baseline->launches())
    return complain(fmt::format("--baseline {}: has no launches; --save makes such a file", r.baseline)), kExitUsage;
  if (!r.import.empty()) return tell(r, {bytes}, assertions, baseline, 0);
  const TemporaryDirectory directory;
  if (directory.path.empty()) return kExitUsage;
  RunRequest run = r.run;
  run.settings["UNDERSTUDY_PROFILE"] = directory.path;
  if (const bool each = r.filter_mode == kPerConfig; each || !r.kernel.empty())
    run.settings["UNDERSTUDY_PROFILE_KERNELS"] = (each ? "each:" : "") + r.kernel;
  if (!r.skip.empty()) run.settings["UNDERSTUDY_PROFILE_SKIP"] = r.skip;
  if (!r.count.empty()) run.settings["UNDERSTUDY_PROFILE_COUNT"] = r.count;
  if (!wants_what_ifs(r)) run.settings["UNDERSTUDY_PROFILE_NO_WHAT_IFS"] = "1";
  if (r.virtual_time) run.settings["UNDERSTUDY_PROFILE_VIRTUAL_TIME"] = "1";
  if (r.host_clock) run.settings["UNDERSTUDY_PROFILE_HOST_CLOCK"] = "1";
  if (r.cache_control == "none" || (r.virtual_time && r.cache_control.empty()))
    run.settings["UNDERSTUDY_PROFILE_KEEP_CACHES"] = "1";
  const int code = [&] {
    const Progress progress(directory.path);
    return run_program(run);
  }();
  auto files = read_files(directory.path, ".profile");
  if (files.empty() && code != 0) return code;
  return tell(r, std::move(files), assertions, baseline, code);
}

}  // namespace us::tools
