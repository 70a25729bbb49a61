// SPDX-License-Identifier: Apache-2.0
#include "sanitizer/judge.h"

#include <bit>

namespace us::sanitizer {
namespace {

constexpr std::size_t kReaders = 64;  // of a word, unordered, that are kept

template <class F>
bool all_of_lanes(u32 lanes, F&& f) {
  for (; lanes; lanes &= lanes - 1) {
    if (!f(static_cast<u32>(std::countr_zero(lanes)))) return false;
  }
  return true;
}

Mark writer(const Cell& c) { return {c.w_segment, 1u << (c.w_lane & 31), c.w_site, c.w_manner}; }

}  // namespace

bool Judge::ordered(u32 segment, u32 its_lane, const Actor& a) {
  if (floor_.holds(segment)) return true;
  const Segment& s = table_[segment];
  if (s.launch() != launch_ && !s.flying() && before_(s)) return true;
  if (a.time->floor_knows(s)) return true;
  return a.time->knows(a.lane, s, its_lane);
}

bool Judge::ordered(const Mark& m, const Actor& a) {
  if (floor_.holds(m.segment)) return true;
  const Segment& s = table_[m.segment];
  if (s.launch() == launch_ && a.time->floor_knows(s)) return true;
  if (!m.lanes) {  // any: silence where one of them is known
    for (u32 l = 0; l < 32; l++) {
      if (ordered(m.segment, l, a)) return true;
    }
    return false;
  }
  return all_of_lanes(m.lanes, [&](u32 l) { return ordered(m.segment, l, a); });
}

void Judge::read(Cell& c, const Actor& a, u64 address, u32 bytes) {
  const bool own = c.w_segment == a.segment && c.w_lane == a.lane;
  if (c.w_segment && !own && !ordered(c.w_segment, c.w_lane, a))
    conflict(a, false, writer(c), true, address, bytes, false);
  if (Location* loc = shadow_.location_if(c)) judge_writes_of(*loc, a, false, nullptr, address, bytes);
  const Mark me{a.segment, 1u << a.lane, a.site, a.manner};
  if (c.r_segment == me.segment && c.r_manner == me.manner) {
    c.r_lanes = c.r_lanes ? c.r_lanes | me.lanes : 0, c.r_site = me.site;
    return;
  }
  const Mark have{c.r_segment, c.r_lanes, c.r_site, c.r_manner};
  Side* side = shadow_.side_if(c);
  const bool list = side && !side->readers.empty();
  if (have.segment && floor_.holds(have.segment) && list) side->readers.clear(), side->many = false;
  if (have.segment && !ordered(have, a)) {
    keep(shadow_.side(c), have, a);
  }
  c.r_segment = me.segment, c.r_lanes = me.lanes, c.r_site = me.site, c.r_manner = me.manner;
}

// Beside the newest reader: those that it is not ordered behind.
void Judge::keep(Side& s, const Mark& reader, const Actor& a) {
  for (Mark& m : s.readers) {
    if (m.segment == reader.segment && m.manner == reader.manner && m.lanes && reader.lanes)
      return void(m.lanes |= reader.lanes);
  }
  if (s.many) return;
  if (s.readers.size() >= kReaders) {
    std::erase_if(s.readers, [&](const Mark& m) { return ordered(m, a); });
    s.many = s.readers.size() >= kReaders;
  }
  if (!s.many) s.readers.push_back(reader);
}

bool Judge::judge_readers(Cell& c, const Actor& a, u64 address, u32 bytes) {
  bool fine = true;
  const auto one = [&](const Mark& m) {
    if (!m.segment || floor_.holds(m.segment)) return;
    if (table_[m.segment].cta == everybody_in(launch_)) return;  // a store that was not expected: who knows
    if (!m.lanes && table_[m.segment].cta == a.time->cta() && table_[m.segment].slot == a.time->warp()) return;
    if (ordered(m, a)) return;
    u32 bad = 0;
    all_of_lanes(m.lanes, [&](u32 l) { return (ordered(m.segment, l, a) ? 0 : bad |= 1u << l), true; });
    if (fine) conflict(a, true, {m.segment, bad, m.site, m.manner}, false, address, bytes, false);
    fine = false;
  };
  one({c.r_segment, c.r_lanes, c.r_site, c.r_manner});
  if (const Side* s = shadow_.side_if(c)) {
    for (const Mark& m : s->readers) one(m);
  }
  return fine;
}

void Judge::judge_write(Cell& c, const Actor& a, u64 address, u32 bytes, const u32* value) {
  if (c.w_segment && !ordered(c.w_segment, c.w_lane, a)) {
    conflict(a, true, writer(c), true, address, bytes, value && c.flags & Cell::kValue && c.value == *value);
  }
  judge_readers(c, a, address, bytes);
}

void Judge::write(Cell& c, const Actor& a, u64 address, u32 bytes, const u32* value) {
  judge_write(c, a, address, bytes, value);
  if (Side* s = shadow_.side_if(c)) {
    if (s->location) {
      judge_writes_of(*s->location, a, true, nullptr, address, bytes);
      judge_reads_of(*s->location, a, nullptr, address, bytes);
      s->location.reset();
    }
    s->readers.clear(), s->many = false;
  }
  c.w_segment = a.segment, c.w_lane = static_cast<u8>(a.lane), c.w_site = a.site, c.w_manner = a.manner;
  c.r_segment = 0;
  c.flags = static_cast<u8>((c.flags | Cell::kWritten) & ~Cell::kValue);
  if (value) c.value = *value, c.flags |= Cell::kValue;
}

void Judge::conflict(const Actor& a, bool writes, const Mark& other, bool other_writes, u64 address, u32 bytes,
                     bool same) {
  Conflict k;
  k.mine = {
      .segment = table_[a.segment], .lane = a.lane, .site = a.site, .writes = writes, .rmw = a.rmw, .manner = a.manner};
  k.other = {.segment = table_[other.segment],
             .lane = static_cast<u32>(std::countr_zero(other.lanes)),
             .site = other.site,
             .writes = other_writes,
             .manner = other.manner};
  for (Access* one : {&k.mine, &k.other})
    if (one->segment.copy && one->segment.by_lane == kLaneOfCell)
      one->segment.by_lane = static_cast<u8>(one->lane & 31);
  k.address = address, k.bytes = bytes, k.same_value = same;
  sink_(k);
}

}  // namespace us::sanitizer
