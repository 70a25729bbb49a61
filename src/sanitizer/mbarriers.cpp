// SPDX-License-Identifier: Apache-2.0
// mbarrier objects: are they used as they may be, and what do their phases order?
//
// An arrival publishes what the arriving thread knows; who learns that the phase is over acquires what was published
// in it, if the scopes include each other. Bytes that copies deliver belong to the mbarrier's agent, whose clock is
// the phase.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Mbarrier;

namespace {

constexpr u32 kMost = (1u << 20) - 1;  // arrivals, and bytes of transactions
constexpr std::size_t kSteps = 16, kTokens = 4;

const char* name(Mbarrier::Kind k) {
  switch (k) {
    case Mbarrier::Kind::Init:
      return "mbarrier.init";
    case Mbarrier::Kind::Inval:
      return "mbarrier.inval";
    case Mbarrier::Kind::Arrive:
      return "mbarrier.arrive";
    case Mbarrier::Kind::ExpectTx:
      return "mbarrier.expect_tx";
    case Mbarrier::Kind::CompleteTx:
      return "mbarrier.complete_tx";
    case Mbarrier::Kind::Test:
      return "mbarrier.test_wait";
    case Mbarrier::Kind::CopiesArrive:
      return "cp.async.mbarrier.arrive";
  }
  return "mbarrier";
}

void note(std::vector<MbarrierObject::Step>& to, const MbarrierObject::Step& s) {
  if (to.size() < kSteps) to.push_back(s);
}

}  // namespace

void LaunchChecker::mbarrier_wrong(Check c, const probe::Who& who, u32 lane, const char* action, u64 offset,
                                   const MbarrierObject* o, std::string why, std::string fix) {
  std::vector<Actors> parties = {actor(who, lane, action)};
  if (o && o->init.site)
    parties.push_back({.action = "mbarrier.init",
                       .site = o->init.site,
                       .cta = o->init.cta,
                       .warp = o->init.warp,
                       .lane = o->init.lane});
  const std::string text = object_text(probe::Space::Shared, offset, 8, nullptr);
  raise(c, parties, object_kind(probe::Space::Shared, offset), "mbarrier in " + text, {std::move(why)}, std::move(fix));
}

bool LaunchChecker::init_known(const At& p, u32 lane, const Cta&, const MbarrierObject& o, bool by_copy) const {
  if (!o.init_segment) return true;
  const Segment& s = p.cluster->segments[o.init_segment];
  if (p.warp->time.pushed(lane, kMbarrierInit, s, o.init.lane)) return true;
  return !by_copy && p.warp->time.knows(lane, s, o.init.lane);
}

