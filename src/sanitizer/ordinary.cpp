// SPDX-License-Identifier: Apache-2.0
// Ordinary accesses of a warp, told by their addresses alone (probe/quick.h). Judged as quick.cpp did the last one of
// their kind: it is asked where something has changed since, or where that does not settle it.
#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;

probe::Quick* LaunchChecker::quick(const probe::Who& who) {
  const std::lock_guard held(process_.lock);
  const At p = find(who);
  return open(*p.cluster, *p.cta, *p.warp);
}

probe::Quick* LaunchChecker::open(Cluster& cluster, Cta& cta, Warp& w) {
  Ordinary& o = w.ordinary;
  o.row = ordinary_row, o.same = ordinary_same, o.lanes = ordinary_lanes;
  o.settled = &cta.settled;
  o.sites = sites_.data();
  o.checker = this, o.cluster = &cluster, o.cta = &cta, o.warp = &w, o.time = &w.time;
  o.ends_untold = !w.special, o.left_at = probe::kNoSite;
  w.tell_collectives();
  return &o;
}

void LaunchChecker::quick_all(const probe::Who& who, u32 warps, probe::Quick** to) {
  const std::lock_guard held(process_.lock);
  Cta& cta = block(who);
  if (cta.plain) {
    for (u32 n = 0; n < warps; n++) cta.warps[n]->ordinary.left_at = probe::kNoSite, to[n] = &cta.warps[n]->ordinary;
    cta.quiet = true;
    return prepare_usual(cta);
  }
  for (u32 n = 0; n < warps; n++) to[n] = open(*cluster_, cta, warp_of(cta, who.cluster, n));
  cta.together = cluster_size_ == 1;
  if (cta.together) {
    if (NamedBarrier& b = cta.barriers[0]; !b.agent) b.agent = cta.agents++;
    for (u32 n = 0; n < warps; n++) to[n]->barrier = &cta.barrier;
    cta.quiet = cta.plain = true;
  }
  prepare_usual(cta);
}

// What the CTAs before did in this phase: there is one call less for each of its warps. In a quiet CTA barriers are
// told again before the next such phase.
void LaunchChecker::prepare_usual(Cta& cta) {
  if (!cta.together) return;
  const u32 phase = cta.phases();
  if (const u32 ways = phase < usual_phases_ ? usual_ways_[phase] : 0) return prepare_all(cta, ways);
  if (!cta.quiet) return;
  u32 next = phase + 1;
  while (next < usual_phases_ && !usual_ways_[next]) next++;
  const bool none = next >= usual_phases_;
  cta.barrier.until = none ? ~0u : cta.barrier.passed + (next - phase - 1);
}

void LaunchChecker::prepare_all(Cta& cta, u32 ways) {
  cta.stir();
  if (cta.plain && !(ways & 1u << Ordinary::Shared)) return prepare_plain(cta);
  cta.plain = false;
  for (const auto& w : cta.warps) {
    if (!w || w->exited || !w->ordinary.checker) continue;
    Ordinary& o = w->ordinary;
    if (ways & 1u << Ordinary::Shared && !o.shared.at) show(o, Ordinary::Shared);
    if (ways & ~(1u << Ordinary::Shared) && !o.global.at) show(o, Ordinary::Global);
  }
}

// None of its warps has done anything to memory that is not only read.
void LaunchChecker::prepare_plain(Cta& cta) {
  const At p{.cluster = cluster_, .cta = &cta};
  if (spent(p)) return;
  const auto warps = static_cast<u32>(cta.warps.size());
  const WarpSegment first{.cta = cta.key, .cluster = static_cast<u32>(cta.place.cluster), .clock = 1};
  u32 n = process_.segments.add_warps(first, warps);
  process_.last_cta = cta.key, cta.own = n;
  const probe::QuickRecords records = global_records();
  for (const auto& w : cta.warps) {
    w->time.number(n, 1);
    probe::QuickRecords& r = w->ordinary.global;
    r = records;
    r.write[0] = u64{n} << 5, r.read[1] = n++;
  }
}

// As all warps may be told, but for their numbers.
probe::QuickRecords LaunchChecker::global_records() const {
  const Planes& planes = process_.global.planes();
  return {.at = planes.quick_records(),
          .pages = planes.quick_pages(),
          .limit = {u64{floor_.warps} << 5, floor_.warps},
          .write = {},
          .read = {}};
}

