// SPDX-License-Identifier: Apache-2.0
// Weak accesses whose lanes are judged together, on the planes.
#include <algorithm>
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Space;

LaunchChecker::Span LaunchChecker::span(u32 lanes, const probe::Access& a) {
  const u32 bytes = a.bytes * a.count, at = static_cast<u32>(std::countr_zero(lanes));
  const u64 first = a.address[at];
  Span s{.lowest = ~u64{0}};
  u64 highest = 0, differ = 0, off_row = 0;
  s.first = first - u64{at} * bytes;
  for (u32 l = 0; l < probe::kLanes; l++) {
    const u64 active = u64{0} - (lanes >> l & 1), address = (a.address[l] & active) | (first & ~active);
    s.lowest = address < s.lowest ? address : s.lowest;
    highest = address > highest ? address : highest;
    s.bits |= address, differ |= address ^ first;
    off_row |= (a.address[l] ^ (s.first + u64{l} * bytes)) & active;
  }
  s.end = highest + bytes;
  s.same = differ == 0, s.row = off_row == 0;
  return s;
}

// Is all of it in one variable or block? What is not is looked at by lane.
bool LaunchChecker::quick_bounds(const probe::Who& who, const probe::Access& a, const Span& s, RowActor& me) {
  const u64 base = a.space == Space::Shared ? who.rank * probe::kCtaStride : 0, begin = s.lowest - base,
            end = s.end - base;
  const probe::Symbol* const from = made_from(who.site);
  if (from && from->space == a.space && from->bytes && (begin < from->begin || end > from->begin + from->bytes))
    return false;
  if (a.space == Space::Shared) {
    const u64 fixed = kReserved + info_->shared_static;
    if (s.lowest < base + kReserved || end > fixed + info_->shared_dynamic) return false;
    if (begin >= fixed) return true;
    const probe::Symbol* const v = shared_symbol(begin);
    return v && end <= v->begin + v->bytes;
  }
  me.unwritten = !process_.options.uninitialised_global || !process_.allocations.any();
  if (!process_.allocations.any()) return true;
  const Allocations::Block* const b = process_.allocations.live(s.lowest);
  if (!b || s.end > b->end()) return false;
  me.unwritten = me.unwritten || process_.allocations.all_written(s.lowest, s.end);
  return true;
}

// What the warp knows until its clock goes on.
RowActor LaunchChecker::row_actor(const At& p, Ordinary::Way way) {
  RowActor me;
  const bool met = p.warp->met == p.warp->time.clock();
  if (way == Ordinary::Shared) {
    me.segment = p.warp->time.segment(p.cluster->segments, 0);
    me.floor = p.cta->shared_known, me.copies = p.cta->copies_known;
    me.many = info_->barriers_only && cluster_size_ == 1 && met;
    me.mine = 1, me.mine_end = Segments::kCopies;
    return me;
  }
  me.segment = global_segment(p);
  me.floor = floor_.warps, me.copies = floor_.of_copies();
  me.many = info_->barriers_only && after_all_ && met;
  if (process_.last_cta == p.cta->key) me.mine = p.cta->own, me.mine_end = process_.segments.next().warps;
  if (way == Ordinary::Nc)
    me.own = false;  // nothing that this launch has written
  else
    me.known = p.cta->known, me.known_end = p.cta->known_end;
  return me;
}

u32 LaunchChecker::quick(const At& p, const probe::Who& who, const probe::Access& a) {
  using Kind = probe::Access::Kind;
  const u32 bytes = a.bytes * a.count;
  if (!std::has_single_bit(bytes) || bytes > 16 || who.site >= kNoSmallSite || !who.lanes) return who.lanes;
  const bool shared = a.space == Space::Shared;
  Shadow& shadow = shared ? p.cta->shared : process_.global;
  const Planes& planes = shadow.planes();
  const Span s = span(who.lanes, a);
  const u64 base = shared ? who.rank * probe::kCtaStride : 0;
  if (s.bits & (bytes - 1) || s.lowest < base || !planes.holds(s.lowest - base, s.end - s.lowest)) return who.lanes;
  if (a.kind == Kind::Write && !a.values.empty() && !shadow.has_memory()) return who.lanes;
  if (!shared && process_.aliases.any() && process_.aliases.of(s.lowest)) return who.lanes;
  const Allocations::Block* const block = shared ? nullptr : process_.allocations.live(s.lowest);
  const bool pure = block && a.kind == probe::Access::Kind::Read && only_read(*block);
  if (block && a.kind == probe::Access::Kind::Write) stores_to(s.lowest);
  RowActor me = pure ? everybody() : row_actor(p, shared ? Ordinary::Shared : a.nc ? Ordinary::Nc : Ordinary::Global);
  me.site = static_cast<u16>(who.site);
  if (!quick_bounds(who, a, s, me)) return who.lanes;
  if (a.settled && settles(*p.cta, s.lowest - base, a.settled)) return 0;
  if (!shared) *planes.touched(s.lowest) = *planes.touched(s.end - 1) = 1;
  const u32 left = bytes < 4 ? who.lanes : quick_rows(p, planes, who.lanes, a, s, base, me);
  if (bytes % 4 == 0 && a.bytes % 4 == 0) remember(p, who, a, s, pure ? nullptr : &me);
  return left ? quick_bytes(p, shadow, left, a, base, me) : 0;
}

