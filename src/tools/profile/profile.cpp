// SPDX-License-Identifier: Apache-2.0
// The verb: runs the program with somebody who counts, and reports the launches of all of its processes.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <regex>

#include <fmt/format.h>

#include "base/files.h"
#include "tools/exit_codes.h"
#include "tools/files.h"
#include "tools/profile/report.h"
#include "tools/profile/request.h"
#include "tools/terminal.h"

namespace us::tools {
namespace {

constexpr std::string_view kPages[] = {"details", "raw", "source"};

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

std::string wrong_with(const ProfileRequest& r, std::vector<Assertion>& assertions) {
  if (std::ranges::find(kPages, r.page) == std::end(kPages))
    return fmt::format("--page {}: expected one of {}", r.page, fmt::join(kPages, ", "));
  if (r.csv && r.page == "source") return "--csv: there is no such form of --page source; --json has its numbers";
  for (const std::string& m : r.metrics)
    if (const auto why = wrong_expression(m); !why.empty()) return "--metrics " + why;
  for (const std::string& s : r.sections)
    if (const auto why = wrong_section(s); !why.empty()) return why;
  for (const std::string& text : r.assertions) {
    std::string why;
    const auto a = read_assertion(text, why);
    if (!a) return fmt::format("--assert `{}`: {}", text, why);
    assertions.push_back(*a);
  }
  for (const auto& [option, file] : {std::pair<const char*, const std::string&>("--json", r.json), {"--save", r.save}})
    if (const std::string why = file.empty() ? "" : why_no_file(file); !why.empty())
      return fmt::format("{} {}: {}", option, file, why);
  return "";
}

std::string text_of(const ProfileRequest& r, const std::vector<ReportLaunch>& report) {
  if (r.csv) return r.page == "raw" ? raw_csv(report) : details_csv(report);
  return r.page == "source" ? source_text(report) : details_text(report);
}

int tell(const ProfileRequest& r, const std::vector<std::string>& files, const std::vector<Assertion>& assertions,
         int code) {
  std::vector<timing::LaunchProfile> all;
  std::string kept;
  for (const std::string& bytes : files) {
    for (timing::LaunchProfile& p : timing::read_profiles(bytes)) all.push_back(std::move(p));
    kept += bytes;
  }
  std::ranges::stable_sort(all, {}, [](const timing::LaunchProfile& p) { return std::pair(p.process, p.id); });
  write_file(r.save, kept);
  const auto report = make_report(all, {r.sections, r.metrics});
  if (all.empty()) complain("no kernel was profiled");
  fmt::print("{}", text_of(r, report));
  if (!r.json.empty()) write_file(r.json, to_json(report));
  bool violated = false;
  for (const Assertion& a : assertions) {
    for (const std::string& line : violations(a, all)) complain("assertion violated: " + line), violated = true;
    if (all.empty()) complain(fmt::format("assertion violated: {}: there is no launch", a.text)), violated = true;
  }
  return violated ? kExitAssertion : code;
}

}  // namespace

int profile_program(const ProfileRequest& r) {
  std::vector<Assertion> assertions;
  if (const std::string why = wrong_with(r, assertions); !why.empty()) return complain(why), kExitUsage;
  if (!r.import.empty()) {
    std::string bytes;
    if (!read_file(r.import, bytes))
      return complain(fmt::format("--import {}: {}", r.import, std::strerror(errno))), kExitUsage;
    return tell(r, {bytes}, assertions, 0);
  }
  const TemporaryDirectory directory;
  if (directory.path.empty()) return kExitUsage;
  RunRequest run = r.run;
  run.settings["UNDERSTUDY_PROFILE"] = directory.path;
  if (!r.kernel.empty()) run.settings["UNDERSTUDY_PROFILE_KERNELS"] = r.kernel;
  if (!r.skip.empty()) run.settings["UNDERSTUDY_PROFILE_SKIP"] = r.skip;
  if (!r.count.empty()) run.settings["UNDERSTUDY_PROFILE_COUNT"] = r.count;
  const int code = run_program(run);
  const auto files = read_files(directory.path, ".profile");
  if (files.empty() && code != 0) return code;
  return tell(r, files, assertions, code);
}

}  // namespace us::tools
