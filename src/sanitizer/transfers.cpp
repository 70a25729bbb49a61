// SPDX-License-Identifier: Apache-2.0
// Asynchronous copies. Order is judged when a copy is issued, with what its issuer knows, and when somebody waits.
//
//   group      the bytes are marked with a segment in flight; a wait makes it the waiting lane's own access
//   mbarrier   the bytes are marked as the mbarrier's, at its phase: whoever knows that the phase is over knows them
//
// The async proxy sees of generic accesses what fence.proxy.async pushed to it, before the issue, by who knew them.
#include <fmt/format.h>

#include <array>
#include <bit>
#include <optional>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;
using probe::Transfer;

namespace {

template <class F>
void each_word(const probe::Range& r, F&& f) {
  for (u64 at = r.begin; at < r.begin + r.bytes;) {
    const bool whole = at % 4 == 0 && r.begin + r.bytes - at >= 4;
    f(at, whole);
    at += whole ? 4 : 1;
  }
}

// In the shared memory of one block.
bool goes_on(const probe::Range& r, const probe::Range& next) {
  const u64 end = r.begin + r.bytes;
  return next.space == r.space && next.begin == end && end % probe::kCtaStride != 0;
}

Pushed proxy_of(Space s) { return s == Space::Shared ? kShared : kGlobal; }

}  // namespace

LaunchChecker::Flight LaunchChecker::flight(const At& p, const probe::Who& who, u32 lane, Manner manner, bool reduces) {
  return {.by = {.cta = p.cta->key,
                 .cluster = who.cluster,
                 .slot = kInFlight,
                 .lane = static_cast<u8>(lane),
                 .manner = manner,
                 .copy = 1,
                 .by_warp = static_cast<u8>(who.warp),
                 .by_lane = static_cast<u8>(lane),
                 .site = who.site,
                 .issued = p.warp->time.touch(),
                 .by_cta = p.cta->key},
          .lane = lane,
          .manner = manner,
          .reduces = reduces};
}

void LaunchChecker::transfer(const probe::Who& who, const Transfer& t) {
  const std::lock_guard held(process_.lock);
  const At p = t.kind == Transfer::Kind::CpAsync ? not_ordinary(who) : at(who);
  if (spent(p)) return;
  if (t.kind == Transfer::Kind::Prefetch) {
    for (const probe::Range& r : t.from) prefetched(who, r.begin);
    return;
  }
  const Telling telling(*this, who);
  if (who.lanes & (who.lanes - 1)) {
    if (copy_row(p, who, t)) return;
    return each_of_row(who, t);
  }
  one_transfer(p, who, t);
}

// cp.async of several lanes, each of which copies its part of the ranges.
void LaunchChecker::each_of_row(const probe::Who& who, const Transfer& t) {
  const u64 n = t.to[0].bytes / static_cast<u32>(std::popcount(who.lanes));
  u64 offset = 0;
  for (u32 rest = who.lanes; rest; rest &= rest - 1, offset += n) {
    probe::Who one = who;
    one.lanes = rest & -rest;
    probe::Range from = t.from[0], to = t.to[0];
    from.begin += offset, from.bytes = n, to.begin += offset, to.bytes = n;
    Transfer part = t;
    part.from = {&from, 1}, part.to = {&to, 1};
    const At p = at(one);
    const Telling telling(*this, one);
    split_rows(p);
    one_transfer(p, one, part);
  }
}

// Rows of a box lie far apart: the host is asked for what is looked at soon.
void LaunchChecker::fetch_records(std::span<const probe::Range> ranges) const {
  if (ranges.size() < 2) return;
  const Planes& planes = process_.global.planes();
  for (const probe::Range& r : ranges)
    if (r.space == Space::Global && planes.holds(r.begin, r.bytes)) __builtin_prefetch(&planes.block(r.begin), 1);
}

