// SPDX-License-Identifier: Apache-2.0
// Loads, stores and atomics: into words, and to the judge.
#include <bit>
#include <cstring>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Order;
using probe::Space;

namespace {

Strong strong_of(const probe::Access& a, u64 begin) {
  Strong s;
  s.scope = a.order == Order::Volatile ? probe::Scope::Sys : a.scope;
  s.is_volatile = a.order == Order::Volatile;
  s.begin = begin, s.bytes = a.bytes;
  return s;
}

bool is_strong(const probe::Access& a) { return a.order != Order::Weak || a.kind == probe::Access::Kind::Atomic; }

}  // namespace

bool LaunchChecker::before(const Segment& s, bool waited) const {
  return process_.order->before(s.launch(), info_->id, waited);
}

Judge LaunchChecker::shared_judge(Cluster& cluster, Cta& owner) {
  return Judge(
      cluster.segments, owner.shared, launch_, Floor{1, 0}, [](const Segment&) { return true; },
      [this, &owner](const Conflict& k) { conflict(k, Space::Shared, &owner); });
}

Judge LaunchChecker::global_judge(Warp* w, u32 lanes) {
  const bool waited = behind_wait(*w, lanes) == lanes;
  return Judge(
      process_.segments, process_.global, launch_, floor_,
      [this, waited](const Segment& s) { return before(s, waited); },
      [this](const Conflict& k) { conflict(k, Space::Global, nullptr); });
}

void LaunchChecker::access(const probe::Who& who, const probe::Access& a) {
  const std::lock_guard held(process_.lock);
  const At p = find(who);
  if (spent(p)) return;
  const Telling telling(*this, who);
  now_ = &a;
  if (p.warp->missed.missing) went_round(p, who);
  if (!p.warp->undefined.empty()) {
    if (a.kind != probe::Access::Kind::Read) uses_undefined(p, who, a);
    p.warp->undefined.made_anew(who.site, who.lanes);
    p.warp->tell_collectives();
  }
  if (a.kind == probe::Access::Kind::Atomic && !asks_atomics_ && atomics_.insert(who.site).second)
    asks_atomics_ = site_of(info_->id, who.site).text.starts_with("atom") && !ignored(who.site);
  if (is_strong(a)) {
    if (a.settled && settled(p, who, a)) return;
    p.warp->ordinary.forget(), p.warp->special = true;
  }
  if (a.space == Space::Shared || a.space == Space::Global) {
    touch(p, who, a);
    if (a.kind == probe::Access::Kind::Write && !p.warp->unwritten.empty()) stores_unwritten(p, who, a);
  } else if (a.space == Space::Local) {
    local(p, who, a);
  } else if (a.space == Space::Const) {
    for (u32 rest = who.lanes; rest; rest &= rest - 1) {
      const u32 lane = static_cast<u32>(std::countr_zero(rest));
      if (!made_well(who, a, lane, a.address[lane])) continue;
      fetched_.add(a.address[lane], u64{a.bytes} * a.count, who.site, behind_wait(*p.warp, 1u << lane) != 0);
    }
  }
}

// Shared memory can be read by whoever judges it, while its block is there.
void LaunchChecker::show_memory(Cta& owner, const probe::Access& a) {
  if (owner.shared.has_memory() || owner.ended || !a.window) return;
  owner.shared.set_memory([window = a.window + owner.rank * probe::kCtaStride](u64 at, u32& word) {
    std::memcpy(&word, window + at, sizeof word);
    return true;
  });
}

