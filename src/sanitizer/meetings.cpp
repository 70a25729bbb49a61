// SPDX-License-Identifier: Apache-2.0
// Warp syncs, the barriers of a block and of a cluster.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Meeting;

namespace {
u32 first_of(u32 lanes) { return static_cast<u32>(std::countr_zero(lanes)); }
}  // namespace

void LaunchChecker::meeting(const probe::Who& who, const Meeting& m) {
  const std::lock_guard held(process_.lock);
  const bool barrier = m.kind == Meeting::Kind::WarpSync || m.kind == Meeting::Kind::BarrierArrive ||
                       m.kind == Meeting::Kind::BarrierLeave || m.kind == Meeting::Kind::BarrierDone;
  const At p = barrier ? usual(who) : at(who);
  switch (m.kind) {
    case Meeting::Kind::WarpSync:
      return warp_sync(p, who, m);
    case Meeting::Kind::BarrierArrive:
      return barrier_arrive(p, who, m);
    case Meeting::Kind::BarrierLeave:
      return barrier_leave(p, who, m);
    case Meeting::Kind::BarrierDone:
      return barrier_done(*p.cta, m);
    case Meeting::Kind::ClusterArrive:
      return cluster_arrive(p, who, m);
    case Meeting::Kind::ClusterLeave:
      return cluster_leave(p, who, m);
    case Meeting::Kind::GridWait:
      return grid_wait(p, who.lanes);
    case Meeting::Kind::RegisterPool:
      return register_pool(p, who, m);
    case Meeting::Kind::GridTrigger:
      return;
  }
}

void LaunchChecker::not_converged(const probe::Who& who, const char* instruction) {
  raise(Check::WarpConverged, {actor(who, static_cast<u32>(std::countr_zero(who.lanes)), instruction)}, "warp",
        fmt::format("lanes {:#010x} of {:#010x}", who.lanes, who.live),
        {"the instruction is .aligned: all lanes of the warp execute it together"});
}

void LaunchChecker::warp_sync(const At& p, const probe::Who& who, const Meeting& m) {
  u32 members = m.members ? m.members : who.lanes;
  if (const u32 out = who.lanes & ~members) {
    raise(Check::WarpMask, {actor(who, static_cast<u32>(std::countr_zero(out)), "warp instruction")}, "mask",
          fmt::format("mask {:#010x}", members),
          {fmt::format("lanes {:#010x} execute it; the mask names {:#010x}", who.lanes, members)},
          "A mask that names every lane that executes the instruction.");
    members |= out;  // a warp that is together goes on together
  }
  if (m.differ) {
    raise(Check::WarpMask, {actor(who, static_cast<u32>(std::countr_zero(who.lanes)), "warp instruction")}, "mask",
          fmt::format("mask {:#010x}", members), {fmt::format("it names a lane whose mask is {:#010x}", m.differ)},
          "One mask for all that meet.");
  }
  passed_by(p, who, members);
  p.warp->time.sync(members & p.warp->time.live());
}

// Lanes of one warp in one phase, at different instructions that are for whole warps.
void LaunchChecker::divergent_barrier(const At& p, const probe::Who& who, const NamedBarrier::Phase& phase,
                                      const std::string& object) {
  for (const NamedBarrier::Arrival& a : phase.arrivals) {
    if (a.warp != who.warp || a.site == who.site || a.lanes & who.lanes || !a.aligned) continue;
    raise(Check::BarrierDivergent,
          {actor(who, static_cast<u32>(std::countr_zero(who.lanes)), "barrier"),
           {.action = "barrier",
            .site = a.site,
            .cta = p.cta->key,
            .warp = a.warp,
            .lane = static_cast<u32>(std::countr_zero(a.lanes))}},
          object, object, {fmt::format("lanes of warp {} come to different instructions", who.warp)},
          "One barrier behind the branches, or one that is not .aligned.");
    return;
  }
}

