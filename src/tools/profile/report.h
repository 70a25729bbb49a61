// SPDX-License-Identifier: Apache-2.0
// Reports of profiled launches, by Nsight Compute's names and in its forms.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "timing/metrics.h"

namespace us::tools {

struct ReportRow {
  std::string section, section_title, name, label, unit;
  bool modelled = false;           // else counted
  std::optional<double> value;     // nothing: there is no such value, or we do not have the metric
  std::optional<double> before{};  // of the baseline
};
struct ReportLaunch {
  u64 id = 0;
  const timing::LaunchProfile* of = nullptr;
  std::vector<ReportRow> rows;
  const timing::LaunchProfile* before = nullptr;  // of the baseline, if it has the launch
};

// Which metrics: all of the sections, or those that are named (a name, or "regex:" and an expression).
struct ReportChoice {
  std::vector<std::string> sections, metrics;
};
// `before`: a launch of the baseline, or null, for each; empty: there is no baseline.
std::vector<ReportLaunch> make_report(const std::vector<timing::LaunchProfile>&, const ReportChoice&,
                                      const std::vector<const timing::LaunchProfile*>& before);

std::string number_text(const std::optional<double>&);  // "1,024", "20.31", "n/a"
std::string details_text(const std::vector<ReportLaunch>&, bool with_advice);
std::string differences_text(const std::vector<ReportLaunch>&);  // from the baseline
std::string head_of(const ReportLaunch&);                        // two lines at most
// `print`: "cuda", "ptx", "sass" or "cuda,sass", which has no CSV.
std::string source_text(const std::vector<ReportLaunch>&, const std::string& print);
std::string source_csv(const std::vector<ReportLaunch>&, const std::string& print);
std::string csv_line(const std::vector<std::string>& cells);
std::string details_csv(const std::vector<ReportLaunch>&);  // a line for each metric
std::string raw_csv(const std::vector<ReportLaunch>&);      // a line for each launch
std::string to_json(const std::vector<ReportLaunch>&);

}  // namespace us::tools