void LaunchChecker::mbarrier(const probe::Who& who, const Mbarrier& m) {
  const std::lock_guard held(process_.lock);
  const At p = at(who);
  if (spent(p)) return;
  const u32 rank = static_cast<u32>(m.address / probe::kCtaStride),
            lane = static_cast<u32>(std::countr_zero(who.lanes));
  const u64 offset = m.address % probe::kCtaStride;
  if (rank >= cluster_size_) return wrong_rank(who, lane, rank);
  Cta& owner = cta_of(*p.cluster, who, rank);
  if (offset % 8)
    return mbarrier_wrong(Check::Misaligned, who, lane, name(m.kind), offset, nullptr,
                          "an mbarrier object is aligned to 8 bytes");
  const Telling telling(*this, who);
  if (m.kind == Mbarrier::Kind::Init) return mbarrier_init(p, who, m, lane, owner);
  if (rank != who.rank)
    visit(p, who, owner, 1u << lane, p.warp->time.segment(p.cluster->segments, 0),
          m.kind == Mbarrier::Kind::CompleteTx);
  if (rank != who.rank && owner.ended) return;  // that is told
  MbarrierObject& o = owner.mbarriers[offset];
  if (!o.live) {
    if (m.kind != Mbarrier::Kind::CompleteTx || o.phase == 0) {
      mbarrier_wrong(no_object(&o), who, lane, name(m.kind), offset, nullptr,
                     "there is no initialised mbarrier object at this address",
                     "mbarrier.init by one thread, then a barrier, before the first use.");
    }
    return;
  }
  if (m.kind != Mbarrier::Kind::CompleteTx && !init_known(p, lane, owner, o, false)) {
    mbarrier_wrong(Check::MbarrierInit, who, lane, name(m.kind), offset, &o,
                   "nothing orders the initialisation before this operation",
                   rank == who.rank
                       ? "__syncthreads() behind mbarrier.init."
                       : "fence.mbarrier_init.release.cluster behind mbarrier.init, then a barrier of the cluster.");
  }
  switch (m.kind) {
    case Mbarrier::Kind::Inval:
      return mbarrier_inval(p, who, lane, owner, o, offset);
    case Mbarrier::Kind::Arrive:
      return mbarrier_arrive(p, who, m, lane, owner, o);
    case Mbarrier::Kind::ExpectTx:
      return mbarrier_tx(who, lane, o, offset, m.tx, true);
    case Mbarrier::Kind::CompleteTx:
      mbarrier_tx(who, lane, o, offset, m.tx, false);
      p.cluster->deliveries++;
      if (m.completed) mbarrier_next(o);
      return;
    case Mbarrier::Kind::Test:
      return mbarrier_test(p, who, m, owner, o);
    case Mbarrier::Kind::CopiesArrive:
      copies_arrive(p, lane, owner, o);
      p.cluster->deliveries++;
      if (m.noinc) o.pending--;
      note(o.arrivals, {who.site, who.warp, lane, p.cta->key, o.phase, 1});
      if (m.completed) mbarrier_next(o);
      return;
    case Mbarrier::Kind::Init:
      return;
  }
}

void LaunchChecker::mbarrier_init(const At& p, const probe::Who& who, const Mbarrier& m, u32 lane, Cta& owner) {
  const u64 offset = m.address % probe::kCtaStride;
  MbarrierObject& o = owner.mbarriers[offset];
  if (o.live)
    mbarrier_wrong(Check::MbarrierState, who, lane, "mbarrier.init", offset, &o,
                   "the object is initialised and was not invalidated",
                   "mbarrier.inval before it is initialised again.");
  if (m.count < 1 || m.count > kMost)
    mbarrier_wrong(Check::MbarrierCount, who, lane, "mbarrier.init", offset, nullptr,
                   fmt::format("{} arrivals: the range is 1 to {}", m.count, kMost));
  const u32 slot = o.slot ? o.slot : owner.agents++;
  const u64 phase = o.phase ? o.phase + 1 : 0;  // the clock of its agent never goes back
  const u64 even = phase + (phase & 1);
  o = {};
  o.live = o.was_live = true, o.slot = slot, o.expected = m.count, o.pending = m.count, o.phase = even,
  o.first_phase = even;
  o.init = {who.site, who.warp, lane, p.cta->key, 0, m.count};
  Judge judge = shared_judge(*p.cluster, owner);
  o.init_segment = p.warp->time.segment(p.cluster->segments, 0);
  const Actor me{
      .time = &p.warp->time, .lane = lane, .segment = o.init_segment, .site = who.site, .place = &p.cta->place};
  for (u64 at = offset; at < offset + 8; at += 4) {
    Cell& c = owner.shared.word(at);
    judge.write(c, me, at, 4, nullptr);
    c.flags |= Cell::kMbarrier;
  }
}

