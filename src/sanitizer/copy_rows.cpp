// SPDX-License-Identifier: Apache-2.0
// cp.async by all lanes of a warp together, each lane behind its neighbour: one segment for all of them, whose words
// are each its lane's own. Where lanes commit or wait apart, or arrive at an mbarrier, every lane gets its own.
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Copies;
using probe::Space;
using probe::Transfer;

void LaunchChecker::mark_row(const At& p, const probe::Who& who, const RowOfCopies& row, const RowActor& from) {
  const Planes& planes = (row.shared ? p.cta->shared : process_.global).planes();
  const Segments& table = row.shared ? p.cluster->segments : process_.segments;
  const u32 words = row.bytes / 4;
  const u64 end = row.begin + u64{row.bytes} * probe::kLanes;
  if (!row.shared)
    for (u64 at = row.begin; at < end; at += u64{1} << kTouchedBits) *planes.touched(at) = *planes.touched(end - 1) = 1;
  RowActor me = from;
  u32 left = who.lanes;
  while (left) {
    left = (row.writes ? write_rows : read_rows)(planes, row.begin, words, left, me);
    if (!left) break;
    const u32 lane = static_cast<u32>(std::countr_zero(left));
    const u32 stop = obstacle(planes, row.begin + u64{lane} * row.bytes, words, lane, row.writes, me).segment;
    if (!stop || me.knows(stop) || !p.warp->time.floor_knows(table[stop])) break;
    me.also[1] = me.also[0], me.also[0] = stop;
  }
  if (!left) return;
  Judge judge = row.shared ? shared_judge(*p.cluster, *p.cta) : global_judge(p.warp, who.lanes);
  Actor one{
      .time = &p.warp->time, .segment = row.segment, .site = who.site, .manner = Manner::Copy, .place = &p.cta->place};
  for (; left; left &= left - 1) {
    one.lane = static_cast<u32>(std::countr_zero(left));
    const u64 first = row.begin + u64{one.lane} * row.bytes;
    for (u64 at = first; at < first + row.bytes; at += 4) {
      if (row.writes && planes.writer(at) == (row.segment << 5 | one.lane)) continue;  // done above
      Cell& word = judge.shadow().word(at);
      if (row.writes) word.flags |= Cell::kWritten;
      const Side* side = judge.shadow().side_if(word);
      const bool split = side && side->bytes;
      for (u32 b = 0; b < (split ? 4u : 1u); b++) {
        Cell& c = split ? judge.shadow().split(word)[b] : word;
        row.writes ? judge.write(c, one, at + b, split ? 1 : 4, nullptr) : judge.read(c, one, at + b, split ? 1 : 4);
      }
      judge.shadow().narrow(at);
    }
  }
}

// All lanes of the event, each a part of the ranges. False: they are told of one by one.
bool LaunchChecker::copy_row(const At& p, const probe::Who& who, const Transfer& t) {
  const u64 n = t.to.size() == 1 ? t.to[0].bytes / probe::kLanes : 0;
  if (who.lanes != ~0u || who.live != ~0u || t.from.size() != 1 || t.from[0].bytes != t.to[0].bytes) return false;
  if (n != 4 && n != 8 && n != 16) return false;
  if (t.from[0].space != Space::Global || t.to[0].space != Space::Shared || who.site >= kNoSmallSite) return false;
  RowGroups& rows = p.warp->copies.rows;
  const u64 to = t.to[0].begin - who.rank * probe::kCtaStride, from = t.from[0].begin;
  const Planes &shared = p.cta->shared.planes(), &global = process_.global.planes();
  if (!p.warp->copies.plain.empty() || process_.aliases.any() || to % n || from % n) return false;
  if (t.to[0].begin / probe::kCtaStride != who.rank || !shared.holds(to, n * probe::kLanes)) return false;
  const Allocations::Block* const block = process_.allocations.live(from);
  const bool inside = block ? from + n * probe::kLanes <= block->end() : !process_.allocations.any();
  const probe::Symbol* const variable = shared_symbol(to);
  const bool leaves =
      variable && to < variable->begin + variable->bytes && to + n * probe::kLanes > variable->begin + variable->bytes;
  if (!inside || leaves || !global.holds(from, n * probe::kLanes)) return false;
  rows.used = true;
  const auto bytes = static_cast<u32>(n);
  Flight f = flight(p, who, 0, Manner::Copy, false);
  f.by.lane = kLaneOfCell, f.by.by_lane = kLaneOfCell;
  const bool pure = block && only_read(*block);
  RowOfCopies source{.begin = from, .bytes = bytes},
      target{.begin = to, .bytes = bytes, .shared = true, .writes = true};
  RowActor me;
  if (pure) {
    me = everybody();
  } else {
    source.segment = process_.segments.add_copy(f.by);
    me = {.segment = source.segment, .floor = floor_.warps, .known = p.cta->known, .known_end = p.cta->known_end};
    me.copies = floor_.of_copies();
    rows.open.push_back(source);
  }
  me.site = static_cast<u16>(who.site), me.own = false, me.unwritten = true;
  source.segment = me.segment;
  ReadMarks* const marks = pure ? marks_of(*block) : nullptr;
  if (marks)
    marks->mark_row(from, bytes / 4 * probe::kLanes, me.site);
  else
    mark_row(p, who, source, me);
  target.segment = p.cluster->segments.add_copy(f.by);
  rows.open.push_back(target);
  me = {.segment = target.segment, .floor = p.cta->shared_known, .copies = p.cta->copies_known};
  me.site = static_cast<u16>(who.site), me.own = false, me.unwritten = true;
  mark_row(p, who, target, me);
  return true;
}

