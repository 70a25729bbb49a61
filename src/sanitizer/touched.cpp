// SPDX-License-Identifier: Apache-2.0
// What a launch has read and written of global memory, as the cells tell at its end.
#include <algorithm>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {
namespace {

constexpr u32 kNot = ~0u - 1;   // no site
constexpr u64 kMapBytes = 128;  // bytes

void add(std::vector<Touched>& to, u64 begin, u64 bytes, bool write, u32 site) {
  for (auto last = to.rbegin(); last != to.rend() && last - to.rbegin() < 2; ++last) {
    if (last->write != write) continue;
    if (last->begin + last->bytes == begin) return void(last->bytes += bytes);
    break;
  }
  to.push_back({.begin = begin, .bytes = bytes, .write = write, .site = site});
}

}  // namespace

bool LaunchChecker::mine(u32 segment) {
  if (!segment || floor_.holds(segment)) return false;
  if (segment != asked_) asked_ = segment, answer_ = process_.segments.launch_of(segment) == launch_;
  return answer_;
}

void LaunchChecker::touched_word(u64 at, std::vector<Touched>& to) {
  Shadow& shadow = process_.global;
  const auto one = [&](const Cell& c, u64 place, u32 bytes) {
    const Side* side = shadow.side_if(c);
    u32 wrote = mine(c.w_segment) ? c.w_site : kNot, read = mine(c.r_segment) ? c.r_site : kNot;
    if (side) {
      for (const Mark& m : side->readers) read = mine(m.segment) ? m.site : read;
      if (side->location) {
        for (const Strong& s : side->location->writes) wrote = mine(s.segment) ? s.site : wrote;
        for (const Strong& s : side->location->reads) read = mine(s.segment) ? s.site : read;
      }
    }
    if (read != kNot) add(to, place, bytes, false, read);
    if (wrote != kNot) add(to, place, bytes, true, wrote);
  };
  const auto of_planes = [&](const Word& c, u64 place, u32 bytes) {
    const bool read = mine(c.r & ~kThrown) || (c.r >= kCtas && mine(c.m));
    if (read) add(to, place, bytes, false, c.r_site);
    if (mine(c.w >> 5)) add(to, place, bytes, true, c.w_site);
  };
  const Planes& planes = shadow.planes();
  if (planes.holds(at, 4)) {
    const Word c = planes.look(at);
    if (c.w < 32 && c.r == 0) return;
    if (c.w != kWide) return of_planes(c, at, 4);
    for (u32 b = 0; planes.is_split(at) && b < 4; b++) of_planes(planes.look_byte(at + b), at + b, 1);
    if (planes.is_split(at)) return;
  }
  const Cell c = shadow.look(at);
  const Side* side = shadow.side_if(c);
  if (!side || !side->bytes) return one(c, at, 4);
  for (u32 b = 0; b < 4; b++) one((*side->bytes)[b], at + b, 1);
}

// No other launch has begun since this one did: segments above its floor are its own.
bool LaunchChecker::alone() const { return after_all_ && !process_.running && process_.launches_begun == began_as_; }

// All words of the page lie on the planes.
void LaunchChecker::touched_page(u64 begin, std::vector<Touched>& to) {
  const Planes& planes = process_.global.planes();
  const auto own = [this](u32 s) { return !floor_.holds(s); };
  const u64 end = begin + (u64{1} << kTouchedBits);
  u64 first = begin;
  u32 was = 0;  // bit 0: read, bit 1: written
  const auto flush = [&](u64 at) {
    if (was & 1) add(to, first, at - first, false, planes.look(first).r_site);
    if (was & 2) add(to, first, at - first, true, planes.look(first).w_site);
    first = at;
  };
  for (u64 at = begin, bytes; at < end; at += bytes) {
    const Block& b = planes.block(at);
    const bool apart = b.w == kWide;
    bytes = apart ? 4 : kBlockBytes;
    const u32 w = apart ? *planes.w(at) : b.w, r = apart ? *planes.r(at) : b.r, m = apart ? *planes.m(at) : b.m;
    if (w == kWide) {
      flush(at);
      touched_word(at, to);
      first = at + 4, was = 0;
      continue;
    }
    const bool read = own(r & ~kThrown) || (r >= kCtas && own(m));
    const u32 now = u32{read} | u32{own(w >> 5)} << 1;
    if (now != was) flush(at), was = now;
  }
  flush(end);
}

std::vector<Touched> LaunchChecker::touched() {
  std::vector<u64> pages;
  process_.global.touched_elsewhere(pages);
  const auto add_pages = [&](const Allocations::Block& b) { process_.global.touched(b.begin, b.bytes, pages); };
  process_.allocations.each_live(add_pages);
  process_.allocations.each_freed_by_work(add_pages);
  pages.insert(pages.end(), surface_pages_.begin(), surface_pages_.end());
  std::ranges::sort(pages);
  pages.erase(std::unique(pages.begin(), pages.end()), pages.end());
  std::vector<Touched> all;
  const bool only = alone();
  for (const u64 page : pages) {
    const u64 begin = page << kTouchedBits;
    if (only && process_.global.planes().holds(begin, u64{1} << kTouchedBits))
      touched_page(begin, all);
    else
      for (u64 at = begin; at < begin + (u64{1} << kTouchedBits); at += 4) touched_word(at, all);
    if (process_.running == 0) process_.global.forget_touched(page);
  }
  process_.reads.end(launch_, process_.global.planes(), process_.running == 0,
                     [&](u64 begin, u64 bytes, u16 site) { add(all, begin, bytes, false, site); });
  fetched_.each([&](u64 begin, u64 bytes, u32 site, bool waited) {
    all.push_back({.begin = begin, .bytes = bytes, .site = site, .fetched = true, .waited = waited});
  });
  for (const auto& [map, site] : used_maps_) all.push_back({.begin = map, .bytes = kMapBytes, .site = site});
  return all;
}

}  // namespace us::sanitizer