void LaunchChecker::mbarrier_inval(const At& p, const probe::Who& who, u32 lane, Cta& owner, MbarrierObject& o,
                                   u64 offset) {
  if (o.tx)
    mbarrier_wrong(Check::MbarrierState, who, lane, "mbarrier.inval", offset, &o,
                   fmt::format("transactions of {} bytes are pending", o.tx));
  if (o.copied && !p.warp->time.knows_phase(lane, owner.key, o.slot, static_cast<Clock>(o.copy.phase))) {
    raise(Check::MbarrierState,
          {actor(who, lane, "mbarrier.inval"),
           {.action = "copy", .site = o.copy.site, .cta = o.copy.cta, .warp = o.copy.warp, .lane = o.copy.lane}},
          object_kind(probe::Space::Shared, offset),
          "mbarrier in " + object_text(probe::Space::Shared, offset, 8, nullptr),
          {"nothing tells this thread that the phase of the copy is over: the copy may still report to it"},
          "Wait for the phase before the object is invalidated.");
  }
  for (const auto& w : owner.warps) {
    if (!w || w->waiting.what != Waiting::What::Mbarrier || w->waiting.address != offset || w.get() == p.warp) continue;
    mbarrier_wrong(Check::MbarrierState, who, lane, "mbarrier.inval", offset, &o,
                   fmt::format("warp {} waits for it", w->time.warp()));
  }
  o.live = false;
  for (u64 at = offset; at < offset + 8; at += 4) {
    Cell& c = owner.shared.word(at);
    c.flags = static_cast<u8>(c.flags & ~Cell::kMbarrier);
  }
}

void LaunchChecker::mbarrier_publish(const At& p, const probe::Who& who, const Mbarrier& m, u32 lane,
                                     MbarrierObject& o) {
  MbarrierObject::Group* group = nullptr;
  for (auto& g : o.arriving) {
    if (g.place.cta == p.cta->key && g.scope == m.scope && g.relaxed == (m.order == probe::Order::Relaxed)) group = &g;
  }
  if (!group) {
    group = &o.arriving.emplace_back();
    group->place = p.cta->place, group->scope = m.scope;
    group->warp = who.warp, group->lane = lane, group->site = who.site;
    group->relaxed = m.order == probe::Order::Relaxed;
    group->known.own.cta = p.cta->key;
  }
  if (!group->relaxed) {
    p.warp->time.gather(1u << lane, group->known);
    return;
  }
  std::vector<Head> heads;  // of fences before a relaxed arrival
  p.warp->order.heads(p.warp->time, lane, p.cta->place, heads);
  for (const Head& h : heads) {
    if (h.scope >= m.scope) group->known.join(h.node);
  }
}

void LaunchChecker::mbarrier_arrive(const At& p, const probe::Who& who, const Mbarrier& m, u32 lane, Cta& owner,
                                    MbarrierObject& o) {
  const u64 offset = m.address % probe::kCtaStride;
  const char* action = "mbarrier.arrive";
  if (m.count < 1 || m.count > kMost)
    mbarrier_wrong(Check::MbarrierCount, who, lane, action, offset, &o,
                   fmt::format("{} arrivals: the range is 1 to {}", m.count, kMost));
  const u64 thread = p.cta->key << 10 | (who.warp * 32 + lane);
  const auto before = o.came_before.find(thread);
  const bool through_copies = before != o.came_before.end() && before->second != p.cluster->deliveries;
  if (before != o.came_before.end() && !through_copies && o.phase > o.first_phase &&
      !p.warp->time.knows_phase(lane, owner.key, o.slot, static_cast<Clock>(o.phase - 1))) {
    mbarrier_wrong(Check::MbarrierPhase, who, lane, action, offset, &o,
                   "the thread arrived in the phase before, and nothing tells it that this phase is over: it may "
                   "arrive in that one twice",
                   "Wait for the phase before arriving again.");
  }
  if (before == o.came_before.end()) may_come_before(p, who, lane, owner, o, offset);
  o.came[thread] = o.deliveries = p.cluster->deliveries;
  p.warp->arrived_at(who.site, lane, m.address);
  if (o.newest.size() >= 64) o.newest.clear(), o.tokens.clear();
  o.newest[m.state] = o.phase;
  auto& tokens = o.tokens[thread];
  std::erase_if(tokens, [&](const MbarrierObject::Token& t) { return t.state == m.state; });
  if (tokens.size() >= kTokens) tokens.erase(tokens.begin());
  tokens.push_back({m.state, o.phase});
  if (m.expects) mbarrier_tx(who, lane, o, offset, m.tx, true);
  o.pending -= m.count;
  if (o.pending < 0)
    mbarrier_wrong(Check::MbarrierCount, who, lane, action, offset, &o,
                   fmt::format("{} more arrivals than the {} that the phase expects", -o.pending, o.expected));
  if (m.drop) {
    if (o.expected < m.count)
      mbarrier_wrong(Check::MbarrierCount, who, lane, action, offset, &o,
                     "it drops more arrivals than the object expects");
    o.expected -= std::min(o.expected, m.count);
  }
  if (m.no_complete && m.completed)
    mbarrier_wrong(Check::MbarrierCount, who, lane, "mbarrier.arrive.noComplete", offset, &o, "it completes the phase");
  note(o.arrivals, {who.site, who.warp, lane, p.cta->key, o.phase, m.count, p.warp->time.touch()});
  mbarrier_publish(p, who, m, lane, o);
  if (m.completed) mbarrier_next(o);
}