// Words of which lanes access parts, or did: their bytes are judged as words are, four times as far apart.
u32 LaunchChecker::quick_bytes(const At& p, Shadow& shadow, u32 lanes, const probe::Access& a, u64 base, RowActor& me) {
  const u32 bytes = a.bytes * a.count;
  const bool writes = a.kind == probe::Access::Kind::Write, global = a.space == Space::Global;
  const auto each_word = [&](u64 address, auto&& f) {
    for (u64 at = (address - base) & ~u64{3}; at < address - base + bytes; at += 4) f(at);
  };
  u64 address[probe::kLanes] = {};
  u32 split = 0;
  for (u32 rest = lanes; rest; rest &= rest - 1) {
    const u32 lane = static_cast<u32>(std::countr_zero(rest));
    bool any = bytes < 4;
    if (!any) each_word(a.address[lane], [&](u64 at) { any = any || shadow.is_split(at); });
    if (!any || !shadow.split(a.address[lane] - base, bytes)) continue;
    split |= 1u << lane, address[lane] = 4 * (a.address[lane] - base);
    if (global) *shadow.planes().touched(a.address[lane]) = 1;
  }
  if (!split) return lanes;
  const Planes& planes = shadow.planes().bytes_of_words();
  u32 left = split;
  if (bytes <= 4) {
    probe::Access parts = a;
    parts.address = address, parts.bytes = 4 * bytes, parts.count = 1;
    left = quick_rows(p, planes, split, parts, span(split, parts), 0, me);
  } else {
    for (u32 rest = split; rest;) {
      const u32 lane = static_cast<u32>(std::countr_zero(rest)), all = (1u << bytes) - 1;
      rest &= rest - 1;
      if (!(writes ? write_range : read_range)(planes, address[lane], all, lane, me))
        left &= ~(1u << lane);
      else if (writes)
        rest &= ~equal_to(address, address[lane], 0);  // as in quick_parts
    }
  }
  // Who has written all of a word: it is whole again.
  for (u32 rest = writes && bytes >= 4 ? split & ~left : 0; rest;) {
    const u32 first = static_cast<u32>(std::countr_zero(rest));
    u32 n = 1;  // lanes behind each other
    while (u64{rest} >> first >> n & 1 && a.address[first + n] == a.address[first] + u64{n} * bytes) n++;
    shadow.planes().unsplit(a.address[first] - base, u64{n} * bytes);
    for (u32 lane = first; lane < first + n; lane++, rest &= rest - 1)
      each_word(a.address[lane], [&](u64 at) {
        const u32 w = me.segment << 5 | lane;
        shadow.planes().put_word(at, {.w = w, .r = 0, .m = 0, .w_site = me.site, .r_site = me.site});
      });
  }
  return (lanes & ~split) | left;
}

// Of what the warp does now. Those of one CTA that follow each other are noted.
u32 LaunchChecker::global_segment(const At& p) {
  const u32 next = process_.segments.next().warps, n = p.warp->time.segment(process_.segments, 1);
  if (n == next && process_.last_cta != p.cta->key) process_.last_cta = p.cta->key, p.cta->own = n;
  return n;
}

