// SPDX-License-Identifier: Apache-2.0
// Shared memory of other blocks of a cluster: they must have started, and must not exit before. Nor must a block whose
// own shared memory a copy reads or writes that reports to an mbarrier.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

void LaunchChecker::visit(const At& p, const probe::Who& who, Cta& owner, u32 lanes, u32 segment, bool awaited) {
  const u32 lane = static_cast<u32>(std::countr_zero(lanes));
  const std::string object = fmt::format("shared memory of block rank {}", owner.rank);
  if (owner.ended) {
    raise(Check::ClusterExit, {actor(who, lane, "access")}, "ended", object, {"the block has exited"},
          "A barrier of the cluster before the block exits.");
    return;
  }
  const u32 fresh = lanes & ~p.warp->peers_started;
  if (fresh && !p.warp->time.knows_of(lane, owner.key)) {
    raise(Check::ClusterExit, {actor(who, lane, "access")}, "start", object,
          {"nothing tells this thread that the block has started"}, "cluster.sync() before the first access.");
  }
  p.warp->peers_started |= lanes;
  if (!awaited) visited(p, who, owner, lanes, segment);
}

void LaunchChecker::visited(const At& p, const probe::Who& who, Cta& owner, u32 lanes, u32 segment) {
  const Segment& by = p.cluster->segments[segment];
  for (auto v = owner.visits.rbegin(); v != owner.visits.rend(); ++v) {
    if (v->segment == segment) {
      v->lanes |= lanes, v->before = std::max(v->before, p.warp->cluster_next);
      return;
    }
    // Who knows what these lanes did last knows what they did before.
    const Segment& s = p.cluster->segments[v->segment];
    if (v->lanes != lanes || by.copy || s.copy || s.cta != by.cta || s.slot != by.slot || s.lane != by.lane) continue;
    *v = {segment, lanes, who.site, std::max(v->before, p.warp->cluster_next)};
    return;
  }
  // Those that the block knows of by now need not be asked for again. Not looked for at each that is not known.
  if (owner.visits.size() >= owner.most_visits) {
    std::erase_if(owner.visits, [&](const Visit& v) { return visit_known(*p.cluster, owner, v) == 0; });
    owner.most_visits = std::max(kVisits, 2 * owner.visits.size());
  }
  owner.visits.push_back({segment, lanes, who.site, p.warp->cluster_next});
}

// Lanes of a visit that no thread of the visited block knows of.
u32 LaunchChecker::visit_known(const Cluster& cluster, const Cta& owner, const Visit& v) const {
  u32 unknown = v.lanes;
  for (const auto& w : owner.warps) {
    if (!w) continue;
    for (u32 rest = unknown; rest; rest &= rest - 1) {
      if (w->time.any_knows(cluster.segments[v.segment], static_cast<u32>(std::countr_zero(rest))))
        unknown &= ~(rest & -rest);
    }
  }
  return unknown;
}

void LaunchChecker::leave_cluster(const At& p, const probe::Who& who) {
  for (const Visit& v : p.cta->visits) {
    const Segment& by = p.cluster->segments[v.segment];
    if (!by.copy && p.cta->cluster_left > v.before) continue;  // relaxed arrivals keep the block, too
    const auto surplus = [&](const auto& m) { return m.second.surplus && m.second.slot == by.slot; };
    if (by.reports && std::any_of(p.cta->mbarriers.begin(), p.cta->mbarriers.end(), surplus)) continue;
    const u32 unknown = visit_known(*p.cluster, *p.cta, v);
    if (!unknown) continue;
    if (by.by_cta == p.cta->key) {
      lent(p, v);
      continue;
    }
    const Segment& s = p.cluster->segments[v.segment];
    probe::Who exit = who;
    exit.site = probe::kNoSite;
    raise(Check::ClusterExit,
          {actor(exit, 0, "exit of the block"),
           {.action = "access",
            .site = v.site,
            .cta = s.cta,
            .warp = s.slot < kFirstAgent ? s.slot : s.by_warp,
            .lane = static_cast<u32>(std::countr_zero(unknown))}},
          "exit", fmt::format("shared memory of block rank {}", p.cta->rank),
          {"no thread of the block waits for the access before the block exits"},
          "cluster.sync() before the block ends.");
  }
}

// A copy of the block's own shared memory that no thread of it knows the end of. A relaxed wait keeps the block, too,
// and so may the cluster's barrier, whatever its arrivals publish.
void LaunchChecker::lent(const At& p, const Visit& v) {
  if (p.cta->cluster_left > v.before) return;
  const Segment& s = p.cluster->segments[v.segment];
  const auto waited = [&](const auto& m) { return m.second.slot == s.slot && m.second.seen > s.clock; };
  if (s.cta == p.cta->key && std::ranges::any_of(p.cta->mbarriers, waited)) return;
  raise(Check::AsyncExit,
        {{.action = "bulk copy", .site = v.site, .cta = s.by_cta, .warp = s.by_warp, .lane = s.by_lane}}, "lent",
        "shared memory of the block",
        {"no thread of the block waits for it before the block exits, and it may still use the shared memory of the "
         "block"},
        "A wait for the mbarrier that the copy reports to; where another block waits, cluster.sync() behind that.");
}

}  // namespace us::sanitizer
