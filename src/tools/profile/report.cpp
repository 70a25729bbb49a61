// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/report.h"

#include <algorithm>
#include <regex>

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

std::vector<ReportLaunch> make_report(const std::vector<timing::LaunchProfile>& all, const ReportChoice& choice,
                                      const std::vector<const timing::LaunchProfile*>& before) {
  std::vector<ReportLaunch> out;
  for (std::size_t k = 0; k < all.size(); ++k) {
    const timing::LaunchProfile* const old = before.empty() ? nullptr : before[k];
    out.push_back({k, &all[k], Maker(choice, all[k], old).rows(), old});
  }
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
