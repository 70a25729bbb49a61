// SPDX-License-Identifier: Apache-2.0
// The page to read: the metrics by section.
#include <fmt/format.h>

#include "tools/profile/advice.h"
#include "tools/profile/report.h"

namespace us::tools {
namespace {

std::string three(const u32 (&n)[3]) { return fmt::format("({}, {}, {})", n[0], n[1], n[2]); }

const std::string kRule = fmt::format("    {:-<56} {:-<16} {:-<18}\n", "", "", "");

}  // namespace

std::string head_of(const ReportLaunch& l) {
  const timing::LaunchProfile& p = *l.of;
  std::string s =
      fmt::format("  {} {}x{}, Device {}, {}\n", p.kernel, three(p.grid), three(p.block), p.device, p.residency.device);
  if (!p.fault.empty()) s += fmt::format("    It ended with a fault: {}\n", p.fault);
  return s;
}

void differences_text(const std::vector<ReportLaunch>& all, const Sink& out) {
  const auto row = [](const auto&... cells) {
    std::string line = fmt::format("    {:<56} {:<16} {:>16} {:>16} {:>9}", cells...);
    return line.erase(line.find_last_not_of(' ') + 1) + "\n";
  };
  for (const ReportLaunch& l : all) {
    std::string s = head_of(l);
    if (!l.before) {
      out(s + "    The baseline has no such launch.\n\n");
      continue;
    }
    u64 equal = 0;
    std::string rows;
    for (const ReportRow& r : l.rows()) {
      if (r.value == r.before) {
        ++equal;
        continue;
      }
      const bool ratio = r.value && r.before && *r.before != 0;
      rows += row(r.label, r.unit, number_text(r.before), number_text(r.value),
                  ratio ? fmt::format("{:+.1f} %", 100 * (*r.value / *r.before - 1)) : "");
    }
    if (!rows.empty()) s += row("Metric Name", "Metric Unit", "Baseline", "Now", "Change") + rows;
    out(s + fmt::format("    {} metrics are equal.\n\n", equal));
  }
}

void details_text(const std::vector<ReportLaunch>& all, bool with_advice, const Sink& out) {
  for (const ReportLaunch& l : all) {
    std::string s = head_of(l), section;
    for (const ReportRow& r : l.rows()) {
      if (r.section_title != section) {
        if (!section.empty()) s += kRule + "\n";
        section = r.section_title;
        s += fmt::format("    Section: {}\n{}    {:<56} {:<16} {:>18}\n{}", section, kRule, "Metric Name",
                         "Metric Unit", "Metric Value", kRule);
      }
      s += fmt::format("    {:<56} {:<16} {:>18}\n", r.label, r.unit, number_text(r.value));
    }
    if (!section.empty()) s += kRule;
    if (!l.of->no_time.empty()) s += fmt::format("    No model of time: {}\n", l.of->no_time);
    if (l.of->time.lost)
      s += fmt::format("    {} warps have no way through the machine code: counts of instructions are too low\n",
                       l.of->time.lost);
    if (with_advice) s += advice_text(advice(*l.of));
    if (!section.empty()) s += "\n";
    out(s);
  }
}

}  // namespace us::tools