void LaunchChecker::touch(const At& p, const probe::Who& who, const probe::Access& a) {
  if (a.space == Space::Shared) show_memory(*p.cta, a);
  const u32 lanes = is_strong(a) ? who.lanes : quick(p, who, a);
  if (!lanes) return;
  const bool shared = a.space == Space::Shared;
  Cta* owner = nullptr;
  std::optional<Judge> judge;
  if (!shared) judge.emplace(global_judge(p.warp, lanes));
  Actor me{
      .time = &p.warp->time, .site = who.site, .place = &p.cta->place, .rmw = a.kind == probe::Access::Kind::Atomic};
  me.segment = shared ? p.warp->time.segment(p.cluster->segments, 0) : global_segment(p);
  for (u32 rest = lanes; rest; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(rest));
    u64 address = a.address[lane];
    if (shared) {
      const u32 rank = static_cast<u32>(address / probe::kCtaStride);
      if (!owner || owner->rank != rank) {
        if (rank >= cluster_size_) {
          wrong_rank(who, lane, rank);
          continue;
        }
        owner = &cta_of(*p.cluster, who, rank);
        show_memory(*owner, a);
        judge.emplace(shared_judge(*p.cluster, *owner));
      }
      address %= probe::kCtaStride;
      if (rank != who.rank) visit(p, who, *owner, 1u << lane, me.segment);
    }
    if (!in_bounds(p, who, a, lane, address, owner)) continue;
    me.lane = lane;
    if (!shared && a.kind != probe::Access::Kind::Read) stores_to(address);
    if (!shared && process_.aliases.any()) address = other_address(p, who, a, lane, address, me.segment);
    if (a.addend) sums(*judge, a, lane, address, me, shared ? owner : nullptr);
    if (a.kind != probe::Access::Kind::Write) unwritten(p, *judge, a, lane, address, owner);
    touch_lane(*judge, a, lane, address, me);
    if (is_strong(a)) continue;
    for (u64 at = address & ~u64{3}; at < address + u64{a.bytes} * a.count; at += 4) judge->shadow().narrow(at);
  }
}

void LaunchChecker::touch_lane(Judge& judge, const probe::Access& a, u32 lane, u64 address, const Actor& me) {
  if (!is_strong(a)) return weak(judge, a, lane, address, me);
  for (u32 e = 0; e < a.count; e++) strong(judge, a, lane, address + u64{e} * a.bytes, e, me);
}

bool LaunchChecker::written_here(const Cell& c) const {
  return c.w_segment && !floor_.holds(c.w_segment) && process_.segments.launch_of(c.w_segment) == launch_;
}

LaunchChecker::Actors LaunchChecker::written_by(const Cell& c) const {
  const Segment& s = process_.segments[c.w_segment];
  return {.action = "write",
          .site = c.w_site,
          .cta = s.cta,
          .warp = s.slot < kFirstAgent ? s.slot : s.by_warp,
          .lane = c.w_lane};
}

// Words whole where they are aligned, else bytes.
void LaunchChecker::weak(Judge& judge, const probe::Access& a, u32 lane, u64 address, const Actor& me) {
  const bool writes = a.kind == probe::Access::Kind::Write;
  const u64 end = address + u64{a.bytes} * a.count;
  const auto value_at = [&](u64 at, u32 bytes, u32& v) {
    const u64 offset = at - address;
    const u64 e = offset / a.bytes;
    if (e >= a.values.size() || !a.values[e]) return false;
    v = static_cast<u32>(a.values[e][lane] >> (8 * (offset % a.bytes)));
    if (bytes == 1) v &= 0xff;
    return bytes <= a.bytes - offset % a.bytes;
  };
  for (u64 at = address; at < end;) {
    Cell& word = judge.shadow().word(at);
    if (word.flags & Cell::kMbarrier) mbarrier_bytes(*who_, lane, to_text(a), at);
    const Side* side = judge.shadow().side_if(word);
    const bool whole = at % 4 == 0 && end - at >= 4 && !(side && side->bytes);
    Cell& c = whole ? word : judge.shadow().split(word)[at % 4];
    const u32 bytes = whole ? 4 : 1;
    in_parts_.begin(at, end, whole);
    if (writes) {
      u32 v = 0;
      const bool known = value_at(at, bytes, v);
      judge.write(c, me, at, bytes, known ? &v : nullptr);
      if (!whole) word.flags |= Cell::kWritten;
    } else if (a.nc && written_here(c)) {
      raise(Check::RaceNc, {actor(*who_, lane, "read-only load"), written_by(c)}, object_kind(a.space, at),
            object_text(a.space, at, bytes, nullptr),
            {"ld.global.nc may return what a cache held before the kernel began: no barrier or fence reaches it"},
            "An ordinary load (no __ldg, no const __restrict__).");
    } else {
      judge.read(c, me, at, bytes);
    }
    at += bytes;
  }
  in_parts_.end();
}