// A whole warp at a barrier of all threads, like those before it: nothing is wrong with that, and what it knows is
// looked at when all are there.
bool LaunchChecker::whole_arrival(const At& p, const probe::Who& who, const Meeting& m) {
  if (m.id >= 16 || m.threads || m.arrive_only || !m.aligned || who.lanes != who.live) return false;
  WarpTime& time = p.warp->time;
  NamedBarrier& b = p.cta->barriers[m.id];
  NamedBarrier::Phase& phase = b.phase(m.generation);
  if (!phase.whole || phase.done || time.live() != who.lanes || !time.together()) return false;
  if (m.generation > 0 && !(b.agent && time.common().own.floor_knows(b.agent, m.generation - 1))) return false;
  if (!b.agent) b.agent = p.cta->agents++;
  part(*p.cta, phase, who);
  phase.arrivals.push_back({who.warp, who.lanes, who.live, who.site, 0, false, true});
  p.warp->waiting = {
      .what = Waiting::What::Barrier, .site = who.site, .lanes = who.lanes, .id = m.id, .phase = m.generation};
  return true;
}

// Somebody comes otherwise: those who have come tell what they know one by one.
void LaunchChecker::in_parts(Cta& cta, NamedBarrier::Phase& phase) {
  if (!phase.whole) return;
  phase.whole = false;
  phase.known.own.cta = cta.key;
  for (const NamedBarrier::Arrival& a : phase.arrivals)
    cta.warps[a.warp]->time.gather(a.lanes, phase.known, WarpTime::Exited::Counted);
}

// True: every warp of the CTA has come whole, and knows now what all did.
bool LaunchChecker::meet_whole(Cta& cta, NamedBarrier::Phase& phase, u32 agent, u32 generation) {
  if (!phase.whole || !cta.exits.empty() || phase.arrivals.size() != cta.warps.size() || phase.arrivals.empty())
    return false;
  for (const auto& w : cta.warps)
    if (!w || w->exited || !w->time.together()) return false;
  meet(cta, agent, generation);
  return true;
}

// All of its warps do, at a barrier whose agent this is.
void LaunchChecker::meet(Cta& cta, u32 agent, u32 generation) {
  meeting_.clear(cta.key), meeting_pushed_ = {};
  for (const auto& w : cta.warps) w->time.meet(meeting_, meeting_pushed_);  // mostly they know the same
  for (const auto& w : cta.warps) meeting_.raise(w->time.warp(), w->time.tick());
  meeting_.raise(agent, generation + 1);
  for (const auto& w : cta.warps) w->time.met(meeting_, meeting_pushed_);
  all_met(cta);
}

// All that the warps did is known to all of them then. Nothing was done since they met last: nothing is to be known but
// that the phase is over, which is put down when something is done again.
bool LaunchChecker::all_meet(const probe::Who& who, u32 generation) {
  const std::lock_guard held(process_.lock);
  Cta& cta = block(who);
  if (cta.quiet && cta.phases() == generation) {
    cta.met++;
    prepare_usual(cta);
    return true;
  }
  cta.plain = false;
  NamedBarrier& b = cta.barriers[0];
  const auto whole = [](const auto& w) { return w && !w->exited && w->time.together(); };
  if (cta.phases() != generation || !cta.exits.empty() || !std::ranges::all_of(cta.warps, whole))
    return tell_phases(cta), false;
  if (!b.agent) b.agent = cta.agents++;
  meet(cta, b.agent, generation);
  for (const auto& w : cta.warps) w->ordinary.forget();
  cta.met++;
  cta.quiet = true, cta.told = cta.phases();
  prepare_usual(cta);
  return true;
}

void LaunchChecker::tell_phases(Cta& cta) {
  if (cta.told == cta.phases()) return;
  View over(cta.key);
  over.own.raise(cta.barriers[0].agent, cta.told = cta.phases());
  for (const auto& w : cta.warps)
    if (w) w->time.acquire(w->time.live(), over);
}