// True: the event was one of all lanes alike.
bool LaunchChecker::row_groups(const At& p, const probe::Who& who, const Copies& c) {
  RowGroups& rows = p.warp->copies.rows;
  if (c.bulk || !p.warp->copies.plain.empty()) return false;
  if (who.lanes != ~0u || who.live != ~0u) return split_rows(p), false;
  if (c.kind == Copies::Kind::Committed) {
    rows.committed.push_back(std::move(rows.open));
    rows.open = std::move(rows.spare);
    rows.open.clear(), rows.used = true;
    return true;
  }
  const auto land = [&](std::vector<RowOfCopies>& group) {
    for (const RowOfCopies& r : group) {
      if (c.read_only && r.writes) return;
      Segment& s = (r.shared ? p.cluster->segments : process_.segments).copy(r.segment);
      s.slot = p.warp->time.warp(), s.clock = p.warp->time.touch();
    }
    group.clear();
  };
  const std::size_t left = c.id == ~u64{0} ? 0 : static_cast<std::size_t>(c.id);
  while (rows.committed.size() > left) {
    land(rows.committed.front());
    rows.spare = std::move(rows.committed.front());
    rows.committed.pop_front();
  }
  if (c.id == ~u64{0}) land(rows.open);
  return true;
}

void LaunchChecker::split_rows(const At& p) {
  LaneCopies& copies = p.warp->copies;
  if (!copies.rows.used) return;
  GroupsOfLane* lanes[probe::kLanes];
  for (u32 l = 0; l < probe::kLanes; l++) {
    lanes[l] = &copies.plain[l];
    lanes[l]->committed.resize(copies.rows.committed.size());
  }
  const auto split = [&](const std::vector<RowOfCopies>& group, std::size_t number) {
    for (const RowOfCopies& r : group)
      split_row(r.shared ? p.cta->shared : process_.global, r.shared ? p.cluster->segments : process_.segments, r,
                lanes, number);
  };
  for (std::size_t k = 0; k < copies.rows.committed.size(); k++) split(copies.rows.committed[k], k);
  split(copies.rows.open, ~std::size_t{0});
  copies.rows = {};
}

void LaunchChecker::split_row(Shadow& shadow, Segments& table, const RowOfCopies& r, GroupsOfLane* const* lanes,
                              std::size_t group) {
  const Segment whole = table.copy(r.segment);
  for (u32 l = 0; l < probe::kLanes; l++) {
    Segment own = whole;
    own.lane = own.by_lane = static_cast<u8>(l);
    const u32 n = table.add_copy(own);
    CopyGroup& to = group == ~std::size_t{0} ? lanes[l]->open : lanes[l]->committed[group];
    (r.shared ? (r.writes ? to.shared_writes : to.shared_reads) : (r.writes ? to.global_writes : to.global_reads))
        .push_back(n);
    const u64 first = r.begin + u64{l} * r.bytes;
    for (u64 at = first; at < first + r.bytes; at += 4) {
      const auto rename = [&](Cell& c) {
        if (c.w_segment == r.segment) c.w_segment = n;
        if (c.r_segment == r.segment) c.r_segment = n;
        if (Side* const s = shadow.side_if(c))
          for (Mark& m : s->readers)
            if (m.segment == r.segment) m.segment = n;
      };
      Cell& word = shadow.word(at);
      rename(word);
      if (Side* const s = shadow.side_if(word); s && s->bytes)
        for (Cell& c : *s->bytes) rename(c);
      shadow.narrow(at);
    }
  }
}

}  // namespace us::sanitizer
