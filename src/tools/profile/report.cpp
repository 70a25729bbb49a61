// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report.h"

#include <algorithm>
#include <regex>
#include <span>

#include <fmt/format.h>

namespace us::tools {
namespace {

constexpr std::string_view kRegex = "regex:";

bool matches(const std::string& wanted, std::string_view name) {
  if (!wanted.starts_with(kRegex)) return name == wanted;
  return std::regex_search(std::string(name), std::regex(wanted.substr(kRegex.size())));
}

bool in_sections(const ReportChoice& c, const timing::Metric& m) {
  if (c.sections.empty()) return c.metrics.empty();
  return std::ranges::find(c.sections, timing::name_of(m.section).name) != c.sections.end();
}

class Maker {
 public:
  Maker(const ReportChoice& choice, const timing::LaunchProfile& p, const timing::LaunchProfile* before)
      : choice_(choice), values_(timing::values_of(p)) {
    if (before) before_ = timing::values_of(*before);
  }

  std::vector<ReportRow> rows() {
    for (std::size_t k = 0; k < metrics_.size(); ++k)
      if (in_sections(choice_, metrics_[k])) add(k);
    for (const std::string& wanted : choice_.metrics) add_named(wanted);
    return std::move(rows_);
  }

 private:
  ReportRow& add(std::size_t k) {
    const timing::Metric& m = metrics_[k];
    const timing::SectionName& s = timing::name_of(m.section);
    rows_.push_back({std::string(s.name), std::string(s.title), std::string(m.name), std::string(m.label),
                     std::string(m.unit), m.modelled, values_[k], before_.empty() ? std::nullopt : before_[k]});
    return rows_.back();
  }
  void add_named(const std::string& wanted) {
    constexpr const char* kTitle = "Command line profiler metrics";
    bool known = wanted.starts_with(kRegex);
    for (std::size_t k = 0; k < metrics_.size(); ++k) {
      if (!matches(wanted, metrics_[k].name)) continue;
      ReportRow& row = add(k);
      row.section = row.section_title = kTitle, row.label = row.name;
      known = true;
    }
    if (!known) rows_.push_back({"", kTitle, wanted, wanted, "", false, std::nullopt});
  }

  const ReportChoice& choice_;
  const std::span<const timing::Metric> metrics_ = timing::metrics();
  const std::vector<std::optional<double>> values_;
  std::vector<std::optional<double>> before_;
  std::vector<ReportRow> rows_;
};

}  // namespace

// As Nsight Compute does unless it is told otherwise: bytes and times with prefixes.
static void scale(ReportRow& row) {
  constexpr const char* kTimes[] = {"ns", "us", "ms", "s"};
  constexpr const char* kBytes[] = {"byte", "Kbyte", "Mbyte", "Gbyte", "Tbyte"};
  if (!row.value) return;
  const auto by = [&](std::span<const char* const> units, const std::string& behind) {
    std::size_t k = 0;
    double by = 1;
    while (*row.value / by >= 1000 && k + 1 < units.size()) by *= 1000, ++k;
    *row.value /= by, row.unit = units[k] + behind;
    if (row.before) *row.before /= by;
  };
  if (row.unit == "ns") by(kTimes, "");
  if (row.unit == "byte" || row.unit.starts_with("byte/")) by(kBytes, row.unit.substr(4));
}

std::vector<ReportRow> ReportLaunch::rows() const {
  std::vector<ReportRow> all = Maker(*choice, *of, before).rows();
  if (choice->scaled) std::ranges::for_each(all, scale);
  return all;
}

std::vector<ReportLaunch> make_report(const std::vector<timing::LaunchProfile>& all, ReportChoice choice,
                                      const std::vector<const timing::LaunchProfile*>& before) {
  const auto shared = std::make_shared<const ReportChoice>(std::move(choice));
  std::vector<ReportLaunch> out;
  for (std::size_t k = 0; k < all.size(); ++k)
    out.push_back({k, &all[k], shared, before.empty() ? nullptr : before[k]});
  return out;
}

std::string number_text(const std::optional<double>& v) {
  if (!v) return "n/a";
  const bool whole = *v == static_cast<double>(static_cast<i64>(*v));
  std::string s = whole ? fmt::format("{}", static_cast<i64>(*v)) : fmt::format("{:.2f}", *v);
  const std::size_t point = std::min(s.find('.'), s.size()), first = s[0] == '-';
  for (std::size_t k = point; k > first + 3; k -= 3) s.insert(k - 3, ",");
  return s;
}

}  // namespace us::tools