void LaunchChecker::barrier_arrive(const At& p, const probe::Who& who, const Meeting& m) {
  if (m.id == 0) tell_phases(*p.cta);
  if (whole_arrival(p, who, m)) return;
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  const std::string object = "barrier " + std::to_string(m.id);
  if (m.id >= 16) {
    raise(Check::BarrierCount, {actor(who, lane, "barrier")}, object, object, {"a block has the barriers 0 to 15"});
    return;
  }
  NamedBarrier& b = p.cta->barriers[m.id];
  if (!b.agent) b.agent = p.cta->agents++;
  NamedBarrier::Phase& phase = b.phase(m.generation);
  in_parts(*p.cta, phase);
  if (m.threads % 32) {
    raise(Check::BarrierCount, {actor(who, lane, "barrier")}, object, object,
          {fmt::format("its number of threads, {}, is no multiple of 32", m.threads)});
  }
  const auto other =
      std::find_if(phase.arrivals.begin(), phase.arrivals.end(), [&](const auto& a) { return a.threads != m.threads; });
  if (other != phase.arrivals.end()) {
    raise(Check::BarrierCount,
          {actor(who, lane, "barrier"),
           {.action = "barrier",
            .site = other->site,
            .cta = p.cta->key,
            .warp = other->warp,
            .lane = static_cast<u32>(std::countr_zero(other->lanes))}},
          object, object,
          {fmt::format("one expects {} threads, the other {} (0: all of the block)", m.threads, other->threads)});
  }
  WarpTime& time = p.warp->time;
  const bool twice = std::any_of(phase.arrivals.begin(), phase.arrivals.end(),
                                 [&](const auto& a) { return a.only && a.warp == who.warp && a.lanes & who.lanes; });
  const NamedBarrier::Phase& last = b.phases[(m.generation - 1) & 3];
  const bool filled_twice = m.generation > 0 && last.generation == m.generation - 1 && last.twice;
  const bool unknown = m.generation > 0 && !time.knows_phase(lane, p.cta->key, b.agent, m.generation - 1);
  phase.twice |= twice;
  if (twice || (unknown && !filled_twice)) {
    raise(Check::BarrierRecycled, {actor(who, lane, m.arrive_only ? "bar.arrive" : "barrier")}, object, object,
          {"nothing tells this thread that the phase before is over: it may arrive for that one"},
          "Wait (bar.sync) for something that follows the phase before, or use another barrier.");
  }
  if (m.aligned) divergent_barrier(p, who, phase, object);
  if (m.threads == 0) part(*p.cta, phase, who);
  phase.arrivals.push_back({who.warp, who.lanes, who.live, who.site, m.threads, m.arrive_only, m.aligned});
  phase.known.own.cta = p.cta->key;
  time.gather(who.lanes, phase.known, WarpTime::Exited::Counted);
  if (!m.arrive_only)
    p.warp->waiting = {
        .what = Waiting::What::Barrier, .site = who.site, .lanes = who.lanes, .id = m.id, .phase = m.generation};
}

// An arrival counts for the whole warp: with a number of threads, lanes that were there and did not come are taken for
// come. (Without one they may be about to end, which is what many programs do.) Who has ended may have left before; not
// where all threads come to something behind the barrier.
void LaunchChecker::parts_of_warps(Cta& cta, u32 id, const NamedBarrier::Phase& phase) {
  for (const NamedBarrier::Arrival& a : phase.arrivals) {
    const Warp* const w = a.warp < cta.warps.size() ? cta.warps[a.warp].get() : nullptr;
    const u32 ended = w ? w->exited : 0;
    if (!a.aligned || a.threads == 0 || (a.lanes == a.live && !(ended & ~a.lanes))) continue;
    u32 came = 0;
    for (const NamedBarrier::Arrival& other : phase.arrivals) came |= other.warp == a.warp ? other.lanes : 0;
    u32 away = a.live & ~came & ~ended;
    if (!away && ended & ~came && all_come_to(a.site) != probe::kNoSite) away = ended & ~came;
    if (!away) continue;
    const std::string object = fmt::format("barrier {}", id);
    raise(Check::BarrierDivergent,
          {{.action = "barrier",
            .site = a.site,
            .cta = cta.key,
            .warp = a.warp,
            .lane = static_cast<u32>(std::countr_zero(a.lanes))}},
          object, object,
          {fmt::format("lanes {:#010x} of the warp came, {:#010x} did not: the instruction is for whole warps", came,
                       away)},
          "All lanes of the warp come to it.");
    return;
  }
}

bool LaunchChecker::same_place(u32 site, u32 other) const {
  if (site == other || site == probe::kNoSite || other == probe::kNoSite) return true;
  const auto a = site_of(info_->id, site).frames, b = site_of(info_->id, other).frames;
  if (a.empty() || b.empty()) return true;
  return std::ranges::equal(a, b, [](const auto& f, const auto& g) { return f.line == g.line && f.file == g.file; });
}

// Branches that have a barrier each may mean it so: nothing is wrong as long as nobody misses one.
void LaunchChecker::part(Cta& cta, const NamedBarrier::Phase& phase, const probe::Who& who) {
  if (cta.parted || phase.arrivals.empty()) return;
  const NamedBarrier::Arrival& a = phase.arrivals.back();
  if (a.warp == who.warp || same_place(a.site, who.site)) return;
  cta.parted = Parted{{a.site, who.site}, {a.warp, who.warp}, {a.lanes, who.lanes}};
}

