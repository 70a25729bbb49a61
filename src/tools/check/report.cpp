// SPDX-License-Identifier: Apache-2.0
#include "tools/check/report.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <tuple>

#include <fmt/format.h>

#include "tools/check/symbolise.h"
#include "tools/files.h"

namespace us::tools {
namespace {

namespace fs = std::filesystem;
using sanitizer::Check;
using sanitizer::Finding;
using sanitizer::Findings;
using sanitizer::Severity;

Severity severity_of(const Finding& f, bool strict) {
  return strict && f.check == Check::RaceVolatile ? Severity::Error : sanitizer::info(f.check).severity;
}

std::string process_name(const Findings& f) {
  return fmt::format("{} (process {})", fs::path(f.program).filename().string(), f.process);
}

}  // namespace

const char* name_of(Severity s) {
  constexpr const char* names[] = {"error", "warning", "note"};
  return names[static_cast<u32>(s)];
}

u64 CheckReport::count(Severity s) const {
  return static_cast<u64>(std::ranges::count_if(entries, [s](const Entry& e) { return e.severity == s && !e.by; }));
}

std::vector<Findings> read_findings(const std::string& directory) {
  std::vector<Findings> all;
  for (const std::string& bytes : read_files(directory, ".findings")) all.push_back(sanitizer::read_records(bytes));
  return all;
}

CheckReport make_report(std::vector<Findings> all, Suppressions& suppressions, const sanitizer::CheckSet& wanted,
                        bool strict) {
  CheckReport r;
  Findings sum;
  for (Findings& f : all) {
    ++r.processes;
    if (!f.ended) r.unended.push_back(process_name(f));
    sanitizer::merge(sum, std::move(f));
  }
  symbolise(sum.all);
  std::stable_sort(sum.all.begin(), sum.all.end(), [](const Finding& a, const Finding& b) {
    return std::tuple(a.launch, a.check, sanitizer::key_of(a)) < std::tuple(b.launch, b.check, sanitizer::key_of(b));
  });
  for (Finding& f : sum.all) {
    if (!wanted.test(static_cast<std::size_t>(f.check))) continue;
    const Severity s = severity_of(f, strict);
    const Suppression* const by = suppressions.match(f);
    r.suppressed += by != nullptr;
    r.entries.push_back({std::move(f), s, by});
  }
  r.judged = std::move(sum.judged);
  r.not_judged = std::move(sum.not_judged);
  return r;
}

std::string shown_file(const std::string& file) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  const std::string below = error ? file : fs::path(file).lexically_proximate(here).string();
  return below.starts_with("..") || below.empty() ? file : below;
}

std::string place_of(const probe::Frame& f) {
  std::string text = f.file.empty() ? "" : shown_file(f.file);
  if (f.line) text += fmt::format(":{}", f.line);
  if (f.line && f.column) text += fmt::format(":{}", f.column);
  if (f.function.empty()) return text.empty() ? "?" : text;
  return text.empty() ? f.function : text + " in " + f.function;
}

std::string place_of(const probe::SiteInfo& s) {
  if (!s.frames.empty()) return place_of(s.frames[sanitizer::own_frame(s)]);
  return s.ptx_line ? fmt::format("PTX line {}", s.ptx_line) : "";
}

std::string source_line(const probe::Frame& f) {
  if (f.file.empty() || !f.line) return {};
  std::error_code error;
  if (!fs::is_regular_file(f.file, error)) return {};
  std::ifstream in(f.file);
  std::string line;
  for (u32 n = 0; n < f.line; ++n)
    if (!std::getline(in, line)) return {};
  const std::size_t begin = line.find_first_not_of(" \t"), end = line.find_last_not_of(" \t\r");
  return begin == line.npos ? "" : line.substr(begin, end + 1 - begin);
}

}  // namespace us::tools
