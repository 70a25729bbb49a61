// SPDX-License-Identifier: Apache-2.0
// A launch that ended with a fault: who waits for what, and who is missing.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {
namespace {

constexpr std::size_t kParties = 16;

std::string list(const std::vector<u32>& warps) {
  std::string text;
  for (const u32 w : warps) text += fmt::format("{}{}", text.empty() ? "" : ", ", w);
  return text;
}

// The party that does the same at the same place, or null.
Party* alike(Finding& f, const Party& p) {
  const auto same_frame = [](const probe::Frame& a, const probe::Frame& b) {
    return a.line == b.line && a.column == b.column && a.file == b.file;
  };
  const auto at = std::ranges::find_if(f.parties, [&](const Party& o) {
    return o.action == p.action && o.site.text == p.site.text && o.site.ptx_line == p.site.ptx_line &&
           std::ranges::equal(o.site.frames, p.site.frames, same_frame);
  });
  return at == f.parties.end() ? nullptr : &*at;
}

// Who waits for what: once for all who wait for the same.
void add_wait(Finding& f, Party p, std::string why) {
  const auto what = [](const std::string& w) { return w.substr(std::min(w.size(), w.find(" wait"))); };
  if (Party* const first = alike(f, p))
    first->others++;
  else
    f.parties.push_back(std::move(p));
  const auto same = [&](const std::string& o) { return what(o) == what(why); };
  if (f.why.size() < kParties && std::ranges::none_of(f.why, same)) f.why.push_back(std::move(why));
}

}  // namespace

// Warps that arrived in the phase before, or live and have never come, and are not here.
std::string LaunchChecker::missing_at_barrier(const Cta& c, u32 id, u32 generation) const {
  const NamedBarrier::Phase& now = c.barriers[id].phases[generation & 3];
  const NamedBarrier::Phase& last = c.barriers[id].phases[(generation - 1) & 3];
  u64 here = 0, before = 0, live = 0;
  for (const auto& a : now.arrivals) here |= u64{1} << (a.warp & 31);
  if (generation && last.generation == generation - 1) {
    for (const auto& a : last.arrivals) before |= u64{1} << (a.warp & 31);
  }
  for (u32 w = 0; w < c.warps.size(); w++) {
    if (c.warps[w] && (c.warps[w]->time.live() & ~c.warps[w]->exited)) live |= u64{1} << (w & 31);
  }
  const u64 away = (before ? before & live : live) & ~here;
  std::vector<u32> warps;
  for (u32 w = 0; w < 32; w++) {
    if (away >> w & 1) warps.push_back(w);
  }
  const u32 threads = now.arrivals.empty() ? 0 : now.arrivals[0].threads;
  const std::string expected = threads ? fmt::format("{} of {} warps have come", std::popcount(here), threads / 32)
                                       : fmt::format("{} warps have come", std::popcount(here));
  return warps.empty() ? expected : fmt::format("{}; missing: warp {}", expected, list(warps));
}

std::string LaunchChecker::missing_at_mbarrier(const MbarrierObject& o) const {
  std::string text =
      fmt::format("phase {}: {} of {} arrivals came", o.phase - o.first_phase, o.expected - o.pending, o.expected);
  if (o.tx > 0) text += fmt::format(", {} bytes of transactions are missing", o.tx);
  if (o.tx < 0) text += fmt::format(", {} bytes more were delivered than expected", -o.tx);
  for (const auto& e : o.expects) text += fmt::format("; {} bytes expected {}", e.amount, site_text(e.site));
  for (const auto& d : o.delivered) text += fmt::format("; {} bytes delivered {}", d.amount, site_text(d.site));
  if (o.pending > 0) {
    const auto& all = o.arrived_before;
    for (auto a = all.begin(); a != all.end(); ++a) {  // the first of each place
      const auto same = [&](const auto& b) { return b.site == a->site; };
      if (std::any_of(all.begin(), a, same)) continue;
      const auto others = std::count_if(a, all.end(), same) - 1;
      text += fmt::format("; in the phase before, {}{} arrived {}", thread_text(a->cta, a->warp, a->lane),
                          others ? fmt::format(" and {} others", others) : "", site_text(a->site));
    }
  }
  return text;
}

std::string LaunchChecker::waiting_text(const Cta& c, const Warp& w) const {
  const Waiting& it = w.waiting;
  const std::string who = fmt::format("warp {} of block rank {} (block {})", w.time.warp(), c.rank, c.linear);
  switch (it.what) {
    case Waiting::What::Barrier:
      return fmt::format("{} waits at barrier {}: {}", who, it.id,
                         missing_at_barrier(c, it.id, static_cast<u32>(it.phase)));
    case Waiting::What::ClusterBarrier:
      return fmt::format("{} waits for the barrier of the cluster", who);
    case Waiting::What::Mbarrier: {
      const auto o = c.mbarriers.find(it.address);
      const std::string name = object_text(probe::Space::Shared, it.address, 8, nullptr);
      return fmt::format("{} waits for the mbarrier in {}: {}", who, name,
                         o == c.mbarriers.end() ? "it is not initialised" : missing_at_mbarrier(o->second));
    }
    default:
      return {};
  }
}