// An arrival that nothing orders behind those of the phase before may come among them: one more than that phase takes.
// (A copy may tell that the phase is over: CUTLASS relies on it. Not judged.)
void LaunchChecker::may_come_before(const At& p, const probe::Who& who, u32 lane, const Cta& owner,
                                    const MbarrierObject& o, u64 offset) {
  const WarpTime& time = p.warp->time;
  if (o.phase == o.first_phase || o.deliveries_before != p.cluster->deliveries ||
      time.knows_phase(lane, owner.key, o.slot, static_cast<Clock>(o.phase - 1)))
    return;
  const auto known = [&](const MbarrierObject::Step& a) {
    Segment s;
    s.cta = a.cta, s.cluster = time.cluster(), s.slot = a.warp, s.clock = a.clock;
    return !a.clock || time.knows(lane, s, a.lane);
  };
  const auto other = std::ranges::find_if_not(o.arrived_before, known);
  if (other == o.arrived_before.end()) return;
  const auto actors = [](const char* action, const MbarrierObject::Step& s) {
    return Actors{.action = action, .site = s.site, .cta = s.cta, .warp = s.warp, .lane = s.lane};
  };
  raise(Check::MbarrierCount,
        {actor(who, lane, "mbarrier.arrive"), actors("mbarrier.arrive", *other), actors("mbarrier.init", o.init)},
        object_kind(probe::Space::Shared, offset),
        "mbarrier in " + object_text(probe::Space::Shared, offset, 8, nullptr),
        {fmt::format("a phase takes {}; this arrival comes in phase {}, and nothing orders it behind those of phase {}",
                     o.expected == 1 ? "one arrival" : fmt::format("{} arrivals", o.expected), o.phase - o.first_phase,
                     o.phase - 1 - o.first_phase)},
        "As many arrivals as the count of mbarrier.init, or a wait for the phase before the next arrival.");
}

void LaunchChecker::mbarrier_tx(const probe::Who& who, u32 lane, MbarrierObject& o, u64 offset, i64 tx, bool expects) {
  o.tx += expects ? tx : -tx;
  note(expects ? o.expects : o.delivered, {who.site, who.warp, lane, key(who.cta), o.phase, tx});
  if (o.tx > kMost || o.tx < -i64{kMost}) {
    mbarrier_wrong(Check::MbarrierCount, who, lane, expects ? "mbarrier.expect_tx" : "mbarrier.complete_tx", offset, &o,
                   fmt::format("{} pending bytes: the range is {} to {}", o.tx, -i64{kMost}, kMost));
  }
}

