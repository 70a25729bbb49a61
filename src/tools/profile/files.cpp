// SPDX-License-Identifier: Apache-2.0
// Reports for other programs: CSV with Nsight Compute's columns, and JSON (docs/profile.md has the schema).
#include <fmt/format.h>

#include "base/json.h"
#include "base/version.h"
#include "sass/decode.h"
#include "tools/profile/advice.h"
#include "tools/profile/report.h"

namespace us::tools {
namespace {

std::string quoted(std::string_view text) {
  std::string s = "\"";
  for (const char c : text) s += c == '"' ? std::string("\"\"") : std::string(1, c);
  return s + "\"";
}
std::string three(const u32 (&n)[3]) { return fmt::format("({}, {}, {})", n[0], n[1], n[2]); }

const std::vector<std::string> kOfLaunch = {"ID",      "Process ID", "Process Name", "Host Name", "Kernel Name",
                                            "Context", "Stream",     "Block Size",   "Grid Size", "Device",
                                            "CC"};
std::vector<std::string> cells_of(const ReportLaunch& l) {
  const timing::LaunchProfile& p = *l.of;
  const std::string name = p.program.substr(p.program.rfind('/') + 1);
  return {fmt::format("{}", l.id), fmt::format("{}", p.process), name, "127.0.0.1", p.kernel, "1", "7", three(p.block),
          three(p.grid),           fmt::format("{}", p.device),  "9.0"};
}

template <class N>
void list(JsonWriter& w, const char* name, const N& numbers) {
  w.key(name).array();
  for (const auto n : numbers) w.value(n);
  w.end();
}

void machine_code(JsonWriter& w, const timing::LaunchProfile& p) {
  w.field("machine_code_by", p.listing->origin).key("machine_code").array();
  for (u32 k = 0; k < p.machine.size(); ++k) {
    const timing::Listing::Instruction& i = p.listing->instructions[k];
    const timing::InstructionProfile& m = p.machine[k];
    w.object().field("offset", k * 16).field("instruction", sass::decode(i.word, k * 16).text());
    if (i.ptx_line) w.field("ptx_line", i.ptx_line);
    if (i.place != timing::Listing::kNone)
      w.field("file", p.listing->places[i.place].file).field("line", p.listing->places[i.place].line);
    w.field("warps", m.warps).field("lanes", m.lanes).key("stall_cycles").object();
    for (u32 s = 0; s < timing::kStalls; ++s)
      if (m.stalls[s]) w.field(name_of(static_cast<timing::Stall>(s)), m.stalls[s]);
    w.end().end();
  }
  w.end();
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string s;
  for (const std::string& c : cells) s += (s.empty() ? "" : ",") + quoted(c);
  return s + "\n";
}

void details_csv(const std::vector<ReportLaunch>& all, const Sink& out) {
  auto names = kOfLaunch;
  for (const char* n : {"Section Name", "Metric Name", "Metric Unit", "Metric Value"}) names.push_back(n);
  out(csv_line(names));
  for (const ReportLaunch& l : all) {
    std::string s;
    for (const ReportRow& r : l.rows()) {
      auto cells = cells_of(l);
      cells.insert(cells.end(), {r.section_title, r.label, r.unit, number_text(r.value)});
      s += csv_line(cells);
    }
    out(s);
  }
}

void raw_csv(const std::vector<ReportLaunch>& all, const Sink& out) {
  auto names = kOfLaunch;
  std::vector<std::string> units(names.size());
  if (!all.empty())
    for (const ReportRow& r : all[0].rows()) names.push_back(r.name), units.push_back(r.unit);
  out(csv_line(names) + csv_line(units));
  for (const ReportLaunch& l : all) {
    auto cells = cells_of(l);
    for (const ReportRow& r : l.rows()) cells.push_back(number_text(r.value));
    out(csv_line(cells));
  }
}

void to_json(const std::vector<ReportLaunch>& all, const Sink& out) {
  JsonWriter w;
  w.object().field("schema", "understudy-profile-1").field("understudy", kVersionText).key("launches").array();
  for (const ReportLaunch& l : all) {
    const timing::LaunchProfile& p = *l.of;
    w.object().field("id", l.id).field("process", p.process).field("program", p.program).field("kernel", p.kernel);
    list(w, "grid", p.grid), list(w, "block", p.block), list(w, "cluster", p.cluster);
    w.field("device", p.residency.device).field("registers_from", p.residency.origin).field("fault", p.fault);
    if (!p.no_time.empty()) w.field("no_time", p.no_time);
    if (p.time.lost) w.field("warps_without_a_way", p.time.lost);
    if (!p.detailed) w.field("detailed", false);
    w.key("metrics").object();
    for (const ReportRow& r : l.rows()) {
      w.key(r.name)
          .object()
          .field("unit", r.unit)
          .field("quality", !r.value     ? "n/a"
                            : r.modelled ? "modelled"
                                         : "exact");
      if (r.value) w.field("value", *r.value);
      if (r.before) w.field("baseline", *r.before);
      w.end();
    }
    w.end().key("instructions").array();
    for (const timing::SiteProfile& s : p.sites) {
      w.object().field("instruction", s.at.text).field("ptx_line", s.at.ptx_line);
      if (!s.at.frames.empty()) w.field("file", s.at.frames[0].file).field("line", s.at.frames[0].line);
      w.field("warps", s.executed.warps).field("lanes", s.executed.lanes);
      if (s.global.requests) w.field("sectors", s.global.sectors).field("ideal_sectors", s.global.ideal_sectors);
      if (s.shared.requests)
        w.field("wavefronts", s.shared.wavefronts).field("ideal_wavefronts", s.shared.ideal_wavefronts);
      if (s.shared.requests) w.field("bank_conflicts", s.shared.conflicts());
      w.end();
    }
    w.end().key("advice").array();
    for (const Advice& a : advice(p)) {
      w.object().field("rule", a.rule).field("title", a.title).field("text", a.text);
      if (a.saved) w.field("saved", *a.saved);
      w.end();
    }
    w.end();
    if (p.listing) machine_code(w, p);
    w.end();
    out(w.take());
  }
  out(w.end().end().take() + "\n");
}

}  // namespace us::tools
