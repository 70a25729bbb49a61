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
  bool modelled = false;        // else counted
  std::optional<double> value;  // nothing: there is no such value, or we do not have the metric
};
struct ReportLaunch {
  u64 id = 0;
  const timing::LaunchProfile* of = nullptr;
  std::vector<ReportRow> rows;
};

// Which metrics: all of the sections, or those that are named (a name, or "regex:" and an expression).
struct ReportChoice {
  std::vector<std::string> sections, metrics;
};
std::vector<ReportLaunch> make_report(const std::vector<timing::LaunchProfile>&, const ReportChoice&);

std::string number_text(const std::optional<double>&);  // "1,024", "20.31", "n/a"
std::string details_text(const std::vector<ReportLaunch>&);
std::string source_text(const std::vector<ReportLaunch>&);
std::string details_csv(const std::vector<ReportLaunch>&);  // a line for each metric
std::string raw_csv(const std::vector<ReportLaunch>&);      // a line for each launch
std::string to_json(const std::vector<ReportLaunch>&);

// "[KERNEL:]METRIC OP NUMBER". A wrong one: says what was expected.
struct Assertion {
  std::string text, kernel, metric, op;
  double bound = 0;
};
std::optional<Assertion> read_assertion(const std::string& text, std::string& why);
// A line for each launch that it does not hold for.
std::vector<std::string> violations(const Assertion&, const std::vector<timing::LaunchProfile>&);

}  // namespace us::tools