void LaunchChecker::mbarrier_next(MbarrierObject& o) {
  o.phase++;
  o.published = std::move(o.arriving);
  o.arriving.clear();
  o.came_before = std::move(o.came), o.deliveries_before = o.deliveries;
  o.came.clear();
  o.arrived_before = std::move(o.arrivals);
  o.arrivals.clear(), o.expects.clear(), o.delivered.clear();
  o.pending = o.expected;
}

void LaunchChecker::mbarrier_test(const At& p, const probe::Who& who, const Mbarrier& m, Cta& owner,
                                  MbarrierObject& o) {
  const u64 offset = m.address % probe::kCtaStride;
  if (owner.rank != who.rank) {
    mbarrier_wrong(Check::MbarrierRemote, who, static_cast<u32>(std::countr_zero(who.lanes)), "mbarrier.test_wait",
                   offset, &o, "a thread may wait only for an mbarrier in the shared memory of its own block");
  }
  if (ignored(who.site)) {
    mbarrier_wrong(Check::MbarrierResult, who, static_cast<u32>(std::countr_zero(who.lanes)), "mbarrier.test_wait",
                   offset, nullptr, "nothing depends on the answer", "Ask until the answer is true.");
  }
  if (!m.by_parity) {
    for (u32 rest = who.lanes; rest; rest &= rest - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(rest));
      if (!foreign_token(p, who, m, lane, o)) token(who, lane, offset, o, m.state);
    }
  }
  if (!m.done) {
    p.warp->waiting = {
        .what = Waiting::What::Mbarrier, .site = who.site, .lanes = who.lanes, .address = offset, .phase = o.phase};
    return;
  }
  p.warp->waiting = {};
  o.seen = o.phase;
  WarpTime& time = p.warp->time;
  if (o.phase > o.first_phase) {
    if (owner.key == time.cta()) {
      time.acquire_phase(who.lanes, o.slot, static_cast<Clock>(o.phase));
    } else {
      View over(owner.key);
      over.own.raise(o.slot, static_cast<Clock>(o.phase));
      time.acquire(who.lanes, over.publish());
    }
  }
  for (const MbarrierObject::Group& g : o.published) {
    if (g.place.cta == time.cta() && m.order == probe::Order::Acquire) {
      time.acquire(who.lanes, g.known);
      continue;
    }
    const std::vector<Head> head = {{.node = g.known.publish(),
                                     .place = g.place,
                                     .scope = g.scope,
                                     .warp = static_cast<u8>(g.warp),
                                     .lane = static_cast<u8>(g.lane),
                                     .site = g.site}};
    for (u32 rest = who.lanes; rest; rest &= rest - 1) {
      p.warp->order.observed(time, static_cast<u32>(std::countr_zero(rest)), p.cta->place, head, m.order, m.scope,
                             who.site);
    }
  }
}

bool LaunchChecker::ignored(u32 site) {
  if (site == probe::kNoSite || !info_->ignored) return false;
  const auto [at, fresh] = ignored_.try_emplace(site, false);
  if (fresh) at->second = info_->ignored(site);
  return at->second;
}

// Does the state that is asked for come from an arrival at another object?
bool LaunchChecker::foreign_token(const At& p, const probe::Who& who, const Mbarrier& m, u32 lane,
                                  const MbarrierObject& o) {
  if (who.site == probe::kNoSite || !info_->token_of) return false;
  const auto [at, first] = token_of_.try_emplace(who.site, probe::kNoSite);
  if (first) at->second = info_->token_of(who.site);
  const u64 from = at->second == probe::kNoSite ? Warp::kNowhere : p.warp->last_arrival(at->second, lane);
  if (from == Warp::kNowhere || from == m.address) return false;
  mbarrier_wrong(Check::MbarrierPhase, who, lane, "mbarrier.test_wait", m.address % probe::kCtaStride, &o,
                 fmt::format("the state is what the arrival {} returned, at the mbarrier in {}", site_text(at->second),
                             object_text(probe::Space::Shared, from % probe::kCtaStride, 8, nullptr)),
                 "Ask each mbarrier for its own states.");
  return true;
}