void LaunchChecker::one_transfer(const At& p, const probe::Who& who, const Transfer& t) {
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  const bool plain = t.kind == Transfer::Kind::CpAsync;
  const bool proxy = t.kind == Transfer::Kind::Bulk || t.kind == Transfer::Kind::Tensor;
  if (plain) split_rows(p);
  const Flight f = flight(p, who, lane, plain ? Manner::Copy : Manner::Async, t.reduces);
  if (t.beyond) {
    raise(Check::AsyncOperand, {actor(who, lane, "cp.async")}, "size", "the size of the source",
          {fmt::format("it is {} bytes larger than the copy", t.beyond)}, "A size up to that of the copy.");
  }
  if (t.tensormap) {
    check_tensormap(p, who, lane, t.tensormap);
    used_maps_.emplace(t.tensormap, who.site);
  }
  const bool again = proxy && !t.reduces && repeats(p, who, t, lane);
  fetch_records(t.from), fetch_records(t.to);
  for (const bool writes : {false, true}) {
    u32 reports = 0;  // the segment of what reports to the mbarrier, of global memory
    const std::span<const probe::Range> ranges = writes ? t.to : t.from;
    for (std::size_t k = 0; k < ranges.size() && !again; k++) {
      probe::Range r = ranges[k];
      for (; r.space == Space::Shared && k + 1 < ranges.size() && goes_on(r, ranges[k + 1]); k++)
        r.bytes += ranges[k + 1].bytes;
      if (r.space == Space::Shared) r.bytes = inside_variable(who, lane, r, writes);
      if (r.space == Space::Global && !copies_memory(who, lane, r, writes)) continue;
      if (r.space == Space::Global && writes) stores_to(r.begin);
      if (proxy) check_pushed(p, who, r, writes, lane);
      u32 segment = reports;
      if (t.completion == Transfer::Completion::Mbarrier) {
        if (!reports || t.multicast || r.space != Space::Global) segment = reporting(p, who, t, r, f);
        if (r.space == Space::Global) reports = segment;
      } else {
        GroupsOfLane& groups = (plain ? p.warp->copies.plain : p.warp->copies.bulk)[lane];
        segment = flying(groups.open, p, r.space, writes, f);
      }
      mark(p, who, r, writes, segment, f);
    }
  }
  if (t.outside && t.kind == Transfer::Kind::Tensor) {
    raise(Check::TensorOutside, {actor(who, lane, "tensor copy")}, "tensor",
          fmt::format("{} elements of the box", t.outside), {"loads fill them, stores drop them"});
  }
  if (t.completion == Transfer::Completion::Mbarrier) copy_reports(p, who, lane, t);
}

// Does another lane of the warp issue the very copy that was issued last?
bool LaunchChecker::repeats(const At& p, const probe::Who& who, const Transfer& t, u32 lane) {
  if (t.to.empty() || t.from.empty()) return false;
  const LastCopy now{.site = who.site,
                     .lane = lane,
                     .clock = p.warp->time.touch(),
                     .from = t.from[0].begin,
                     .to = t.to[0].begin,
                     .bytes = t.to[0].bytes,
                     .mbarrier = t.mbarrier};
  LastCopy& last = p.warp->last_copy;
  const bool same = last.bytes && last.site == now.site && last.lane != lane && last.clock == now.clock &&
                    last.from == now.from && last.to == now.to && last.bytes == now.bytes &&
                    last.mbarrier == now.mbarrier;
  last = now;
  if (!same) return false;
  raise(Check::AsyncDuplicate, {actor(who, lane, "asynchronous copy")}, "copy",
        fmt::format("a copy of {} bytes", now.bytes), {"another lane of the warp issues the same copy"},
        "One lane issues it (elect.sync).");
  return true;
}