// Lanes wait at a barrier of whole warps for others of their warp, which do not come.
void LaunchChecker::part_of_warp(const Cta& c, const Warp& w) {
  const Waiting& it = w.waiting;
  if (it.what != Waiting::What::Barrier || it.id >= c.barriers.size()) return;
  const u32 away = w.time.live() & ~w.exited & ~it.lanes;
  const auto& arrivals = c.barriers[it.id].phases[it.phase & 3].arrivals;
  const auto mine = std::ranges::find_if(arrivals, [&](const auto& a) {
    return a.warp == w.time.warp() && a.site == it.site && a.lanes == it.lanes && a.aligned;
  });
  if (!away || mine == arrivals.end()) return;
  const std::string object = fmt::format("barrier {}", it.id);
  raise(Check::BarrierDivergent,
        {{.action = "barrier",
          .site = it.site,
          .cta = c.key,
          .warp = w.time.warp(),
          .lane = static_cast<u32>(std::countr_zero(it.lanes))}},
        object, object, {fmt::format("lanes {:#010x} of the warp have come, lanes {:#010x} have not", it.lanes, away)},
        "One barrier for all lanes of the warp, outside of the branch.");
}

// Who initialised an mbarrier that others wait for, who came to it, and what it was told to expect and got.
void LaunchChecker::came_to(const MbarrierObject& o, Finding& f) const {
  const auto add = [&](const char* action, const MbarrierObject::Step& s) {
    Party p = party(Actors{.action = action, .site = s.site, .cta = s.cta, .warp = s.warp, .lane = s.lane});
    if (f.parties.size() < 2 * kParties && !alike(f, p)) f.parties.push_back(std::move(p));
  };
  if (o.init.site) add("mbarrier.init", o.init);
  std::vector<u32> told;
  const auto once = [&](const char* action, const std::vector<MbarrierObject::Step>& steps) {
    for (const auto& s : steps) {
      if (std::ranges::find(told, s.site) == told.end()) told.push_back(s.site), add(action, s);
    }
  };
  once("mbarrier.arrive", o.arrivals), once("mbarrier.expect_tx", o.expects), once("copy", o.delivered);
}

void LaunchChecker::fault(const probe::Fault& fault, const std::string& text) {
  if (fault.refused != probe::Refused::Deadlock) return refused(fault, text);
  Finding f;
  f.check = Check::Deadlock, f.launch = info_->id, f.kernel = info_->kernel;
  std::vector<const MbarrierObject*> objects;  // that somebody waits for, or that got bytes which nobody expects
  each_cluster([&](const Cluster& cluster) {
    for (const auto& c : cluster.ctas) {
      if (!c) continue;
      mbarriers_at_end(*c, true);
      std::vector<u64> waited;
      for (const auto& w : c->warps) {
        if (!w || w->waiting.what == Waiting::What::Nothing) continue;
        if (f.parties.size() >= kParties) continue;
        part_of_warp(*c, *w);
        const Actors who{
            .action = "wait", .site = w->waiting.site, .cta = c->key, .warp = w->time.warp(), .lane = kEveryLane};
        add_wait(f, party(who), waiting_text(*c, *w));
        if (w->waiting.what == Waiting::What::Mbarrier) waited.push_back(w->waiting.address);
      }
      for (const auto& [offset, o] : c->mbarriers) {
        const bool asked = std::ranges::find(waited, offset) != waited.end();
        if (o.live && (asked || (o.tx < 0 && !o.delivered.empty()))) objects.push_back(&o);
      }
    }
  });
  for (const probe::Fault::Spin& s : fault.spins) {
    if (f.parties.size() >= kParties) break;
    const Actors who{.action = "wait", .site = s.site, .cta = key(s.cta), .warp = s.warp, .lane = kEveryLane};
    add_wait(f, party(who),
             fmt::format("{} waits for what others must do: {}", thread_text(who.cta, who.warp, who.lane),
                         site_text(who.site)));
  }
  // The device's words, where no warp's place is known: it has only the lines of inlined functions.
  f.why.insert(f.why.begin(), f.parties.empty() ? text : text.substr(0, text.find('\n')));
  for (const MbarrierObject* o : objects) came_to(*o, f);
  const Collector::Key k{f.check, info_->kernel, 0, 0, ""};
  if (process_.collector.count(k, 0)) process_.collector.keep(k, std::move(f));
}

}  // namespace us::sanitizer
