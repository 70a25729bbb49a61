// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/html.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/version.h"
#include "tools/junit.h"
#include "tools/profile/advice.h"
#include "tools/profile/charts.h"

namespace us::tools {
namespace {

constexpr std::size_t kMostListed = 1000, kMostShown = 40;  // launches of the overview; those that are told in full

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #667; --paper: #fff; --panel: #f5f6f8; --edge: #d5d8de; --accent: #2b6cb0; --warm: #c05621; --good: #2f855a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ec; --soft: #9aa3af; --paper: #15181c; --panel: #1e2227; --edge: #363c44; --accent: #63b3ed; --warm: #ed8936; --good: #68d391; } }
body { font: 14px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1400px; margin: 1.5em auto; padding: 0 1em; }
h1 { font-size: 1.4em; } h2 { font-size: 1.1em; margin: 0; display: inline; } h3 { font-size: 1em; margin: 1.4em 0 .4em; }
table { border-collapse: collapse; } td, th { padding: 2px 10px; text-align: right; border-bottom: 1px solid var(--edge); white-space: nowrap; }
th { color: var(--soft); font-weight: 600; } td.name, th.name { text-align: left; } td.name { max-width: 36em; overflow: hidden; text-overflow: ellipsis; }
a { color: var(--accent); text-decoration: none; } .soft { color: var(--soft); } .note { background: var(--panel); border-left: 4px solid var(--warm); padding: .4em .8em; margin: .5em 0; }
details.launch { border: 1px solid var(--edge); border-radius: 6px; margin: .8em 0; padding: .6em 1em; } summary { cursor: pointer; }
.metrics { columns: 3 340px; } .metrics table { break-inside: avoid; width: 100%; margin-bottom: 1em; } .metrics td { padding: 2px 4px; } .metrics td.name { white-space: normal; overflow-wrap: anywhere; } .metrics caption { text-align: left; font-weight: 600; padding-top: .4em; }
.charts { display: flex; flex-wrap: wrap; gap: 1em; } svg { max-width: 100%; height: auto; } svg text { font: 12px system-ui, sans-serif; fill: var(--ink); } .end { text-anchor: end; } .mid { text-anchor: middle; } svg .strong { font-weight: 600; }
.grid { stroke: var(--edge); stroke-width: .6; } .axis { stroke: var(--soft); } .roof { fill: none; stroke: var(--soft); stroke-width: 1.6; } .curve { fill: none; stroke: var(--accent); stroke-width: 1.8; } .area { fill: var(--accent); fill-opacity: .35; stroke: var(--accent); }
.point { fill: var(--warm); } .bar { fill: var(--accent); } .work { fill: var(--good); } .box { fill: var(--panel); stroke: var(--soft); } .flow { fill: var(--accent); stroke: var(--accent); stroke-width: 2; }
.source { display: grid; grid-template-columns: repeat(3, minmax(0, 1fr)); gap: 8px; } .source > div { max-height: 70vh; overflow: auto; border: 1px solid var(--edge); } .source td { font: 12px ui-monospace, monospace; padding: 0 6px; border: 0; } .source td.name { max-width: none; white-space: pre; }
.source th { position: sticky; top: 0; background: var(--panel); } .source tr.lit td { background: color-mix(in srgb, var(--warm) 25%, transparent); } .heat { background: linear-gradient(to left, color-mix(in srgb, var(--warm) 55%, transparent) var(--part), transparent var(--part)); }
@media (max-width: 900px) { .source { grid-template-columns: 1fr; } }
)";

// Lines of one view that belong to those of another light up together; a link opens the launch that it leads to.
constexpr std::string_view kScript = R"(
for (const link of document.querySelectorAll('#overview a')) link.addEventListener('click', () => {
  document.querySelector(link.getAttribute('href')).open = true;
});
for (const source of document.querySelectorAll('.source')) source.addEventListener('click', event => {
  const row = event.target.closest('tr[data-of]');
  if (!row) return;
  const wanted = new Set(row.dataset.of.split(' '));
  for (const other of source.querySelectorAll('tr[data-of]')) {
    const lit = other === row || other.dataset.of.split(' ').some(k => k && wanted.has(k));
    other.classList.toggle('lit', lit);
  }
  for (const view of source.children) if (!view.contains(row)) view.querySelector('tr.lit')?.scrollIntoView({block: 'nearest'});
});
)";