// A copy that begins in a shared variable must end in it. How many of its bytes do?
u64 LaunchChecker::inside_variable(const probe::Who& who, u32 lane, const probe::Range& r, bool writes) {
  const u64 begin = r.begin % probe::kCtaStride, end = begin + r.bytes;
  const probe::Symbol* s = shared_symbol(begin);
  if (!s || begin >= s->begin + s->bytes || end <= s->begin + s->bytes) return r.bytes;
  raise(Check::BoundsShared, {actor(who, lane, writes ? "asynchronous write" : "asynchronous read")}, s->name,
        fmt::format("{} bytes at offset {} of the shared memory", r.bytes, begin),
        {fmt::format("the copy begins in `{}` and ends {} bytes behind it", s->name, end - s->begin - s->bytes)});
  return s->begin + s->bytes - begin;
}

// Is there memory where a copy reads or writes? Mappings may lie side by side.
bool LaunchChecker::copies_memory(const probe::Who& who, u32 lane, const probe::Range& r, bool writes) {
  const Allocations& all = process_.allocations;
  if (!all.any()) return true;
  u64 at = r.begin;
  while (at < r.begin + r.bytes) {
    const Allocations::Block* const b = usable(at);
    if (!b) break;
    at = b->end();
  }
  if (at >= r.begin + r.bytes) return true;
  no_memory(actor(who, lane, writes ? "asynchronous write" : "asynchronous read"), at, r.begin + r.bytes - at);
  return false;
}

// The mbarrier that a range reports to: with multicast, each block's own.
u32 LaunchChecker::reporting(const At& p, const probe::Who& who, const Transfer& t, const probe::Range& r,
                             const Flight& f) {
  u64 address = t.mbarrier;
  if (t.multicast && r.space == Space::Shared)
    address = r.begin / probe::kCtaStride * probe::kCtaStride + t.mbarrier % probe::kCtaStride;
  const u32 rank = static_cast<u32>(address / probe::kCtaStride);
  Segment s = f.by;
  s.reports = true;
  if (rank < cluster_size_) {
    Cta& owner = cta_of(*p.cluster, who, rank);
    MbarrierObject& o = owner.mbarriers[address % probe::kCtaStride];
    if (!o.slot) o.slot = owner.agents++;
    s.cta = owner.key, s.slot = o.slot, s.clock = static_cast<Clock>(o.phase);
    o.copied = true, o.copy = {who.site, who.warp, f.lane, p.cta->key, o.phase, 0};
  }
  return (r.space == Space::Shared ? p.cluster->segments : process_.segments).add_copy(s);
}

u32 LaunchChecker::flying(CopyGroup& g, const At& p, Space space, bool writes, const Flight& f) {
  const bool shared = space == Space::Shared;
  auto& have = shared ? (writes ? g.shared_writes : g.shared_reads) : (writes ? g.global_writes : g.global_reads);
  Segments& table = shared ? p.cluster->segments : process_.segments;
  const Segment* last = have.empty() ? nullptr : &table.copy(have.back());
  if (!last || last->also_slot || last->issued != f.by.issued || last->site != f.by.site)
    have.push_back(table.add_copy(f.by));
  return have.back();
}