// A thread that has exited has missed a barrier: it has come, instead, to what all threads come to behind it. (Who only
// left has not: `if (i >= n) return;`, or a branch for some warps that ends with a return.)
bool LaunchChecker::went_past(Cta& cta, u32 id, const NamedBarrier::Arrival& came, const Exit& e) {
  const auto at = [&](const char* action, u32 site, u32 warp, u32 lanes) {
    return Actors{.action = action, .site = site, .cta = cta.key, .warp = warp, .lane = first_of(lanes)};
  };
  const std::string object = fmt::format("barrier {}", id);
  const char* const fix = "The barrier outside of the branch or loop, where all threads of the block come to it.";
  const auto& p = cta.parted;
  const bool parted = p && (p->warps[0] == e.warp || p->warps[1] == e.warp);
  u32 behind = all_come_to(came.site);
  for (u32 k = 0; parted && k < 2 && behind == probe::kNoSite; k++) behind = all_come_to(p->sites[k]);
  if (behind == probe::kNoSite) return false;
  if (parted) {
    raise(Check::BarrierDivergent,
          {at("barrier", p->sites[1], p->warps[1], p->lanes[1]), at("barrier", p->sites[0], p->warps[0], p->lanes[0])},
          object, object,
          {fmt::format("threads of warp {} have come to fewer barriers than others and exited: two barriers of the "
                       "program met as one",
                       e.warp)},
          fix);
    return true;
  }
  raise(Check::BarrierDivergent,
        {at("went on", behind, e.warp, e.lanes), at("barrier", came.site, came.warp, came.lanes)}, object, object,
        {fmt::format("threads of warp {} went round it and exited: all threads come to the other instruction before "
                     "they end",
                     e.warp)},
        fix);
  return true;
}

// Threads that exited without coming to a barrier of all threads: the first one that went on without them says so.
void LaunchChecker::exited_before(Cta& cta, u32 id, const NamedBarrier::Arrival& came) {
  const std::string object = fmt::format("barrier {}", id);
  for (const Exit& e : cta.exits) {
    if (went_past(cta, id, came, e)) continue;
    raise(Check::BarrierExit,
          {{.action = "barrier",
            .site = came.site,
            .cta = cta.key,
            .warp = came.warp,
            .lane = static_cast<u32>(std::countr_zero(came.lanes))},
           {.action = "exit",
            .site = e.site != probe::kNoSite && info_->left_by ? info_->left_by(e.site) : e.site,
            .cta = cta.key,
            .warp = e.warp,
            .lane = static_cast<u32>(std::countr_zero(e.lanes))}},
          object, object, {"threads that have exited count as arrived"});
  }
  cta.exits.clear();
}

void LaunchChecker::barrier_done(Cta& cta, const Meeting& m) {
  if (m.id >= 16) return;
  NamedBarrier& b = cta.barriers[m.id];
  if (!b.agent) b.agent = cta.agents++;
  NamedBarrier::Phase& phase = b.phase(m.generation);
  if (phase.done) return;
  phase.done = true;
  if (meet_whole(cta, phase, b.agent, m.generation)) return;
  in_parts(cta, phase);
  parts_of_warps(cta, m.id, phase);
  phase.known.own.cta = cta.key;
  const bool everybody = m.threads == 0 && (phase.arrivals.empty() || phase.arrivals[0].threads == 0);
  if (everybody) {
    if (!phase.arrivals.empty() && !cta.exits.empty()) exited_before(cta, m.id, phase.arrivals.back());
    // Threads that have exited count as arrived.
    for (auto& w : cta.warps) {
      if (w && (w->exited & w->time.live()) == w->time.live())
        w->time.gather(w->time.live(), phase.known, WarpTime::Exited::Counted);
    }
  }
  phase.known.own.raise(b.agent, m.generation + 1);
  const auto waits = [&](const auto& w) {
    if (!w) return true;
    u32 lanes = everybody ? w->exited : 0;
    for (const auto& a : phase.arrivals) lanes |= a.warp == w->time.warp() && !a.only ? a.lanes : 0;
    return (w->time.live() & ~lanes) == 0;
  };
  if (std::ranges::all_of(cta.warps, waits)) all_met(cta);
}