std::string three(const u32 (&n)[3]) { return fmt::format("{} × {} × {}", n[0], n[1], n[2]); }

class Values {
 public:
  explicit Values(const timing::LaunchProfile& p) : values_(timing::values_of(p)) {}
  std::optional<double> operator[](std::string_view name) const {
    const auto all = timing::metrics();
    const auto at = std::ranges::find(all, name, &timing::Metric::name);
    return at == all.end() ? std::nullopt : values_[static_cast<std::size_t>(at - all.begin())];
  }

 private:
  const std::vector<std::optional<double>> values_;
};

std::string cell(const std::string& text, const char* style = "") {
  return fmt::format("<td class=\"{}\">{}</td>", style, text);
}

std::string time_text(std::optional<double> ns) { return ns ? fmt::format("{:.2f} µs", *ns / 1000) : "n/a"; }

std::string change_text(const ReportLaunch& l) {
  if (!l.before) return "";
  const auto now = Values(*l.of)["gpu__time_duration.sum"], old = Values(*l.before)["gpu__time_duration.sum"];
  return now && old && *old > 0 ? fmt::format("{:+.1f} %", 100 * (*now / *old - 1)) : "";
}

std::string most_stalled(const timing::LaunchProfile& p) {
  u32 most = 0;
  for (u32 k = 1; k < timing::kStalls; ++k)
    if (static_cast<timing::Stall>(k) != timing::Stall::Selected && p.time.stalls[k] > p.time.stalls[most]) most = k;
  return p.no_time.empty() && p.time.stalls[most] ? std::string(name_of(static_cast<timing::Stall>(most))) : "";
}

using Shown = std::vector<const ReportLaunch*>;

std::string overview(const std::vector<ReportLaunch>& all, const Shown& told) {
  const bool compared = std::ranges::any_of(all, [](const ReportLaunch& l) { return l.before; });
  std::string s =
      "<table id=\"overview\"><tr><th>launch</th><th "
      "class=\"name\">kernel</th><th>grid</th><th>block</th><th>duration</th>";
  if (compared) s += "<th>since the baseline</th>";
  s += "<th>DRAM</th><th>L1 hits</th><th>occupancy</th><th>waves</th><th class=\"name\">mostly stalled by</th></tr>\n";
  for (std::size_t k = 0; k < std::min(all.size(), kMostListed); ++k) {
    const ReportLaunch& l = all[k];
    const Values v(*l.of);
    const auto shown = [&](const char* name, const char* unit) {
      const auto n = v[name];
      return cell(n ? fmt::format("{:.1f}{}", *n, unit) : "n/a");
    };
    const bool link = std::ranges::find(told, &l) != told.end();
    s += "<tr>" + cell(link ? fmt::format("<a href=\"#launch-{0}\">{0}</a>", l.id) : fmt::format("{}", l.id)) +
         cell(xml_escaped(l.of->kernel), "name") + cell(three(l.of->grid)) + cell(three(l.of->block)) +
         cell(time_text(v["gpu__time_duration.sum"]));
    if (compared) s += cell(change_text(l));
    s += shown("gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", " %") +
         shown("l1tex__t_sector_hit_rate.pct", " %") + shown("sm__maximum_warps_per_active_cycle_pct", " %") +
         shown("launch__waves_per_multiprocessor", "") + cell(most_stalled(*l.of), "name") + "</tr>\n";
  }
  s += "</table>\n";
  if (all.size() > kMostListed)
    s += fmt::format("<p class=\"note\">{} more launches are not listed.</p>\n", all.size() - kMostListed);
  return s;
}

std::string metric_tables(const ReportLaunch& l) {
  std::string s = "<div class=\"metrics\">", section;
  for (const ReportRow& r : l.rows()) {
    if (r.section_title != section) {
      s += section.empty() ? "" : "</table>";
      section = r.section_title;
      s += fmt::format("<table><caption>{}</caption>\n", xml_escaped(section));
    }
    s += fmt::format("<tr><td class=\"name\" title=\"{}{}\">{}</td><td>{}</td><td class=\"name soft\">{}</td></tr>\n",
                     xml_escaped(r.name), r.value ? r.modelled ? ": modelled" : ": exact" : "", xml_escaped(r.label),
                     number_text(r.value), xml_escaped(r.unit));
  }
  return s + (section.empty() ? "" : "</table>") + "</div>\n";
}