void LaunchChecker::mark(const At& p, const probe::Who& who, const probe::Range& r, bool writes, u32 segment,
                         const Flight& f) {
  if (r.space != Space::Shared && r.space != Space::Global) return;
  const bool shared = r.space == Space::Shared;
  Cta* owner = nullptr;
  probe::Range local = r;
  if (!shared && process_.aliases.any()) {
    if (const auto place = process_.aliases.of(r.begin)) local.begin = place->address;
  }
  if (shared) {
    const u32 rank = static_cast<u32>(r.begin / probe::kCtaStride);
    if (rank >= cluster_size_) return wrong_rank(who, f.lane, rank);
    owner = &cta_of(*p.cluster, who, rank);
    local.begin %= probe::kCtaStride;
    if (rank != who.rank) {
      visit(p, who, *owner, 1u << (f.lane & 31), segment);
    } else if (p.cluster->segments[segment].reports) {
      visited(p, who, *owner, 1u << (f.lane & 31), segment);
    }
  }
  Shadow& shadow = shared ? owner->shared : process_.global;
  std::optional<Judge> judged;
  const auto the_judge = [&]() -> Judge& {
    if (!judged) judged.emplace(shared ? shared_judge(*p.cluster, *owner) : global_judge(p.warp, who.lanes));
    return *judged;
  };
  const Actor me{.time = &p.warp->time,
                 .lane = f.lane & 31,
                 .segment = segment,
                 .site = who.site,
                 .manner = f.manner,
                 .place = &p.cta->place};
  const auto slowly = [&](u64 at, bool whole) {
    Judge& judge = the_judge();
    Cell& word = judge.shadow().word(at);
    const Side* side = judge.shadow().side_if(word);
    const auto one = [&](Cell& c, u64 place, u32 bytes) {
      if (f.reduces && writes) {
        Strong op;
        op.scope = shared ? probe::Scope::Cluster : probe::Scope::Gpu, op.begin = at & ~u64{3}, op.bytes = 4,
        op.async = true;
        judge.strong(c, me, op, true, true, place, bytes, nullptr);
      } else if (writes) {
        judge.write(c, me, place, bytes, nullptr);
      } else {
        judge.read(c, me, place, bytes);
      }
    };
    if (writes) word.flags |= Cell::kWritten;
    if (whole && !(side && side->bytes)) {
      one(word, at, 4);
    } else {
      auto& bytes = judge.shadow().split(word);
      for (u64 b = at % 4; b < (whole ? 4 : at % 4 + 1); b++) one(bytes[b], at - at % 4 + b, 1);
    }
    judge.shadow().narrow(at);
  };
  const bool quick = !(f.reduces && writes) && local.begin % 4 == 0 && local.bytes % 4 == 0 &&
                     shadow.planes().holds(local.begin, local.bytes) && who.site < kNoSmallSite && f.lane < 32;
  if (!quick) return each_word(local, slowly);
  RowActor row{.segment = segment, .floor = shared ? p.cta->shared_known : floor_.warps};
  if (shared) row.copies = p.cta->copies_known;
  row.site = static_cast<u16>(who.site), row.own = false, row.unwritten = true;
  if (shared && owner != p.cta) row.floor = 1, row.copies = 0;
  if (!shared) row.known = p.cta->known, row.known_end = p.cta->known_end, row.copies = floor_.of_copies();
  const Planes& planes = shadow.planes();
  const Segments& table = shared ? p.cluster->segments : process_.segments;
  const auto all_known = [&](u32 segment) {  // whichever lane of it
    const Segment s = table[segment];
    return p.warp->time.floor_knows(f.lane, s) || (s.lane < probe::kLanes && p.warp->time.knows(f.lane, s, s.lane));
  };
  const u64 end = local.begin + local.bytes;
  constexpr u64 kPage = u64{1} << kTouchedBits;
  for (u64 at = local.begin; !shared && at < end; at += kPage) *planes.touched(at) = *planes.touched(end - 1) = 1;
  for (u64 at = local.begin; (at = whole_blocks(planes, at, end, writes, f.lane, row)) < end; at += 128) {
    const u64 n = (end - at) / 4;
    u32 left = n < 32 ? (1u << n) - 1 : ~0u;
    for (u32 stop = 1; left && stop;) {
      left = (writes ? write_range : read_range)(planes, at, left, f.lane, row);
      const u64 first = at + 4 * static_cast<u64>(std::countr_zero(left));
      stop = left ? obstacle(planes, first, 1, f.lane, writes, row).segment : 0;
      if (!stop || row.knows(stop) || !all_known(stop)) break;
      row.also[1] = row.also[0], row.also[0] = stop;
    }
    for (; left; left &= left - 1) slowly(at + 4 * static_cast<u64>(std::countr_zero(left)), true);
  }
}

