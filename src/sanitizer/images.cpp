// SPDX-License-Identifier: Apache-2.0
// Textures: what the kernel that samples them has written may not be in their cache. Surfaces: texels are words that
// threads read and write without an order of their own.
#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

void LaunchChecker::image(const probe::Who& who, const probe::Image& i) {
  const std::lock_guard held(process_.lock);
  const At p = at(who);
  if (i.kind != probe::Image::Kind::Sample) return surface(p, who, i);
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  for (const probe::Range& r : i.touched) {
    if (r.space != probe::Space::Global) continue;
    fetched_.add(r.begin, r.bytes, who.site, behind_wait(*p.warp, 1u << lane) != 0);
    for (u64 word = r.begin & ~u64{3}; word < r.begin + r.bytes; word += 4) {
      const bool split = process_.global.is_split(word);
      Cell c = split ? Cell{} : process_.global.look(word);
      for (u64 b = std::max(word, r.begin); split && b < std::min(word + 4, r.begin + r.bytes) && !written_here(c); b++)
        c = process_.global.look_byte(b);
      if (!written_here(c)) continue;
      raise(Check::RaceNc, {actor(who, lane, "texture fetch"), written_by(c)},
            object_kind(probe::Space::Global, r.begin),
            object_text(probe::Space::Global, r.begin, static_cast<u32>(r.bytes), nullptr),
            {"a texture may return what its cache held before the kernel began: no barrier or fence reaches it"},
            "Fetch it in a later kernel, or load it.");
      return;
    }
  }
}

void LaunchChecker::surface(const At& p, const probe::Who& who, const probe::Image& i) {
  using Kind = probe::Image::Kind;
  if (spent(p)) return;
  const Telling telling(*this, who);
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  Judge judge = global_judge(p.warp, who.lanes);
  u64 address[probe::kLanes] = {};
  probe::Access a;
  a.kind = i.kind == Kind::Read    ? probe::Access::Kind::Read
           : i.kind == Kind::Write ? probe::Access::Kind::Write
                                   : probe::Access::Kind::Atomic;
  a.address = address;
  if (i.kind == Kind::Reduce) a.order = probe::Order::Relaxed, a.scope = probe::Scope::Gpu;
  now_ = &a;
  const Actor me{.time = &p.warp->time,
                 .lane = lane,
                 .segment = global_segment(p),
                 .site = who.site,
                 .place = &p.cta->place,
                 .rmw = i.kind == Kind::Reduce};
  for (const probe::Range& r : i.touched) {
    if (r.space != probe::Space::Global) continue;
    a.bytes = static_cast<u32>(r.bytes), address[lane] = r.begin;
    surface_pages_.insert({r.begin >> kTouchedBits, (r.begin + r.bytes - 1) >> kTouchedBits});
    touch_lane(judge, a, lane, r.begin, me);
    if (i.kind == Kind::Reduce) continue;
    for (u64 word = r.begin & ~u64{3}; word < r.begin + r.bytes; word += 4) judge.shadow().narrow(word);
  }
}

}  // namespace us::sanitizer