std::string chart(const char* title, const std::string& picture, const char* note = "") {
  if (picture.empty()) return "";
  return fmt::format("<div><h3>{}</h3>{}{}</div>\n", title, picture,
                     *note ? fmt::format("<p class=\"soft\">{}</p>", note) : "");
}

std::string whole(const ReportLaunch& l, SourceLines& sources, bool open) {
  const timing::LaunchProfile& p = *l.of;
  std::string s = fmt::format(
      "<details class=\"launch\" id=\"launch-{}\"{}><summary><h2>{}: {}</h2> <span class=\"soft\">grid {}, block {}, "
      "{}</span></summary>\n",
      l.id, open ? " open" : "", l.id, xml_escaped(p.kernel), three(p.grid), three(p.block),
      time_text(Values(p)["gpu__time_duration.sum"]));
  if (!p.fault.empty()) s += fmt::format("<p class=\"note\">It ended with a fault: {}</p>\n", xml_escaped(p.fault));
  if (!p.no_time.empty()) s += fmt::format("<p class=\"note\">No model of time: {}</p>\n", xml_escaped(p.no_time));
  s += advice_html(advice(p)) + "<div class=\"charts\">";
  s += chart("Roofline", roofline_chart(p));
  s +=
      chart("Memory", memory_chart(p), "Bytes between the levels: those of the kernel are exact, the others modelled.");
  s += chart("What warps wait for", stall_chart(p));
  s += chart("Waves and tail", waves_chart(p), "CTAs that run on the multiprocessors that were replayed.");
  s += chart("Warps of a multiprocessor", occupancy_charts(p), "Exact; the point is this launch.");
  s += "</div>\n<h3>Metrics</h3>\n" + metric_tables(l) + "<h3>Source</h3>\n" + source_html(p, sources);
  return s + "</details>\n";
}

// Of each kernel the launch that takes longest; then, as far as there is room, the others, by their time.
Shown chosen(const std::vector<ReportLaunch>& all) {
  Shown by_time;
  for (const ReportLaunch& l : all)
    if (l.of->detailed) by_time.push_back(&l);
  std::ranges::stable_sort(by_time, std::greater(), [](const ReportLaunch* l) { return l->of->time.picoseconds; });
  std::map<std::string, bool> had;
  std::ranges::stable_partition(by_time,
                                [&](const ReportLaunch* l) { return !std::exchange(had[l->of->kernel], true); });
  if (by_time.size() > kMostShown) by_time.resize(kMostShown);
  std::ranges::sort(by_time, {}, &ReportLaunch::id);
  return by_time;
}

}  // namespace

std::string to_html(const std::vector<ReportLaunch>& all) {
  const std::string program = all.empty() ? "" : all[0].of->program.substr(all[0].of->program.rfind('/') + 1);
  std::string s = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Profile of "
      "{0}</title><style>{1}</style></head>\n"
      "<body><h1>Profile of {0}</h1>\n<p class=\"soft\">understudy {2}, {3}. Times, stalls and hit rates are modelled; "
      "counts are exact.</p>\n",
      xml_escaped(program), kStyle, kVersionText, all.empty() ? "no launch" : xml_escaped(all[0].of->residency.device));
  const Shown shown = chosen(all);
  s += overview(all, shown);
  SourceLines sources;
  for (const ReportLaunch* l : shown) s += whole(*l, sources, shown.size() <= 3);
  if (shown.size() < all.size())
    s += fmt::format(
        "<p class=\"note\">Of {} launches the {} are told in full that take longest, and the longest of each "
        "kernel.</p>\n",
        all.size(), shown.size());
  if (const std::string more = without_detail(all); !more.empty())
    s += fmt::format("<p class=\"note\">{}</p>\n", xml_escaped(more));
  return s + fmt::format("<script>{}</script></body></html>\n", kScript);
}

}  // namespace us::tools