void LaunchChecker::barrier_leave(const At& p, const probe::Who& who, const Meeting& m) {
  if (m.id >= 16) return;
  NamedBarrier& b = p.cta->barriers[m.id];
  NamedBarrier::Phase& phase = b.phase(m.generation);
  if (!phase.done) barrier_done(*p.cta, m);
  if (phase.whole) return void(p.warp->waiting = {});
  WarpTime& time = p.warp->time;
  time.acquire(who.lanes, phase.known);
  if ((who.lanes & time.live()) == time.live()) time.sync(time.live());
  p.warp->waiting = {};
}

// What comes before the launch is visible to the grid then: to threads that learn of the wait, too.
void LaunchChecker::grid_wait(const At& p, u32 lanes) {
  if (!info_->dependent) return;
  p.warp->behind_wait |= lanes;
  if (!p.cta->grid_wait) p.cta->grid_wait = p.cta->agents++;
  View over(p.cta->key);
  over.own.raise(p.cta->grid_wait, 1);
  p.warp->time.acquire(lanes, over);
}

u32 LaunchChecker::behind_wait(Warp& w, u32 lanes) {
  for (u32 rest = lanes & ~w.behind_wait; rest && cluster_; rest &= rest - 1) {
    const u32 lane = first_of(rest);
    const auto told = [&](const auto& cta) {
      return cta && cta->grid_wait && w.time.knows_phase(lane, cta->key, cta->grid_wait, 0);
    };
    if (std::ranges::any_of(cluster_->ctas, told)) w.behind_wait |= 1u << lane;
  }
  return lanes & w.behind_wait;
}

void LaunchChecker::cluster_arrive(const At& p, const probe::Who& who, const Meeting& m) {
  auto& to = p.cluster->arriving[m.generation & 1];
  if (to.generation != m.generation) to.generation = m.generation, to.known = nullptr;
  if (const u32 twice = who.lanes & p.warp->cluster_arrived) {
    raise(Check::ClusterBarrier, {actor(who, static_cast<u32>(std::countr_zero(twice)), "barrier.cluster.arrive")},
          "arrive", "the barrier of the cluster", {"the thread has arrived before and not waited since"},
          "barrier.cluster.wait between two arrivals.");
  }
  p.warp->cluster_arrived |= who.lanes;
  p.warp->cluster_next = std::max(p.warp->cluster_next, m.generation + 1);
  p.warp->waiting = {
      .what = Waiting::What::ClusterBarrier, .site = who.site, .lanes = who.lanes, .phase = m.generation};
  if (m.relaxed) {  // fences before it go with it, and fence.mbarrier_init
    std::vector<Head> heads;
    for (u32 rest = who.lanes; rest; rest &= rest - 1)
      p.warp->order.heads(p.warp->time, static_cast<u32>(std::countr_zero(rest)), p.cta->place, heads);
    for (const Head& h : heads) {
      if (h.scope >= probe::Scope::Cluster) to.known = join(to.known, h.node);
    }
    View inits(p.cta->key);
    View all(p.cta->key);
    p.warp->time.gather(who.lanes, all);
    inits.pushed[kMbarrierInit] = all.pushed[kMbarrierInit];
    to.known = join(to.known, inits.publish());
    return;
  }
  to.known = join(to.known, p.warp->time.release(who.lanes, WarpTime::Exited::Counted));
}

void LaunchChecker::cluster_leave(const At& p, const probe::Who& who, const Meeting& m) {
  p.warp->waiting = {};
  if (const u32 none = who.lanes & ~p.warp->cluster_arrived) {
    raise(Check::ClusterBarrier, {actor(who, static_cast<u32>(std::countr_zero(none)), "barrier.cluster.wait")}, "wait",
          "the barrier of the cluster", {"the thread has not arrived"});
  }
  p.warp->cluster_arrived &= ~who.lanes;
  p.cta->cluster_left = std::max(p.cta->cluster_left, m.generation + 1);
  p.warp->peers_started |= who.lanes;
  auto& from = p.cluster->arriving[m.generation & 1];
  if (from.generation != m.generation || !from.known) return;
  from.known->flatten();
  WarpTime& time = p.warp->time;
  time.acquire(who.lanes, from.known);
  if ((who.lanes & time.live()) == time.live()) time.sync(time.live());
}

}  // namespace us::sanitizer