// The first access of its way since the warp's clock went on, or since it was told of something.
bool LaunchChecker::prepare(Ordinary& o, Ordinary::Way way) {
  const At p{.cluster = o.cluster, .cta = o.cta, .warp = o.warp};
  if (spent(p)) return false;
  if (o.clock != o.time->clock()) o.clock = o.time->clock(), o.ready = 0;
  o.actor[way] = row_actor(p, way), o.ready |= 1u << way;
  show(o, way);
  return true;
}

// What the warp does now, for compiled code.
void LaunchChecker::show(Ordinary& o, Ordinary::Way way) {
  const At p{.cluster = o.cluster, .cta = o.cta, .warp = o.warp};
  const bool shared = way == Ordinary::Shared;
  if ((shared && cluster_size_ > 1) || o.warp->watched(true) || spent(p)) return;
  const u32 segment = shared ? o.time->segment(o.cluster->segments, 0) : global_segment(p);
  probe::QuickRecords& r = shared ? o.shared : o.global;
  r = global_records();
  if (shared) {
    const Planes& planes = o.cta->shared.planes();
    r.at = planes.quick_records(), r.pages = planes.quick_pages();
    r.limit[0] = u64{o.cta->shared_known} << 5, r.limit[1] = o.cta->shared_known;
  }
  r.write[0] = u64{segment} << 5, r.read[1] = segment;
}

namespace {

struct Extent {
  u64 lowest, bytes;
};

#pragma GCC diagnostic ignored "-Wpsabi"  // vectors stay inside
// From the lowest to the highest byte; 0 bytes: one is not aligned.
__attribute__((target_clones("arch=skylake-avx512", "avx2", "default"))) Extent extent(u32 lanes, const u64* address,
                                                                                       u64 size) {
  using A = i64 __attribute__((vector_size(32)));
  const i64 first = static_cast<i64>(address[std::countr_zero(lanes)]);
  A low = A{} + first, high = low, bits = low, bit = {1, 2, 4, 8};
  for (u32 k = 0; k < probe::kLanes; k += 4) {
    A at;
    __builtin_memcpy(&at, address + k, sizeof at);
    const A active = (bit & i64{lanes}) != 0;
    at = (at & active) | (first & ~active);
    low = low < at ? low : at, high = high > at ? high : at, bits |= at, bit <<= 4;
  }
  i64 lowest = low[0], highest = high[0];
  for (u32 k = 1; k < 4; k++) lowest = std::min(lowest, low[k]), highest = std::max(highest, high[k]);
  if (static_cast<u64>(bits[0] | bits[1] | bits[2] | bits[3]) & (size - 1)) return {0, 0};
  return {static_cast<u64>(lowest), static_cast<u64>(highest - lowest) + size};
}

}  // namespace

// Where accesses at this site are in bounds as this one was: in one variable or block.
LaunchChecker::Bounds LaunchChecker::bounds_at(const probe::Who& who, const probe::Access& a, const Span& s) {
  Bounds b{.begin = 0, .end = ~u64{0}, .changes = process_.changes.count(), .unwritten = true};
  const u64 base = a.space == Space::Shared ? who.rank * probe::kCtaStride : 0, at = s.lowest - base;
  const auto narrow = [&](u64 begin, u64 bytes) {
    b.begin = std::max(b.begin, begin), b.end = std::min(b.end, begin + bytes);
  };
  const u32 from = who.site < made_from_.size() ? made_from_[who.site] : kNotAsked;
  if (from < info_->symbols.size() && info_->symbols[from].space == a.space && info_->symbols[from].bytes)
    narrow(info_->symbols[from].begin, info_->symbols[from].bytes);
  if (a.space == Space::Shared) {
    const u64 fixed = kReserved + info_->shared_static;
    const probe::Symbol* const v = at < fixed ? shared_symbol(at) : nullptr;
    v ? narrow(v->begin, v->bytes) : narrow(fixed, info_->shared_dynamic);
    b.unwritten = false;
    return b;
  }
  if (process_.aliases.any()) return {};
  if (!process_.allocations.any()) return b;
  const Allocations::Block* const block = process_.allocations.live(s.lowest);
  if (!block) return {};
  narrow(block->begin, block->bytes);
  if (a.kind != probe::Access::Kind::Read) stores_to(s.lowest);
  b.pure = a.kind == probe::Access::Kind::Read && only_read(*block);
  b.changes = process_.changes.count();
  b.unwritten = !process_.options.uninitialised_global || process_.allocations.all_written(b.begin, b.end);
  if (b.pure) b.marks = marks_of(*block);
  return b;
}

