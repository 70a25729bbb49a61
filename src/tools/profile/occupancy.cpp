// SPDX-License-Identifier: Apache-2.0
// How many warps a multiprocessor has room for, over what a block takes.
#include <algorithm>
#include <functional>

#include "driver/code/occupancy.h"
#include "driver/preset.h"
#include "tools/profile/charts.h"
#include "tools/profile/svg.h"

namespace us::tools {
namespace {

using driver::BlockNeeds, driver::DeviceSpec;

struct Curve {
  const char* title;
  u64 from, to, step, now;
  std::function<BlockNeeds(u64)> needs;
};

u32 warps_at(const DeviceSpec& d, const Curve& c, u64 v) {
  const BlockNeeds n = c.needs(v);
  return driver::blocks_per_sm(d, n) * ((n.threads + 31) / 32);
}

std::string draw(const DeviceSpec& d, const Curve& c) {
  const double most = d.max_threads_per_sm / 32.0;
  Svg s(390, 190, c.title);
  const auto x = [&](u64 v) { return 36 + 340 * static_cast<double>(v - c.from) / static_cast<double>(c.to - c.from); };
  const auto y = [&](double warps) { return 150 - 130 * warps / most; };
  for (double w = 0; w <= most; w += most / 4)
    s.line(36, y(w), 376, y(w), "grid").text(30, y(w) + 4, fmt::format("{:g}", w), "end");
  Svg::Points line;
  for (u64 v = c.from; v <= c.to; v += c.step) {
    if (!line.empty()) line.push_back({x(v), line.back().second});
    line.push_back({x(v), y(warps_at(d, c, v))});
  }
  s.path(line, "curve").text(36, 168, fmt::format("{}", c.from)).text(376, 168, fmt::format("{}", c.to), "end");
  s.text(206, 184, c.title, "mid");
  if (c.now >= c.from && c.now <= c.to)
    s.dot(x(c.now), y(warps_at(d, c, c.now)), "point", fmt::format("now {}: {} warps", c.now, warps_at(d, c, c.now)));
  return s.done();
}

}  // namespace

std::string occupancy_charts(const timing::LaunchProfile& p) {
  const auto preset = std::ranges::find(driver::presets(), p.residency.device, &driver::Preset::name);
  if (preset == driver::presets().end() || !p.residency.registers) return "";
  const DeviceSpec d = driver::spec_of(*preset);
  const u32 threads = p.block[0] * p.block[1] * p.block[2], registers = p.residency.registers;
  const u64 shared = p.shared_static + p.shared_dynamic;
  const auto needs = [](u64 t, u64 r, u64 s) { return BlockNeeds{static_cast<u32>(t), static_cast<u32>(r), s}; };
  const Curve curves[] = {
      {"registers of a thread", 16, d.max_regs_per_thread, 1, std::max(16u, registers),
       [&](u64 v) { return needs(threads, v, shared); }},
      {"bytes of shared memory of a block", 0, d.shared_per_block_optin, 512, shared,
       [&](u64 v) { return needs(threads, registers, v); }},
      {"threads of a block", 32, d.max_threads_per_block, 32, threads,
       [&](u64 v) { return needs(v, registers, shared); }},
  };
  std::string s;
  for (const Curve& c : curves) s += draw(d, c);
  return s;
}

}  // namespace us::tools
