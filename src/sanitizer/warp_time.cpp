// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/warp_time.h"

#include <bit>

namespace us::sanitizer {
namespace {

template <class F>
void each(u32 lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) f(static_cast<u32>(std::countr_zero(lanes)));
}

}  // namespace

void WarpTime::again(u64 cta, u64 cluster, u32 warp) {
  all_.own.clear(cta);
  cta_ = cta, cluster_ = cluster, warp_ = warp;
  live_ = ~0u, born_ = 0;
  clock_ = 1, used_ = false, segment_ = {};
  push_ = {}, pushes_ = false;
}

bool WarpTime::knows(u32 lane, const Segment& s, u32 its_lane) const {
  if (s.also_slot) {
    const Point p{s.also_cta, s.also_slot, 0, s.also_clock};
    if (all_.knows(p) || (differ_ >> lane & 1 && of_lane_[lane]->knows(p))) return true;
  }
  if (s.flying()) return false;
  const Point p = s.point(its_lane);
  if (p.cta == cta_ && p.slot == warp_ && (p.lane == lane || p.lane == kEveryLane)) return true;
  return all_.knows(p) || (differ_ >> lane & 1 && of_lane_[lane]->knows(p));
}

bool WarpTime::pushed(u32 lane, Pushed to, const Segment& s, u32 its_lane) const {
  if (s.flying()) return false;
  const Point p = s.point(its_lane);
  const Push& own = push_[to];
  if (own.lanes >> lane & 1 && p.cta == cta_ && p.slot == warp_ && p.lane == lane && p.clock < own.before) return true;
  if (all_.pushed[to] && all_.pushed[to]->knows(p)) return true;
  return differ_ >> lane & 1 && of_lane_[lane]->pushed[to] && of_lane_[lane]->pushed[to]->knows(p);
}

bool WarpTime::pushed_all(Pushed to, const Segment& s) const {
  if (s.flying() || !all_.pushed[to]) return false;
  const Part* const part = all_.pushed[to]->of(s.cta);
  return part && part->floor_knows(s.slot, s.clock);
}

bool WarpTime::knows_of(u32 lane, u64 cta) const {
  return all_.knows_of(cta) || (differ_ >> lane & 1 && of_lane_[lane]->knows_of(cta));
}

bool WarpTime::any_knows(const Segment& s, u32 its_lane) const {
  if (knows(0, s, its_lane)) return true;
  bool found = false;
  each(differ_, [&](u32 l) { found = found || knows(l, s, its_lane); });
  return found;
}

bool WarpTime::knows_phase(u32 lane, u64 cta, u32 slot, Clock phase) const {
  const Point p{cta, slot, 0, phase};
  return all_.knows(p) || (differ_ >> lane & 1 && of_lane_[lane]->knows(p));
}

Clock WarpTime::floor(u32 lane, u32 slot) const {
  const Clock common = all_.own.floor(slot);
  return differ_ >> lane & 1 ? std::max(common, of_lane_[lane]->own.floor(slot)) : common;
}

Clock WarpTime::tick() {
  if (used_) {
    clock_++, used_ = false, segment_ = {};
    if (quick_) quick_->shared.at = quick_->global.at = 0;
  }
  return clock_;
}

void WarpTime::gather(u32 lanes, View& into, Exited exited) {
  into.join(all_);
  each(lanes & differ_, [&](u32 l) { into.join(*of_lane_[l]); });
  if (pushes_) join_pushes(lanes, into.pushed);
  const Clock now = tick();
  const u32 all = exited == Exited::Counted || !born_ ? live_ : born_;
  if ((lanes & all) == all) {
    into.own.raise(warp_, now);
  } else {
    each(lanes, [&](u32 l) { into.own.raise_lane(warp_, l, now); });
  }
}

void WarpTime::meet(Part& all, Pushes& pushed) const {
  all.join(all_.own);
  if (!none(all_.pushed)) sanitizer::join(pushed, all_.pushed);
  if (pushes_) join_pushes(~0u, pushed);
}

void WarpTime::met(const Part& all, const Pushes& pushed) {
  all_.own = all;
  if (!none(pushed) || !none(all_.pushed)) all_.pushed = pushed;
  if (pushes_) push_ = {}, pushes_ = false;
}