// Lanes that have one address, or lie behind each other, together; what is left of many by lane.
u32 LaunchChecker::quick_parts(const Planes& planes, u32 lanes, const u64* address, u32 bytes, bool writes, bool global,
                               u64 base, const RowActor& me) {
  constexpr u32 kParts = 6;
  constexpr int kFew = 4;
  const u32 words = bytes / 4;
  u32 left = lanes, done = 0;
  for (u32 part = 0; left && part < kParts; part++) {
    const u32 l = static_cast<u32>(std::countr_zero(left));
    const u64 at = address[l], first = at - u64{l} * bytes;
    const u32 same = equal_to(address, at, 0) & left, row = equal_to(address, first, bytes) & left;
    if (!writes && row == 1u << l) {
      const u64 top = at + u64{l} * bytes;  // lane 0's, if they go down
      const u32 down = equal_to(address, top, u64{0} - bytes) & left;
      if (std::popcount(down) >= kFew && std::popcount(down) > std::popcount(same)) {
        const u64 lowest = top - u64{31} * bytes;
        if (global) *planes.touched(at - base) = *planes.touched(address[31 - std::countl_zero(down)] - base) = 1;
        if (lowest - base >= planes.begin() && lowest >= base)
          done |= down & ~read_rows_down(planes, lowest - base, words, down, me), left &= ~down;
        else
          break;
        continue;
      }
    }
    if (std::popcount(row) < kFew && (writes || std::popcount(same) < kFew)) break;  // so are the others
    u32 taken = row;
    if (global) {
      *planes.touched(at - base) = 1;
      *planes.touched(address[31 - std::countl_zero(row)] - base) = 1;
    }
    if (!writes && row == 1u << l) {
      taken = same;
      if (read_same(planes, at - base, words, same, me)) done |= same;
    } else {
      done |= row & ~(writes ? write_rows : read_rows)(planes, first - base, words, row, me);
    }
    left &= ~taken;
  }
  while (left) {
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const u64 at = address[lane] - base;
    left &= left - 1;
    if (global) *planes.touched(at) = 1;
    if ((writes ? write_lane : read_lane)(planes, at, words, lane, me))
      done |= 1u << lane;
    else if (writes)
      left &= ~equal_to(address, address[lane], 0);  // lanes at one place are judged in their order
  }
  return lanes & ~done;
}

u32 LaunchChecker::quick_rows(const At& p, const Planes& planes, u32 lanes, const probe::Access& a, const Span& s,
                              u64 base, RowActor& me) {
  const Segments& table = a.space == Space::Shared ? p.cluster->segments : process_.segments;
  const bool writes = a.kind == probe::Access::Kind::Write;
  const u32 words = a.bytes * a.count / 4;
  u32 left = lanes, given_up = 0;
  for (u32 round = 0; left; round++) {
    const u32 tried = left;
    if (s.same && !writes) {
      if (read_same(planes, s.lowest - base, words, left, me)) left = 0;
    } else if (s.row) {
      left = (writes ? write_rows : read_rows)(planes, s.first - base, words, left, me);
    } else {
      left = quick_parts(planes, left, a.address, 4 * words, writes, a.space == Space::Global, base, me);
    }
    // Does the warp know what stands in the way of the first lane that is left?
    while (left) {
      const u32 lane = static_cast<u32>(std::countr_zero(left));
      const auto [stop, read, then] = obstacle(planes, a.address[lane] - base, words, lane, writes, me);
      const auto learns = [&](u32 s) {
        const bool below = a.space == Space::Global && floor_.holds(s);
        if (!s || me.knows(s) || (!below && (a.nc || !p.warp->time.floor_knows(table[s])))) return false;
        me.also[1] = me.also[0], me.also[0] = s;
        return true;
      };
      if (learns(stop) || (me.knows(stop) && learns(then))) break;
      if (stop && read && !writes && me.many && !table[stop].copy) {
        (table[stop].cta == p.cta->key ? me.also_mine : me.foreign) = stop;
        break;
      }
      if (s.same && !writes) return given_up | left;
      given_up |= 1u << lane, left &= ~(1u << lane);
    }
    if (round > 8 && tried == left) break;
  }
  return given_up | left;
}

// Copies that somebody has waited for before the barrier: all know them now.
void LaunchChecker::copies_met(Cta& cta) {
  Segments& table = cluster_->segments;
  u32 n = Segments::kCopies + std::max(1u, cta.copies_known);
  for (; n < table.next().copies; n++) {
    const Segment& s = table.copy(n);
    if (s.slot >= cta.warps.size() || s.cta != cta.key) break;
    const Warp* const w = cta.warps[s.slot].get();
    if (!w || s.clock >= w->met) break;
  }
  cta.copies_known = n - Segments::kCopies;
}

// At a barrier of all threads, before anybody leaves it.
void LaunchChecker::all_met(Cta& cta) {
  for (const auto& w : cta.warps) {
    if (w) w->met = w->time.clock();
  }
  if (cluster_size_ == 1 && cluster_) cta.shared_known = cluster_->segments.next().warps, copies_met(cta);
  if (process_.last_cta == cta.key) cta.known = cta.own, cta.known_end = process_.segments.next().warps;
}

}  // namespace us::sanitizer