// What compiled code may know of the site.
void LaunchChecker::show(const At& p, const probe::Who& who, const probe::Access& a, const Bounds& b) {
  const bool shared = a.space == Space::Shared;
  const Planes& planes = (shared ? p.cta->shared : process_.global).planes();
  if ((shared && (cluster_size_ > 1 || a.settled)) || (b.pure && !b.marks) || carries_.contains(who.site)) return;
  probe::QuickSite s{.begin = std::max(b.begin, planes.begin())};
  const u64 end = std::min(b.end, planes.begin() + planes.bytes());
  if (end > s.begin) s.bytes = end - s.begin;
  if (b.marks)
    s.words = b.marks->words(), s.sites = b.marks->sites();
  else
    s.sites = !b.unwritten;
  sites_.put(who.site, s);
}

void LaunchChecker::remember(const At& p, const probe::Who& who, const probe::Access& a, const Span& s,
                             const RowActor* me) {
  Ordinary& o = p.warp->ordinary;
  const u32 way = a.space == Space::Shared ? Ordinary::Shared : a.nc ? Ordinary::Nc : Ordinary::Global;
  if (o.clock != p.warp->time.clock()) o.clock = p.warp->time.clock(), o.ready = 0;
  if (me) o.actor[way] = *me, o.ready |= 1u << way;
  if (me && o.checker) show(o, static_cast<Ordinary::Way>(way));
  if (who.site >= bounds_.size()) bounds_.resize(who.site + 1);
  Bounds& b = bounds_[who.site];
  if (b.changes == process_.changes.count() && s.lowest >= b.begin && s.end <= b.end) return;
  b = bounds_at(who, a, s);
  show(p, who, a, b);
}

// Written, as far as the lanes of a settled access look: nothing else can be wrong with it.
template <class Place>
bool LaunchChecker::words_settled(const Planes& planes, u32 lanes, u32 bytes, u64 base, Place&& place) const {
  if (!settling_ || cluster_size_ > 1) return false;
  for (u32 rest = lanes; rest; rest &= rest - 1) {
    const u64 at = place(static_cast<u32>(std::countr_zero(rest))) - base;
    for (u32 k = 0; k < bytes; k += 4) {
      if (const u32 w = planes.writer(at + k); w == 0 || w == kWide) return false;
    }
  }
  return true;
}

namespace {
template <class Place>
void mark_reads(ReadMarks& m, u32 lanes, u32 bytes, u16 site, Place&& place) {
  for (u32 rest = lanes; rest;) {
    const u32 l = static_cast<u32>(std::countr_zero(rest));
    const u64 at = place(l);
    u32 n = 1;
    for (rest &= rest - 1; l + n < probe::kLanes && rest >> (l + n) & 1 && place(l + n) == at + u64{n} * bytes; n++)
      rest &= rest - 1;
    n == 1 ? m.mark(at, bytes / 4, site) : m.mark_row(at, n * bytes / 4, site);
    if (n == 1 && rest && place(static_cast<u32>(std::countr_zero(rest))) == at)  // as others may do
      while (rest && place(static_cast<u32>(std::countr_zero(rest))) == at) rest &= rest - 1;
  }
}
}  // namespace

// All of [begin, begin + bytes) is touched at most; place(lane): an address.
template <class Place, class Judge>
u32 LaunchChecker::ordinary(Ordinary& o, u32 lanes, u32 site, probe::QuickAccess a, u64 begin, u64 bytes, Place&& place,
                            Judge&& judge) {
  const std::lock_guard held(process_.lock);
  const Ordinary::Way way = a.shared ? Ordinary::Shared : a.nc() ? Ordinary::Nc : Ordinary::Global;
  if (site >= bounds_.size() || o.warp->watched(a.write)) return lanes;
  const Bounds& b = bounds_[site];
  if (b.changes != process_.changes.count()) return lanes;
  const Planes& planes = (a.shared ? o.cta->shared : process_.global).planes();
  const u64 base = a.shared ? o.cta->rank * probe::kCtaStride : 0;
  begin -= base;
  if (begin < b.begin || begin + bytes > b.end || !planes.holds(begin, bytes)) return lanes;
  if (a.settled() &&
      (settles(*o.cta, begin, a.settled()) || (!a.write && words_settled(planes, lanes, a.bytes, base, place))))
    return 0;
  if (b.marks) return mark_reads(*b.marks, lanes, a.bytes, static_cast<u16>(site), place), 0;
  if (b.pure) {
    RowActor me = everybody();
    me.site = static_cast<u16>(site), me.unwritten = b.unwritten;
    return judge(planes, base, me, lanes);
  }
  o.cta->stir(), o.cta->plain = false;
  if (!(o.ready >> way & 1) || o.clock != o.time->clock()) {
    if (!prepare(o, way)) return lanes;
    if (const u32 phase = o.cta->phases(); o.cta->together && phase < usual_ways_.size()) {
      usual_ways_[phase] |= static_cast<u8>(1u << way);
      usual_phases_ = std::max(usual_phases_, phase + 1);
      prepare_all(*o.cta, 1u << way);
    }
  }
  RowActor& me = o.actor[way];
  me.site = static_cast<u16>(site);
  me.unwritten = b.unwritten;
  u32 left = judge(planes, base, me, lanes);
  // Does the warp know what stands in the way?
  const Segments& table = a.shared ? o.cluster->segments : process_.segments;
  for (u32 tries = 0; left && tries < 2; tries++) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const u32 stop = obstacle(planes, place(lane) - base, a.bytes / 4, lane, a.write, me).segment;
    if (!stop || me.knows(stop) || a.nc() || !o.time->floor_knows(table[stop])) break;
    me.also[1] = me.also[0], me.also[0] = stop;
    left = judge(planes, base, me, left);
  }
  return left;
}