// Generic accesses that the async proxy has not been told of.
void LaunchChecker::check_pushed(const At& p, const probe::Who& who, const probe::Range& r, bool writes, u32 lane) {
  if (r.space != Space::Shared && r.space != Space::Global) return;
  const bool shared = r.space == Space::Shared;
  const u64 rank = r.begin / probe::kCtaStride;
  if (shared && rank >= cluster_size_) return;
  Cta* owner = shared ? &cta_of(*p.cluster, who, static_cast<u32>(rank)) : nullptr;
  Shadow& shadow = shared ? owner->shared : process_.global;
  const Segments& table = shared ? p.cluster->segments : process_.segments;
  const Floor floor = shared ? Floor{1, 0} : floor_;
  const WarpTime& time = p.warp->time;
  struct Asked {
    u32 segment = 0, lanes = 0, missing = 0;
  };
  std::array<Asked, 4> asked;
  const auto any_missing = [&](u32 segment, u32 lanes) {
    if (floor.holds(segment)) return false;
    Asked& a = asked[segment % asked.size()];
    if (a.segment != segment) {
      const bool none = table.launch_of(segment) != launch_ || time.pushed_all(proxy_of(r.space), table[segment]);
      a = {segment, none ? ~0u : 0, 0};
    }
    if (!(lanes & ~a.lanes)) return (a.missing & lanes) != 0;
    for (u32 rest = lanes & ~a.lanes; rest; rest &= rest - 1) {
      const u32 its_lane = static_cast<u32>(std::countr_zero(rest));
      const Segment s = table[segment];
      const bool away = time.knows(lane, s, its_lane) && !time.pushed(lane, proxy_of(r.space), s, its_lane);
      a.missing |= u32{away} << its_lane;
    }
    a.lanes |= lanes;
    return (a.missing & lanes) != 0;
  };
  const auto missing = [&](u32 segment, u32 its_lane) { return any_missing(segment, 1u << (its_lane & 31)); };
  const auto one = [&](const Cell& c, u64 at) {
    if (c.w_segment && c.w_manner != Manner::Async && missing(c.w_segment, c.w_lane)) {
      const Segment& s = table[c.w_segment];
      return not_pushed(Check::ProxyAsync, who, lane, writes,
                        {.action = "write",
                         .site = c.w_site,
                         .cta = s.cta,
                         .warp = s.slot < kFirstAgent ? s.slot : s.by_warp,
                         .lane = c.w_lane},
                        r.space, at, owner);
    }
    if (!writes || !c.r_segment || c.r_manner == Manner::Async) return;
    const u32 reader = static_cast<u32>(std::countr_zero(c.r_lanes)) & 31;
    if (!missing(c.r_segment, reader)) return;
    const Segment& s = table[c.r_segment];
    not_pushed(Check::ProxyReuse, who, lane, writes,
               {.action = "read",
                .site = c.r_site,
                .cta = s.cta,
                .warp = s.slot < kFirstAgent ? s.slot : s.by_warp,
                .lane = reader},
               r.space, at, owner);
  };
  const u64 base = shared ? rank * probe::kCtaStride : 0;
  const Planes& planes = shadow.planes();
  const auto asked_of = [&](u32 segment) {
    return segment && !floor.holds(segment) && table.manner_of(segment) != Manner::Async;
  };
  // Whatever lanes did: neighbours mostly have one segment.
  struct {
    u32 writer = kWide, reader = kWide;
  } fine;
  const auto never_missing = [&](u32 segment) {
    if (!asked_of(segment)) return true;
    any_missing(segment, 0);
    const Asked& a = asked[segment % asked.size()];
    return a.lanes == ~0u && a.missing == 0;
  };
  const auto none_missing = [&](const Block& b) {  // of the lanes of its words
    if (b.w >> 5 == fine.writer && (!writes || b.r == fine.reader)) return true;
    if (b.r < kCtas && never_missing(b.w >> 5) && (!writes || never_missing(b.r))) return fine = {b.w >> 5, b.r}, true;
    const bool wrote = asked_of(b.w >> 5), read = writes && b.r && (b.r >= kCtas || asked_of(b.r));
    const auto lanes = [](Spread s) {
      u32 all = 0;
      if (s.shift == Spread::kOneLane) return 1u << (s.lane & 31);
      for (u32 i = 0; i < kBlockWords; i++) all |= 1u << (s.of(i) & 31);
      return all;
    };
    if (wrote && any_missing(b.w >> 5, lanes(b.writer()))) return false;
    return !read || !(b.r >= kCtas ? missing(b.m, 0) : any_missing(b.r, lanes(b.reader())));
  };
  const auto by_word = [&](u64 at, bool) {
    if (shadow.is_split(at)) {
      for (u64 b = at; b < at - at % 4 + 4 && b < r.begin - base + r.bytes; b++) one(shadow.look_byte(b), b);
      return;
    }
    const Cell word = shadow.look(at);
    if (writes && shared && word.flags & Cell::kMbarrier) return mbarrier_bytes(who, lane, "asynchronous write", at);
    const Side* side = shadow.side_if(word);
    if (!side || !side->bytes) return one(word, at);
    for (u64 b = at % 4; b < 4 && at - at % 4 + b < r.begin - base + r.bytes; b++)
      one((*side->bytes)[b], at - at % 4 + b);
  };
  const u64 end = r.begin - base + r.bytes;
  const bool held = planes.holds(r.begin - base, r.bytes);
  for (u64 at = r.begin - base; at < end;) {
    if (held && (at - planes.begin()) % kBlockBytes == 0) {
      const Block* b = &planes.block(at);
      for (; at + kBlockBytes <= end && b->w != kWide && none_missing(*b); b++) at += kBlockBytes;
      if (at >= end) break;
    }
    const u64 block_end = at - (at - planes.begin()) % kBlockBytes + kBlockBytes;
    const bool fine =
        planes.holds(at, kBlockBytes) && at % 4 == 0 && planes.block(at).w != kWide && none_missing(planes.block(at));
    const u64 part = std::min(end, planes.holds(at, 1) ? block_end : end) - at;
    if (!fine || part % 4) each_word({r.space, at, part}, by_word);
    at += part;
  }
}