// One strong operation. Its first word's location holds what it publishes.
void LaunchChecker::strong(Judge& judge, const probe::Access& a, u32 lane, u64 address, u32 element, const Actor& me) {
  const bool atomic = a.kind == probe::Access::Kind::Atomic;
  const bool reads = atomic || a.kind == probe::Access::Kind::Read;
  const bool writes = a.kind == probe::Access::Kind::Write || (atomic && a.wrote >> lane & 1);
  const Strong op = strong_of(a, address);
  WarpTime& time = const_cast<WarpTime&>(*me.time);
  WarpOrder& order = at(*who_).warp->order;
  std::vector<Head> own;
  // What it publishes, before it makes time go on: the accesses before it.
  if (writes) order.heads(time, lane, *me.place, own);
  const bool releases = writes && (a.order == Order::Release || a.order == Order::AcqRel || a.order == Order::SeqCst);
  Location* first = nullptr;
  const Strong* last = nullptr;
  std::vector<Head> seen;
  const u64 end = address + a.bytes;
  for (u64 at = address; at < end;) {
    Cell& word = judge.shadow().word(at);
    if (word.flags & Cell::kMbarrier) mbarrier_bytes(*who_, lane, to_text(a), at);
    const Side* side = judge.shadow().side_if(word);
    const bool whole = at % 4 == 0 && end - at >= 4 && !(side && side->bytes);
    Cell& c = whole ? word : judge.shadow().split(word)[at % 4];
    if (at == address) {
      first = &judge.shadow().location(c);
      if (!first->writes.empty()) last = &first->writes.back();
      Strong mine = op;
      mine.place = *me.place;
      if (last && morally_strong(*last, mine)) {
        seen = first->heads;
      } else if (last && reads) {
        order.missed(*me.place, first->heads, op.scope, me.site);
      }
    }
    u32 v = 0;
    const bool known = writes && !atomic && element < a.values.size() && a.values[element];
    if (known) v = static_cast<u32>(a.values[element][lane] >> (8 * (at - address)));
    if (known && !whole) v &= 0xff;
    in_parts_.begin(at, end, whole);
    judge.strong(c, me, op, reads, writes, at, whole ? 4 : 1, known ? &v : nullptr);
    if (!whole && writes) word.flags |= Cell::kWritten;
    at += whole ? 4 : 1;
  }
  in_parts_.end();
  if (reads && !is_told_ && op.scope >= probe::Scope::Gpu && a.space == Space::Global) is_told(address);
  if (reads) order.observed(time, lane, *me.place, seen, a.order, op.scope, me.site);
  if (!writes) return;
  if (op.scope == probe::Scope::Sys && of_host(address)) tells_host(false);
  if (releases) {
    own.push_back({.node = time.release(1u << lane),
                   .place = *me.place,
                   .scope = op.scope,
                   .warp = static_cast<u8>(time.warp()),
                   .lane = static_cast<u8>(lane),
                   .site = me.site});
  }
  std::vector<Head> stay;
  const u64 thread = me.place->cta << 10 | u64{time.warp()} << 5 | lane;  // as Head::thread
  for (const Head& h : atomic ? seen : first->heads) {
    const bool mine = h.joined ? h.joined->perhaps(thread) : h.thread() == thread;
    if (atomic || mine) stay.push_back(h);
  }
  stay.insert(stay.end(), own.begin(), own.end());
  merge_heads(stay);
  first->heads = std::move(stay);
}

bool LaunchChecker::of_host(u64 address) const {
  const Allocations::Block* const b = process_.allocations.live(address);
  return b && (b->owner == probe::Memory::Owner::Host || b->owner == probe::Memory::Owner::Managed);
}

// Heads of one thread and scope: the newest tells it all. Many of one CTA and scope are joined.
void LaunchChecker::merge_heads(std::vector<Head>& heads) {
  for (std::size_t i = 0; i < heads.size(); i++) {
    std::erase_if(heads, [&](const Head& h) {
      return &h < &heads[i] && !h.joined && h.place.cta == heads[i].place.cta && h.warp == heads[i].warp &&
             h.lane == heads[i].lane && h.scope == heads[i].scope;
    });
  }
  if (heads.size() < 16) return;
  std::vector<Head> few;
  for (const Head& h : heads) {
    Head* same = nullptr;
    for (Head& f : few) {
      const bool alike =
          f.place.cta == h.place.cta || (h.scope >= probe::Scope::Gpu && f.place.cta >> 32 == h.place.cta >> 32);
      if (f.scope == h.scope && alike) same = &f;
    }
    if (same) {
      same->node = join(same->node, h.node);
      if (!same->joined) same->joined = std::make_shared<Releasers>(), same->joined->add(same->thread());
      h.joined ? same->joined->add(*h.joined) : same->joined->add(h.thread());
    } else {
      few.push_back(h);
    }
  }
  heads = std::move(few);
}

}  // namespace us::sanitizer
