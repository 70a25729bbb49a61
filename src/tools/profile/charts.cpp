// SPDX-License-Identifier: Apache-2.0
#include "tools/profile/charts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "timing/metrics.h"
#include "timing/parameters.h"
#include "tools/profile/flops.h"
#include "tools/profile/report.h"
#include "tools/profile/svg.h"

namespace us::tools {
namespace {

using timing::AccessKind, timing::LaunchProfile;

std::string with_prefix(double n, double step, const char* unit) {
  constexpr const char* kPrefixes[] = {"", "k", "M", "G", "T", "P"};
  std::size_t k = 0;
  for (; n >= step && k + 1 < std::size(kPrefixes); ++k) n /= step;
  return fmt::format("{:.{}f} {}{}", n, n < 10 && k ? 1 : 0, kPrefixes[k], unit);
}

// A picture whose both axes count decades.
struct Decades {
  double x0, x1, y0, y1;  // powers of ten
  double left = 90, right = 620, top = 14, bottom = 290;
  double x(double v) const { return left + (right - left) * (std::log10(v) - x0) / (x1 - x0); }
  double y(double v) const { return bottom - (bottom - top) * (std::log10(v) - y0) / (y1 - y0); }
  void axes(Svg& s, const char* x_name, const char* unit) const {
    for (double d = x0; d <= x1; ++d) {
      s.line(x(std::pow(10, d)), top, x(std::pow(10, d)), bottom, "grid");
      s.text(x(std::pow(10, d)), bottom + 16, fmt::format("{:g}", std::pow(10, d)), "mid");
    }
    for (double d = y0; d <= y1; ++d) {
      s.line(left, y(std::pow(10, d)), right, y(std::pow(10, d)), "grid");
      s.text(left - 6, y(std::pow(10, d)) + 4, with_prefix(std::pow(10, d), 1000, unit), "end");
    }
    s.text((left + right) / 2, bottom + 34, x_name, "mid");
  }
};

double sum(const LaunchProfile& p, AccessKind kind, u64 timing::GlobalAccesses::*what) {
  u64 n = 0;
  for (const auto& s : p.sites)
    if (s.kind == kind) n += s.global.*what;
  return static_cast<double>(n);
}

timing::SharedAccesses all_shared(const LaunchProfile& p) {
  timing::SharedAccesses all;
  for (const auto& s : p.sites) all += s.shared;
  return all;
}

constexpr double kBox = 130;  // the width of one

void box(Svg& s, double x, double y, double height, const char* name, const std::vector<std::string>& lines) {
  s.rect(x, y, kBox, height, "box").text(x + kBox / 2, y + 20, name, "mid strong");
  double at = y + 38;
  for (const std::string& l : lines) s.text(x + kBox / 2, at, l, "mid"), at += 16;
}

void arrow(Svg& s, double x1, double x2, double y, const std::string& told) {
  const double tip = x2 > x1 ? -7 : 7;
  s.line(x1, y, x2, y, "flow").path({{x2, y}, {x2 + tip, y - 4}, {x2 + tip, y + 4}}, "flow");
  s.text((x1 + x2) / 2, y - 6, told, "mid");
}

std::string percent(double part, double all) { return all > 0 ? fmt::format("{:.1f} %", 100 * part / all) : "n/a"; }

}  // namespace

std::string bytes_text(double bytes) { return with_prefix(bytes, 1000, "B"); }

std::string roofline_chart(const LaunchProfile& p) {
  const Flops flops = flops_of(p);
  const double seconds = static_cast<double>(p.time.picoseconds) * 1e-12;
  const double bytes = static_cast<double>(p.time.dram_read + p.time.dram_written);
  if (!p.no_time.empty() || seconds <= 0 || bytes <= 0) return "";
  const timing::Parameters& device = timing::parameters_of(p.residency.device);
  const double memory = device.dram_peak * 1e9;
  const Decades at{-2, 4, 9, 15};
  Svg s(780, 340, "Roofline");
  at.axes(s, "operations for each byte of DRAM", "FLOP/s");
  bool any = false;
  for (const FlopRow& r : flop_rows()) {
    if (flops[r.kind] <= 0 && r.kind != FlopKind::Fp32) continue;
    const double peak = r.peak * p.residency.sms * device.sm_clock * 1e9;
    s.path({{at.x(1e-2), at.y(memory * 1e-2)}, {at.x(peak / memory), at.y(peak)}, {at.right, at.y(peak)}}, "roof");
    s.text(at.right + 4, at.y(peak) + 4, r.name);
    if (flops[r.kind] <= 0) continue;
    const double x = std::clamp(flops[r.kind] / bytes, 1e-2, 1e4), y = std::clamp(flops[r.kind] / seconds, 1e9, 1e15);
    s.dot(at.x(x), at.y(y), "point",
          fmt::format("{}: {} at {:.3g} operations a byte, {} of what is possible", r.name,
                      with_prefix(flops[r.kind] / seconds, 1000, "FLOP/s"), flops[r.kind] / bytes,
                      percent(flops[r.kind] / seconds, std::min(peak, memory * flops[r.kind] / bytes))));
    any = true;
  }
  return any ? s.done() : "";
}

std::string memory_chart(const LaunchProfile& p) {
  using G = timing::GlobalAccesses;
  const double read = sum(p, AccessKind::Load, &G::sectors) + sum(p, AccessKind::Copy, &G::sectors);
  const double written = sum(p, AccessKind::Store, &G::sectors), atomic = sum(p, AccessKind::Atomic, &G::sectors);
  const timing::SharedAccesses shared = all_shared(p);
  if (read + written + atomic <= 0 && !shared.requests) return "";
  const bool timed = p.no_time.empty() && p.time.cycles;
  Svg s(780, 250, "Memory");
  box(s, 0, 10, 220, "kernel", {});
  box(s, 230, 10, 110, "L1",
      {"hits " +
       (timed ? percent(static_cast<double>(p.time.l1_hits), static_cast<double>(p.time.l1_sectors)) : "n/a")});
  box(s, 230, 140, 90, "shared memory",
      {with_prefix(static_cast<double>(shared.wavefronts), 1000, "wavefronts"),
       with_prefix(static_cast<double>(shared.conflicts()), 1000, "conflicts")});
  box(s, 650, 10, 110, "DRAM",
      {timed ? with_prefix(static_cast<double>(p.time.dram_read + p.time.dram_written) /
                               static_cast<double>(p.time.picoseconds) * 1e12,
                           1000, "B/s")
             : "n/a"});
  const double misses =
      p.time.l1_sectors ? 1 - static_cast<double>(p.time.l1_hits) / static_cast<double>(p.time.l1_sectors) : 1;
  arrow(s, 230, 130, 50, "loads " + bytes_text(32 * read));
  arrow(s, 130, 230, 80, "stores " + bytes_text(32 * written));
  arrow(s, 130, 230, 110, "atomics " + bytes_text(32 * atomic));
  arrow(s, 130, 230, 190, with_prefix(static_cast<double>(shared.requests), 1000, "requests"));
  arrow(s, 440, 360, 50, timed ? bytes_text(32 * read * misses) : "n/a");
  arrow(s, 360, 440, 80, bytes_text(32 * written));
  arrow(s, 360, 440, 110, bytes_text(32 * atomic));
  const double asked = 32 * read * misses, given = static_cast<double>(p.time.dram_read);
  box(s, 440, 10, 110, "L2", {"loads found " + (timed ? percent(std::max(0.0, asked - given), asked) : "n/a")});
  arrow(s, 650, 570, 50, timed ? bytes_text(static_cast<double>(p.time.dram_read)) : "n/a");
  arrow(s, 570, 650, 80, timed ? bytes_text(static_cast<double>(p.time.dram_written)) : "n/a");
  return s.done();
}

std::string stall_chart(const LaunchProfile& p) {
  std::vector<std::pair<u64, timing::Stall>> of;
  u64 all = 0;
  for (u32 k = 0; k < timing::kStalls; ++k) {
    all += p.time.stalls[k];
    if (p.time.stalls[k]) of.push_back({p.time.stalls[k], static_cast<timing::Stall>(k)});
  }
  if (!all || !p.no_time.empty()) return "";
  std::ranges::sort(of, std::greater());
  Svg s(780, 22.0 * static_cast<double>(of.size()) + 8, "Stalls");
  double y = 4;
  for (const auto& [cycles, stall] : of) {
    const double part = static_cast<double>(cycles) / static_cast<double>(all);
    s.text(150, y + 13, name_of(stall), "end")
        .rect(160, y, 460 * part, 17, stall == timing::Stall::Selected ? "work" : "bar");
    s.text(166 + 460 * part, y + 13,
           fmt::format("{:.1f} %, {:.2f} cycles for each instruction", 100 * part,
                       static_cast<double>(cycles) / static_cast<double>(std::max<u64>(1, p.time.issued))));
    y += 22;
  }
  return s.done();
}

// How many CTAs of the replayed multiprocessors run, over time.
std::string waves_chart(const LaunchProfile& p) {
  std::map<std::pair<u32, u32>, std::pair<u64, u64>> ctas;  // of a multiprocessor and CTA: begin, end
  u64 end = 0;
  for (const timing::ReplayedWarp& w : p.replay) {
    const auto [it, fresh] = ctas.try_emplace({w.sm, w.cta}, std::pair(w.begin, w.end));
    it->second = {std::min(it->second.first, w.begin), std::max(it->second.second, w.end)};
    end = std::max(end, w.end);
  }
  if (ctas.empty() || !end) return "";
  std::map<u32, std::map<u64, int>> changes;
  for (const auto& [of, span] : ctas) ++changes[of.first][span.first], --changes[of.first][span.second];
  int most = 1;
  for (auto& [sm, list] : changes)
    for (int now = 0; const auto& [at, change] : list) most = std::max(most, now += change);
  Svg s(780, 70.0 * static_cast<double>(changes.size()) + 24, "Waves");
  double bottom = 66;
  const auto x = [&](u64 at) { return 80 + 680 * static_cast<double>(at) / static_cast<double>(end); };
  for (const auto& [sm, list] : changes) {
    s.text(72, bottom - 20, fmt::format("SM {}", sm), "end")
        .text(72, bottom - 4, fmt::format("of {} CTAs", most), "end");
    int now = 0;
    Svg::Points line{{x(0), bottom}};
    for (const auto& [at, change] : list) {
      line.push_back({x(at), bottom - 50.0 * now / most});
      line.push_back({x(at), bottom - 50.0 * (now += change) / most});
    }
    s.line(80, bottom, 760, bottom, "axis").path(line, "area");
    bottom += 70;
  }
  s.text(80, bottom - 50, "0")
      .text(760, bottom - 50, fmt::format("{} cycles", number_text(static_cast<double>(end))), "end");
  return s.done();
}

}  // namespace us::tools