void LaunchChecker::not_pushed(Check check, const probe::Who& who, u32 lane, bool writes, Actors other, Space space,
                               u64 address, const Cta* owner) {
  std::vector<std::string> why = {
      fmt::format("The {} is ordered before the copy, but no fence.proxy.async by a thread that knew of it lies "
                  "between: the copy may not see it.",
                  other.action)};
  if (check == Check::ProxyReuse)
    why = {
        "The read is ordered before the copy by barriers or mbarriers only. The PTX ISA asks for fence.proxy.async; "
        "libraries rely on the order alone."};
  raise(check, {actor(who, lane, writes ? "asynchronous write" : "asynchronous read"), std::move(other)},
        object_kind(space, address), object_text(space, address, 4, owner), std::move(why),
        fmt::format("fence.proxy.async{} in the {} threads, before the barrier that lets the copy begin.",
                    space == Space::Shared ? ".shared::cta" : ".global",
                    check == Check::ProxyReuse ? "reading" : "writing"));
}

void LaunchChecker::check_tensormap(const At& p, const probe::Who& who, u32 lane, u64 address) {
  for (u64 at = address; at < address + 128; at += 4) {
    const Cell c = process_.global.look(at);
    if (!c.w_segment || floor_.holds(c.w_segment) || c.w_manner == Manner::Async) continue;
    const Segment& s = process_.segments[c.w_segment];
    if (s.launch() != launch_) continue;
    if (acquired_maps_.contains(address) && p.warp->time.pushed(lane, kTensormap, s, c.w_lane)) continue;
    return raise(Check::ProxyTensormap, {actor(who, lane, "tensor copy"), written_by(c)}, "tensormap",
                 fmt::format("the tensor map at {:#x}", address),
                 {"The map was changed by this kernel, and the issuing thread has not acquired the change: the old map "
                  "may be used."},
                 "fence.proxy.tensormap::generic.release by the writer, and .acquire over 128 bytes before the copy.");
  }
}

}  // namespace us::sanitizer