u32 LaunchChecker::ordinary_row(probe::Quick* q, u32 lanes, u32 site, u32 access, u64 address) {
  if (!lanes) return 0;
  auto& o = *static_cast<Ordinary*>(q);
  const auto a = probe::QuickAccess::unpack(access);
  if (address % a.bytes) return lanes;
  const u32 first = static_cast<u32>(std::countr_zero(lanes)),
            n = 32 - static_cast<u32>(std::countl_zero(lanes)) - first;
  const u64 begin = address + u64{first} * a.bytes, bytes = u64{n} * a.bytes;
  const auto place = [&](u32 lane) { return address + u64{lane} * a.bytes; };
  return o.checker->ordinary(o, lanes, site, a, begin, bytes, place,
                             [&](const Planes& p, u64 base, const RowActor& me, u32 which) {
                               if (!a.shared) *p.touched(begin) = *p.touched(begin + bytes - 1) = 1;
                               return (a.write ? write_rows : read_rows)(p, address - base, a.bytes / 4, which, me);
                             });
}

u32 LaunchChecker::ordinary_same(probe::Quick* q, u32 lanes, u32 site, u32 access, u64 address) {
  if (!lanes) return 0;
  auto& o = *static_cast<Ordinary*>(q);
  const auto a = probe::QuickAccess::unpack(access);
  if (address % a.bytes || (a.write && (lanes & (lanes - 1)))) return lanes;
  const auto place = [&](u32) { return address; };
  const auto judge = [&](const Planes& p, u64 base, const RowActor& me, u32 which) {
    if (!a.shared) *p.touched(address) = 1;
    const u64 at = address - base;
    const u32 words = a.bytes / 4;
    if (!a.write) return read_same(p, at, words, which, me) ? 0 : which;
    return write_lane(p, at, words, static_cast<u32>(std::countr_zero(which)), me) ? 0 : which;
  };
  return o.checker->ordinary(o, lanes, site, a, address, a.bytes, place, judge);
}

u32 LaunchChecker::ordinary_lanes(probe::Quick* q, u32 lanes, u32 site, u32 access, const u64* address) {
  if (!lanes) return 0;
  auto& o = *static_cast<Ordinary*>(q);
  const auto a = probe::QuickAccess::unpack(access);
  const u64 down = u64{0} - a.bytes;
  if (lanes == ~0u && !a.write && address[1] == address[0] + down && address[0] % a.bytes == 0 &&
      equal_to(address, address[0], down) == ~0u) {
    const u64 begin = address[probe::kLanes - 1], bytes = u64{a.bytes} * probe::kLanes;
    return o.checker->ordinary(
        o, lanes, site, a, begin, bytes, [&](u32 lane) { return address[lane]; },
        [&](const Planes& p, u64 base, const RowActor& me, u32 which) {
          if (!a.shared) *p.touched(begin) = *p.touched(begin + bytes - 1) = 1;
          return read_rows_down(p, begin - base, a.bytes / 4, which, me);
        });
  }
  const auto [lowest, bytes] = extent(lanes, address, a.bytes);
  if (!bytes) return lanes;
  const auto place = [&](u32 lane) { return address[lane]; };
  return o.checker->ordinary(o, lanes, site, a, lowest, bytes, place,
                             [&](const Planes& p, u64 base, const RowActor& me, u32 which) {
                               return quick_parts(p, which, address, a.bytes, a.write, !a.shared, base, me);
                             });
}

}  // namespace us::sanitizer
