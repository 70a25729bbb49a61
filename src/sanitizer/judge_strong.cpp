// SPDX-License-Identifier: Apache-2.0
// The judge of strong accesses, and of weak ones against strong ones.
#include "sanitizer/judge.h"

namespace us::sanitizer {
namespace {

constexpr std::size_t kWrites = 128, kReads = 256;  // of a location, of a launch, that are kept

}  // namespace

// A write is ordered before whatever follows the one that observed it, itself or through a chain of atomics.
bool Judge::observed(const Location& loc, std::size_t i, const Actor& a) {
  u64 last = loc.writes[i].number;  // of the chain that begins with this write
  for (std::size_t k = i + 1; k < loc.writes.size(); k++) {
    const Strong& w = loc.writes[k];
    if (!w.linked) break;
    if (ordered(w.segment, w.lane, a)) return true;
    last = w.number;
  }
  for (const Strong& r : loc.reads) {
    if (r.number >= loc.writes[i].number && r.number <= last && ordered(r.segment, r.lane, a)) return true;
  }
  return false;
}

void Judge::judge_writes_of(Location& loc, const Actor& a, bool writes, const Strong* mine, u64 address, u32 bytes) {
  if (mine && loc.alike(*mine)) return;
  for (std::size_t i = loc.writes.size(); i-- > 0;) {
    const Strong& w = loc.writes[i];
    if (mine && morally_strong(*mine, w) && !(mine->is_volatile && w.is_volatile)) continue;
    if (ordered(w.segment, w.lane, a) || observed(loc, i, a)) continue;
    return conflict(a, writes, mine, w, true, address, bytes);
  }
}

void Judge::judge_reads_of(Location& loc, const Actor& a, const Strong* mine, u64 address, u32 bytes) {
  if (mine && loc.alike(*mine)) return;
  for (const Strong& r : loc.reads) {
    if (mine && morally_strong(*mine, r) && !(mine->is_volatile && r.is_volatile)) continue;
    if (ordered(r.segment, r.lane, a)) continue;
    return conflict(a, true, mine, r, false, address, bytes);
  }
}

void Judge::strong(Cell& c, const Actor& a, Strong op, bool reads, bool writes, u64 address, u32 bytes,
                   const u32* value) {
  Location& loc = shadow_.location(c);
  const auto old = [&](const Strong& s) { return floor_.holds(s.segment); };
  if (!loc.writes.empty() && old(loc.writes.front())) std::erase_if(loc.writes, old);
  if (!loc.reads.empty() && old(loc.reads.front())) std::erase_if(loc.reads, old);
  op.segment = a.segment, op.lane = static_cast<u8>(a.lane), op.site = a.site, op.place = *a.place;
  op.rmw = reads && writes;
  if (writes) {
    judge_write(c, a, address, bytes, value);
  } else if (c.w_segment && !ordered(c.w_segment, c.w_lane, a)) {
    conflict(a, false, {c.w_segment, 1u << (c.w_lane & 31), c.w_site, c.w_manner}, true, address, bytes, false);
  }
  judge_writes_of(loc, a, writes, &op, address, bytes);
  if (writes) judge_reads_of(loc, a, &op, address, bytes);
  const bool follows =
      !loc.writes.empty() && loc.writes.back().number == loc.numbered && morally_strong(loc.writes.back(), op);
  const auto same = [&](const Strong& s) {
    return s.segment == op.segment && s.lane == op.lane && s.scope == op.scope && s.begin == op.begin &&
           s.bytes == op.bytes;
  };
  loc.note(op);
  if (!writes) {
    op.number = follows ? loc.numbered : 0;
    std::erase_if(loc.reads, [&](const Strong& s) { return same(s) && s.number <= op.number; });
    if (loc.reads.size() >= kReads) loc.reads.erase(loc.reads.begin(), loc.reads.begin() + kReads / 2);
    loc.reads.push_back(op);
    return;
  }
  op.number = ++loc.numbered;
  op.linked = op.rmw && follows;
  if (op.linked && loc.writes.size() > 1 && same(loc.writes.back()) && loc.writes.back().linked) loc.writes.pop_back();
  if (loc.writes.size() >= kWrites) loc.writes.erase(loc.writes.begin(), loc.writes.begin() + kWrites / 2);
  loc.writes.push_back(op);
  c.flags = static_cast<u8>((c.flags | Cell::kWritten) & ~Cell::kValue);
  if (value && !op.rmw) c.value = *value, c.flags |= Cell::kValue;
}

void Judge::conflict(const Actor& a, bool writes, const Strong* mine, const Strong& other, bool other_writes,
                     u64 address, u32 bytes) {
  Conflict k;
  k.mine = {.segment = table_[a.segment], .lane = a.lane, .site = a.site, .writes = writes, .manner = a.manner};
  if (mine) k.mine.manner = Manner::Strong, k.mine.scope = mine->scope, k.mine.rmw = mine->rmw;
  k.other = {.segment = table_[other.segment],
             .lane = other.lane,
             .site = other.site,
             .writes = other_writes,
             .rmw = other.rmw,
             .manner = Manner::Strong,
             .scope = other.scope};
  if (other.is_volatile) k.other.manner = Manner::Volatile;
  if (mine && mine->is_volatile) k.mine.manner = Manner::Volatile;
  k.address = address, k.bytes = bytes;
  k.by_volatile = mine && morally_strong(*mine, other);
  k.span_differs = mine && (mine->begin != other.begin || mine->bytes != other.bytes);
  k.proxy_differs = mine && mine->async != other.async;
  sink_(k);
}

}  // namespace us::sanitizer