void WarpTime::join_pushes(u32 lanes, Pushes& into) const {
  const u32 all = born_ ? born_ : live_;
  const Push &shared = push_[kShared], &inits = push_[kMbarrierInit];
  const bool alike =
      shared.before == inits.before && shared.lanes == inits.lanes && into[kShared] == into[kMbarrierInit];
  for (u32 to = 0; to < kPushed; to++) {
    const u32 who = push_[to].lanes & lanes;
    if (alike && to == kMbarrierInit) into[to] = into[kShared];
    if (!who || (alike && to == kMbarrierInit)) continue;
    Part mine(cta_);
    if ((who & all) == all)
      mine.raise(warp_, push_[to].before);
    else
      each(who, [&](u32 l) { mine.raise_lane(warp_, l, push_[to].before); });
    auto n = std::make_shared<Node>();
    n->own = std::make_shared<Part>(std::move(mine));
    into[to] = sanitizer::join(into[to], n);
  }
}

// Where they are no longer those of the next ones' lanes.
void WarpTime::keep_pushes(Pushed to) {
  each(push_[to].lanes, [&](u32 l) {
    Part mine(cta_);
    mine.raise_lane(warp_, l, push_[to].before);
    auto n = std::make_shared<Node>();
    n->own = std::make_shared<Part>(std::move(mine));
    of(l).pushed[to] = sanitizer::join(of(l).pushed[to], n);
  });
  push_[to] = {};
}

Ref WarpTime::release(u32 lanes, Exited exited) {
  View v(cta_);
  gather(lanes, v, exited);
  return v.publish();
}

View& WarpTime::of(u32 lane) {
  if (!(differ_ >> lane & 1)) {
    of_lane_[lane] = std::make_unique<View>(cta_);
    differ_ |= 1u << lane;
  }
  return *of_lane_[lane];
}

void WarpTime::acquire(u32 lanes, const Ref& n) {
  if (!n) return;
  if ((lanes & live_) == live_) return all_.join(n);
  each(lanes, [&](u32 l) { of(l).join(n); });
}

void WarpTime::acquire(u32 lanes, const View& v) {
  if ((lanes & live_) == live_) return all_.join(v);
  each(lanes, [&](u32 l) { of(l).join(v); });
}

void WarpTime::acquire_phase(u32 lanes, u32 slot, Clock before) {
  if ((lanes & live_) == live_) return all_.own.raise(slot, before);
  each(lanes, [&](u32 l) { of(l).own.raise(slot, before); });
}

void WarpTime::sync(u32 lanes) {
  if ((lanes & live_) != live_) {
    View v(cta_);
    gather(lanes, v);
    return acquire(lanes, v);
  }
  each(differ_, [&](u32 l) { all_.join(*of_lane_[l]), of_lane_[l].reset(); });
  differ_ = 0;
  if (pushes_) join_pushes(~0u, all_.pushed), push_ = {}, pushes_ = false;
  all_.own.raise(warp_, tick());
}

void WarpTime::push(u32 lanes, Pushed to) {
  if ((lanes & live_) == live_ && differ_ == 0) {
    // Each lane pushes what it did itself: together, all of it; but only a sync tells a lane that the others have.
    const Clock now = tick();
    all_.pushed[to] = sanitizer::join(all_.pushed[to], all_.known());
    if (push_[to].lanes & ~lanes) keep_pushes(to);
    push_[to] = {now, lanes}, pushes_ = true;
    return;
  }
  each(lanes, [&](u32 l) {
    View v(cta_);
    gather(1u << l, v);
    of(l).pushed[to] = sanitizer::join(of(l).pushed[to], v.known());
  });
}

void WarpTime::push_shared(u32 lanes) {
  const auto same = [](const Push& a, const Push& b) { return a.before == b.before && a.lanes == b.lanes; };
  const bool alike = all_.pushed[kShared] == all_.pushed[kMbarrierInit] && same(push_[kShared], push_[kMbarrierInit]);
  push(lanes, kShared);
  if (!alike || (lanes & live_) != live_ || differ_) return push(lanes, kMbarrierInit);
  all_.pushed[kMbarrierInit] = all_.pushed[kShared], push_[kMbarrierInit] = push_[kShared];
}

u32 WarpTime::segment(Segments& table, u32 which) {
  used_ = true;
  u32& n = segment_[which];
  if (!n) n = table.add({.cta = cta_, .cluster = static_cast<u32>(cluster_), .clock = clock_, .slot = warp_});
  return n;
}

}  // namespace us::sanitizer
