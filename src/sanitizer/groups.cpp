// SPDX-License-Identifier: Apache-2.0
// Groups of asynchronous copies and of matrix instructions: committed, waited for, left behind.
#include <fmt/format.h>

#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Copies;

void LaunchChecker::landed(Segments& table, std::vector<u32>& segments, Warp& w, u32 lane) {
  for (const u32 n : segments) {
    Segment& s = table.copy(n);
    s.slot = w.time.warp(), s.clock = w.time.touch(), s.lane = static_cast<u8>(lane);
  }
  segments.clear();
}

void LaunchChecker::landed(const At& p, CopyGroup& g, u32 lane, bool writes) {
  landed(p.cluster->segments, g.shared_reads, *p.warp, lane);
  landed(process_.segments, g.global_reads, *p.warp, lane);
  if (!writes) return;
  landed(p.cluster->segments, g.shared_writes, *p.warp, lane);
  landed(process_.segments, g.global_writes, *p.warp, lane);
}

void LaunchChecker::copies(const probe::Who& who, const Copies& c) {
  if (c.kind == Copies::Kind::Delivered || c.kind == Copies::Kind::Exited) return;
  const std::lock_guard held(process_.lock);
  const At p = not_ordinary(who);
  auto& all = c.bulk ? p.warp->copies.bulk : p.warp->copies.plain;
  if (!c.bulk) {
    if (c.kind == Copies::Kind::Committed) {
      commits(p, who);
    } else {
      p.warp->copies.last_commit = {};
    }
  }
  if (row_groups(p, who, c)) return;
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(rest));
    const auto found = all.find(lane);
    if (c.kind == Copies::Kind::Committed) {
      GroupsOfLane& g = all[lane];
      g.committed.push_back(std::move(g.open));
      g.open = {};
      continue;
    }
    if (found == all.end()) continue;
    GroupsOfLane& g = found->second;
    const std::size_t left = c.id == ~u64{0} ? 0 : static_cast<std::size_t>(c.id);
    const std::size_t done = g.committed.size() > left ? g.committed.size() - left : 0;
    for (std::size_t i = 0; i < done; i++) landed(p, g.committed[i], lane, !c.read_only);
    if (c.id == ~u64{0}) landed(p, g.open, lane, !c.read_only);
    while (!g.committed.empty() && g.committed.front().empty() && g.committed.size() > left) g.committed.pop_front();
  }
}

// Lanes that commit apart from the lanes before them, with no wait between: a warp's groups are counted together.
void LaunchChecker::commits(const At& p, const probe::Who& who) {
  LastCommit& last = p.warp->copies.last_commit;
  if (last.lanes && !(last.lanes & who.lanes) && last.site != who.site) {
    const auto tell = [&](u32 site, u32 lanes) {
      probe::Who then = who;
      then.site = site, then.lanes = lanes;
      raise(Check::AsyncCommit, {actor(then, static_cast<u32>(std::countr_zero(lanes)), "commit")}, "commit",
            fmt::format("lanes {:#010x} of {:#010x}", lanes, who.live),
            {"lanes of one warp commit one after the other: a wait may cover more copies than was meant"},
            "Commit where the lanes of the warp are together.");
    };
    tell(last.site, last.lanes);
    tell(who.site, who.lanes);
  }
  last = {who.site, who.lanes};
}

void LaunchChecker::copies_at_exit(const At& p, const probe::Who& who) {
  if (p.warp->copies.bulk.empty()) return;
  for (u32 rest = who.lanes; rest; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(rest));
    const auto found = p.warp->copies.bulk.find(lane);
    if (found == p.warp->copies.bulk.end()) continue;
    const Segment* open = nullptr;
    const auto look = [&](const CopyGroup& g) {
      for (const u32 n : g.shared_reads) {
        if (!open) open = &p.cluster->segments.copy(n);
      }
    };
    look(found->second.open);
    for (const CopyGroup& g : found->second.committed) look(g);
    if (!open) continue;
    probe::Who issuer = who;
    issuer.site = open->site;
    raise(Check::AsyncExit, {actor(issuer, lane, "bulk copy")}, "bulk", "shared memory of the block",
          {"its thread exits, and the copy may still read the shared memory of the block"},
          "cp.async.bulk.wait_group.read 0 before the exit.");
  }
}

// cp.async.mbarrier.arrive: the copies of the lane so far, and nothing else, are behind the phase.
void LaunchChecker::copies_arrive(const At& p, u32 lane, const Cta& owner, const MbarrierObject& o) {
  split_rows(p);
  const auto found = p.warp->copies.plain.find(lane);
  if (found == p.warp->copies.plain.end()) return;
  const auto announce = [&](Segments& table, const std::vector<u32>& segments) {
    for (const u32 n : segments) {
      Segment& s = table.copy(n);
      if (s.also_slot) continue;
      s.also_slot = o.slot, s.also_clock = static_cast<Clock>(o.phase), s.also_cta = owner.key, s.reports = true;
    }
  };
  const auto group = [&](const CopyGroup& g) {
    announce(p.cluster->segments, g.shared_reads), announce(p.cluster->segments, g.shared_writes);
    announce(process_.segments, g.global_reads), announce(process_.segments, g.global_writes);
  };
  group(found->second.open);
  for (const CopyGroup& g : found->second.committed) group(g);
}

void LaunchChecker::sums_read_early(const probe::Who& who, u32 lane) {
  if (who.site == probe::kNoSite || !info_->read_early) return;
  const auto [at, first] = read_early_.try_emplace(who.site, probe::kNoSite);
  if (first) at->second = info_->read_early(who.site);
  if (at->second == probe::kNoSite) return;
  Actors reader = actor(who, lane, "read");
  reader.site = at->second;
  raise(Check::WgmmaWait, {reader, actor(who, lane, "wgmma")}, "wgmma", "the sums of wgmma.mma_async in registers",
        {"they are there when wgmma.wait_group has said so for the group of the wgmma; until then they may be old or "
         "new"},
        "wgmma.wait_group before they are used.");
}

void LaunchChecker::matrix(const probe::Who& who, const probe::Matrix& m) {
  const std::lock_guard held(process_.lock);
  const At p = at(who);
  if (spent(p)) return;
  auto& groups = p.warp->wgmma;
  p.warp->time.sync(p.warp->time.live());  // all of its instructions are .sync.aligned
  if (groups.empty()) groups.emplace_back();
  const Telling telling(*this, who);
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes ? who.lanes : 1));
  if (m.kind == probe::Matrix::Kind::Issue) {
    if (!p.warp->wgmma_fence) {
      raise(Check::WgmmaFence, {actor(who, lane, "wgmma")}, "wgmma", "registers of the warpgroup",
            {"no wgmma.fence by this warp lies before its first wgmma.mma_async"},
            "wgmma.fence.sync.aligned before it.");
    }
    sums_read_early(who, lane);
    Flight f = flight(p, who, lane, Manner::Async, false);
    f.by.by_lane = kEveryLane, f.by.matrix = true;
    u32 segment = 0;
    for (const probe::Range& r : m.operands) {
      if (r.space != probe::Space::Shared) continue;
      if (!segment) segment = p.cluster->segments.add_copy(f.by), groups.back().push_back(segment);
      check_pushed(p, who, r, false, lane);
      mark(p, who, r, false, segment, f);
    }
  } else if (m.kind == probe::Matrix::Kind::Commit) {
    groups.emplace_back();
  } else {
    while (groups.size() > m.left + 1) {
      landed(p.cluster->segments, groups.front(), *p.warp, kEveryLane);
      groups.erase(groups.begin());
    }
  }
}

}  // namespace us::sanitizer
