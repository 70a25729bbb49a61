// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/warp_order.h"

#include <algorithm>
#include <bit>

namespace us::sanitizer {
namespace {

constexpr std::size_t kPending = 64, kMisses = 16;

bool acquires(probe::Order o) {
  return o == probe::Order::Acquire || o == probe::Order::AcqRel || o == probe::Order::SeqCst;
}
bool releases(probe::Order o) {
  return o == probe::Order::Release || o == probe::Order::AcqRel || o == probe::Order::SeqCst;
}

}  // namespace

bool WarpOrder::takes(const Place& me, const Head& h, probe::Scope s) const {
  return includes(s, me, h.place) && includes(h.scope, h.place, me);
}

void WarpOrder::miss(const Place& me, const Head& h, probe::Scope s, u32 site, bool relaxed) {
  NearMiss m{.releaser = h.place.cta,
             .warp = h.warp,
             .lane = h.lane,
             .release_site = h.site,
             .acquire_site = site,
             .release_scope = h.scope,
             .acquire_scope = s};
  if (relaxed) {
    m.why = NearMiss::Why::Relaxed;
  } else if (me.device == h.place.device && me.domain != h.place.domain) {
    m.why = NearMiss::Why::Domain;
  }
  if (misses_.size() >= kMisses) misses_.erase(misses_.begin());
  misses_.push_back(m);
}

void WarpOrder::fence(WarpTime& time, u32 lanes, const Place& me, probe::Order order, probe::Scope scope, u32 site) {
  if (acquires(order)) {
    for (u32 rest = lanes; rest; rest &= rest - 1) {
      const u32 l = static_cast<u32>(std::countr_zero(rest));
      std::erase_if(pending_[l], [&](const Pending& p) {
        if (!takes(me, p.head, scope)) return miss(me, p.head, scope, site, false), false;
        time.acquire(1u << l, p.head.node);
        return true;
      });
    }
    has_pending_ = std::ranges::any_of(pending_, [](const auto& of_lane) { return !of_lane.empty(); });
  }
  if (!releases(order)) return;
  for (Record& r : records_) {
    if (r.scope <= scope) r.lanes &= ~lanes;
  }
  std::erase_if(records_, [](const Record& r) { return r.lanes == 0; });
  if (time.alike()) {  // lanes differ only by what each did itself
    const Clock now = time.tick();
    return records_.push_back({lanes, time.common().publish(), now, scope, site});
  }
  for (u32 rest = lanes; rest; rest &= rest - 1) {
    const u32 lane = rest & -rest;
    records_.push_back({lane, time.release(lane), 0, scope, site});
  }
}

void WarpOrder::heads(const WarpTime& time, u32 lane, const Place& me, std::vector<Head>& into) const {
  for (const Record& r : records_) {
    if (!(r.lanes >> lane & 1)) continue;
    Ref node = r.base;
    if (r.clock) {
      View v(time.cta());
      v.join(r.base);
      v.own.raise_lane(time.warp(), lane, r.clock);
      node = v.publish();
    }
    into.push_back({.node = node,
                    .place = me,
                    .scope = r.scope,
                    .warp = static_cast<u8>(time.warp()),
                    .lane = static_cast<u8>(lane),
                    .site = r.site});
  }
}

void WarpOrder::missed(const Place& me, const std::vector<Head>& heads, probe::Scope scope, u32 site) {
  for (const Head& h : heads) miss(me, h, scope, site, false);
}

void WarpOrder::remember(u32 lane, const Head& h, Clock at) {
  auto& pending = pending_[lane];
  if (std::ranges::any_of(pending, [&](const Pending& o) { return o.head.node == h.node; })) return;
  if (pending.size() >= kPending) pending.erase(pending.begin());
  pending.push_back({h, at});
  has_pending_ = true;
}

void WarpOrder::borrow(const WarpTime& time, u32 lanes, const WarpOrder& other, u32 its_warp) {
  for (u32 from = 0; from < other.pending_.size(); ++from) {
    for (const Pending& p : std::vector(other.pending_[from])) {
      const Segment read{.cta = time.cta(), .cluster = time.cluster(), .slot = its_warp, .clock = p.at};
      for (u32 rest = lanes; rest; rest &= rest - 1) {
        const u32 lane = static_cast<u32>(std::countr_zero(rest));
        if (time.knows(lane, read, from)) remember(lane, p.head, time.clock());
      }
    }
  }
}

void WarpOrder::observed(WarpTime& time, u32 lane, const Place& me, const std::vector<Head>& heads, probe::Order order,
                         probe::Scope scope, u32 site) {
  for (const Head& h : heads) {
    if (acquires(order) && takes(me, h, scope)) {
      time.acquire(1u << lane, h.node);
      continue;
    }
    miss(me, h, scope, site, !acquires(order));
    remember(lane, h, time.touch());
  }
}

}  // namespace us::sanitizer