// A state may be asked for in its phase and in the next one. One that the thread got from others is not judged.
void LaunchChecker::token(const probe::Who& who, u32 lane, u64 offset, const MbarrierObject& o, u64 state) {
  const auto mine = o.tokens.find(key(who.cta) << 10 | (who.warp * 32 + lane));
  if (mine == o.tokens.end()) return;
  for (const MbarrierObject::Token& t : mine->second) {
    if (t.state != state || t.phase + 1 >= o.phase) continue;
    const auto last = o.newest.find(state);
    if (last != o.newest.end() && last->second > t.phase) continue;  // it may be another thread's
    mbarrier_wrong(Check::MbarrierPhase, who, lane, "mbarrier.test_wait", offset, &o,
                   fmt::format("the state is that of phase {}, and phase {} has begun: only the current and the "
                               "preceding phase can be asked for",
                               t.phase - o.first_phase, o.phase - o.first_phase));
  }
}

// Never initialised, or invalidated since.
Check LaunchChecker::no_object(const MbarrierObject* o) const {
  return o && o->was_live ? Check::MbarrierState : Check::MbarrierInit;
}

// All copies have been made: bytes that no phase was told to expect are left over. In a block that is stuck somebody
// may still be on the way to expect them, unless all arrivals have come.
void LaunchChecker::mbarriers_at_end(Cta& cta, bool stuck) {
  for (auto& [offset, o] : cta.mbarriers) {
    if (!o.live || o.tx >= 0 || o.delivered.empty() || (stuck && o.pending > 0)) continue;
    const MbarrierObject::Step& last = o.delivered.back();
    o.surplus = true;
    std::vector<Actors> parties = {
        {.action = "copy", .site = last.site, .cta = last.cta, .warp = last.warp, .lane = last.lane}};
    if (!o.expects.empty()) {
      const MbarrierObject::Step& e = o.expects.back();
      parties.push_back({.action = "mbarrier.expect_tx", .site = e.site, .cta = e.cta, .warp = e.warp, .lane = e.lane});
    }
    raise(Check::MbarrierTx, parties, object_kind(probe::Space::Shared, offset),
          "mbarrier in " + object_text(probe::Space::Shared, offset, 8, &cta),
          {fmt::format("{} bytes more were delivered than expected", -o.tx)},
          "mbarrier.arrive.expect_tx with the bytes of all copies of the phase.");
  }
}

// The mbarrier that a copy will report to must be visible to it.
void LaunchChecker::copy_reports(const At& p, const probe::Who& who, u32 lane, const probe::Transfer& t) {
  const u32 rank = static_cast<u32>(t.mbarrier / probe::kCtaStride);
  if (rank >= cluster_size_) return wrong_rank(who, lane, rank);
  Cta& owner = cta_of(*p.cluster, who, rank);
  if (owner.ended) return;  // that is told
  const u64 offset = t.mbarrier % probe::kCtaStride;
  const auto found = owner.mbarriers.find(offset);
  if (found == owner.mbarriers.end() || !found->second.live) {
    return mbarrier_wrong(no_object(found == owner.mbarriers.end() ? nullptr : &found->second), who, lane,
                          "asynchronous copy", offset, nullptr,
                          "there is no initialised mbarrier object at this address");
  }
  if (t.kind == probe::Transfer::Kind::StoreAsync || init_known(p, lane, owner, found->second, true)) return;
  const bool by_thread = init_known(p, lane, owner, found->second, false);
  mbarrier_wrong(by_thread ? Check::MbarrierInitFence : Check::MbarrierInit, who, lane, "asynchronous copy", offset,
                 &found->second,
                 "the initialisation was not made visible to the async proxy before the copy was issued",
                 "fence.mbarrier_init.release.cluster (or fence.proxy.async) behind mbarrier.init, then a barrier.");
}

}  // namespace us::sanitizer
