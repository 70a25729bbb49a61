// SPDX-License-Identifier: Apache-2.0
// Reports of profiled launches, by Nsight Compute's names and in its forms.
#pragma once
#include <functional>
#include <memory>
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
// Which metrics: all of the sections, or those that are named (a name, or "regex:" and an expression).
struct ReportChoice {
  std::vector<std::string> sections, metrics;
  bool scaled = false;  // values and units with prefixes
};
struct ReportLaunch {
  u64 id = 0;
  const timing::LaunchProfile* of = nullptr;
  std::shared_ptr<const ReportChoice> choice;
  const timing::LaunchProfile* before = nullptr;  // of the baseline, if it has the launch
  std::vector<ReportRow> rows() const;            // made when it is asked: there may be many launches
};
// Takes a report piece by piece.
using Sink = std::function<void(std::string_view)>;
// `before`: a launch of the baseline, or null, for each; empty: there is no baseline.
std::vector<ReportLaunch> make_report(const std::vector<timing::LaunchProfile>&, ReportChoice,
                                      const std::vector<const timing::LaunchProfile*>& before);

std::string number_text(const std::optional<double>&);  // "1,024", "20.31", "n/a"
void details_text(const std::vector<ReportLaunch>&, bool with_advice, const Sink&);
void differences_text(const std::vector<ReportLaunch>&, const Sink&);  // from the baseline
std::string head_of(const ReportLaunch&);                              // two lines at most
// `print`: "cuda", "ptx", "sass" or "cuda,sass", which has no CSV.
void source_text(const std::vector<ReportLaunch>&, const std::string& print, const Sink&);
void source_csv(const std::vector<ReportLaunch>&, const std::string& print, const Sink&);
std::string without_detail(const std::vector<ReportLaunch>&);  // how many launches have none; empty: all have
std::string csv_line(const std::vector<std::string>& cells);
void details_csv(const std::vector<ReportLaunch>&, const Sink&);  // a line for each metric
void raw_csv(const std::vector<ReportLaunch>&, const Sink&);      // a line for each launch
void to_json(const std::vector<ReportLaunch>&, const Sink&);

}  // namespace us::tools
