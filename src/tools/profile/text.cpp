// SPDX-License-Identifier: Apache-2.0
// Pages to read: the metrics by section, and the lines of the program with what they cost.
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "tools/profile/report.h"

namespace us::tools {
namespace {

std::string three(const u32 (&n)[3]) { return fmt::format("({}, {}, {})", n[0], n[1], n[2]); }

std::string head_of(const ReportLaunch& l) {
  const timing::LaunchProfile& p = *l.of;
  std::string s =
      fmt::format("  {} {}x{}, Device {}, {}\n", p.kernel, three(p.grid), three(p.block), p.device, p.residency.device);
  if (!p.fault.empty()) s += fmt::format("    It ended with a fault: {}\n", p.fault);
  return s;
}

const std::string kRule = fmt::format("    {:-<56} {:-<16} {:-<18}\n", "", "", "");

// Of one line of the program.
struct LineCosts {
  probe::Count executed;
  timing::GlobalAccesses global;
  timing::SharedAccesses shared;
};
using Place = std::pair<std::string, u32>;

Place place_of(const probe::SiteInfo& s) {
  if (s.frames.empty() || s.frames[0].file.empty()) return {"PTX", s.ptx_line};
  return {std::filesystem::path(s.frames[0].file).filename().string(), s.frames[0].line};
}

std::string excess(u64 is, u64 ideal) {
  return is ? fmt::format("{:.1f}", static_cast<double>(is) / static_cast<double>(std::max<u64>(ideal, 1))) : "";
}
std::string some(u64 n) { return n ? number_text(static_cast<double>(n)) : ""; }

}  // namespace

std::string details_text(const std::vector<ReportLaunch>& all) {
  std::string s;
  for (const ReportLaunch& l : all) {
    s += head_of(l);
    std::string section;
    for (const ReportRow& r : l.rows) {
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
    if (!section.empty()) s += "\n";
  }
  return s;
}

std::string source_text(const std::vector<ReportLaunch>& all) {
  std::string s;
  for (const ReportLaunch& l : all) {
    std::map<Place, LineCosts> lines;
    for (const timing::SiteProfile& site : l.of->sites) {
      LineCosts& to = lines[place_of(site.at)];
      to.executed += site.executed;
      to.global += site.global;
      to.shared += site.shared;
    }
    s += head_of(l);
    s += fmt::format("    {:>16} {:>6} {:>16} {:>6} {:>16} {:>6} {:>14}  {}\n", "PTX warp instr.", "lanes",
                     "global sectors", "/ideal", "shared wavefr.", "/ideal", "bank conflicts", "line");
    for (const auto& [place, c] : lines)
      s += fmt::format("    {:>16} {:>6.2f} {:>16} {:>6} {:>16} {:>6} {:>14}  {}:{}\n",
                       number_text(static_cast<double>(c.executed.warps)),
                       static_cast<double>(c.executed.lanes) / static_cast<double>(c.executed.warps),
                       some(c.global.sectors), excess(c.global.sectors, c.global.ideal_sectors),
                       some(c.shared.wavefronts), excess(c.shared.wavefronts, c.shared.ideal_wavefronts),
                       some(c.shared.conflicts()), place.first, place.second);
    s += "\n";
  }
  return s;
}

}  // namespace us::tools
