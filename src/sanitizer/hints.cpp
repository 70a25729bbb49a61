// SPDX-License-Identifier: Apache-2.0
// Instructions about caches: is there memory where they point, and what is left of what was discarded? And rows of
// matrices.
#include <fmt/format.h>

#include <bit>

#include "sanitizer/launch_checker.h"

namespace us::sanitizer {

using probe::Hint, probe::Space;

void LaunchChecker::hint(const probe::Who& who, const Hint& h) {
  const std::lock_guard held(process_.lock);
  const At p = h.kind == Hint::Kind::MatrixRow ? find(who) : at(who);
  switch (h.kind) {
    case Hint::Kind::Prefetch:
    case Hint::Kind::PrefetchUniform:
    case Hint::Kind::PrefetchTensormap:
      for (u32 rest = h.space == Space::Global ? who.lanes : 0; rest; rest &= rest - 1) {
        probe::Who one = who;
        one.lanes = rest & -rest;
        prefetched(one, h.address[std::countr_zero(rest)]);
      }
      return;
    case Hint::Kind::Discard:
      for (u32 rest = h.space == Space::Global ? who.lanes : 0; rest; rest &= rest - 1)
        discarded(h.address[std::countr_zero(rest)], h.bytes);
      return;
    case Hint::Kind::Free:
      return frees(p, who, h.address[std::countr_zero(who.lanes)]);
    case Hint::Kind::MatrixRow:
      for (u32 rest = who.lanes; rest; rest &= rest - 1) {
        const u32 lane = static_cast<u32>(std::countr_zero(rest));
        if (h.address[lane] % h.bytes) return misaligned_row(who, lane, h);
      }
      return;
    case Hint::Kind::ApplyPriority:
      return;
  }
}

void LaunchChecker::prefetched(const probe::Who& who, u64 address) {
  const Allocations& all = process_.allocations;
  if (!all.any() || all.live(address)) return;
  raise(Check::PrefetchInvalid, {actor(who, static_cast<u32>(std::countr_zero(who.lanes)), "prefetch")}, "prefetch",
        fmt::format("{:#x}", address), {"the device ignores it"}, "An address of memory that there is.");
}

LaunchChecker::Actors LaunchChecker::freed_by(const Allocations::Thread& t) {
  return {.action = "freed", .site = t.site, .cta = t.cta, .warp = t.warp, .lane = t.lane};
}

// By device code. What was never an allocation is a fault of the device.
void LaunchChecker::frees(const At& p, const probe::Who& who, u64 address) {
  Allocations& all = process_.allocations;
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  const Allocations::Block* const block = all.live(address);
  if (block && block->begin == address) freed_in_use(p, who, lane, *block);
  all.will_free({true, key(who.cta), who.site, who.warp, lane});
  const Allocations::Block* const old = block ? nullptr : all.freed(address);
  if (!old || !old->by.known || old->begin != address) return;
  raise(Check::InvalidFree, {actor(who, lane, "free"), freed_by(old->by)}, "heap",
        fmt::format("{} bytes of the device's heap", old->bytes), {"it was freed before"}, "Free it once.");
}

// What other threads did to it must come before the free. Of a large block the first words are looked at.
void LaunchChecker::freed_in_use(const At& p, const probe::Who& who, u32 lane, const Allocations::Block& b) {
  constexpr u64 kLookedAt = 1 << 16;
  Judge judge = global_judge(p.warp, 1u << lane);
  const Actor me{.time = &p.warp->time, .lane = lane, .segment = global_segment(p), .site = who.site};
  const auto in_use = [&](u32 segment, u32 lanes) {
    if (!segment || floor_.holds(segment) || process_.segments.launch_of(segment) != launch_) return false;
    return lanes && !judge.ordered(Mark{segment, lanes, 0, Manner::Generic}, me);
  };
  for (u64 at = b.begin; at < b.begin + std::min(b.bytes, kLookedAt); at += 4) {
    const Cell c = process_.global.look(at);
    const bool written = in_use(c.w_segment, 1u << (c.w_lane & 31));
    if (!written && !in_use(c.r_segment, c.r_lanes)) continue;
    const Segment& s = process_.segments[written ? c.w_segment : c.r_segment];
    const u32 by = s.slot < kFirstAgent ? s.slot : s.by_warp;
    const u32 its_lane = written ? c.w_lane : static_cast<u32>(std::countr_zero(c.r_lanes));
    return raise(Check::UseAfterFree,
                 {actor(who, lane, "free"),
                  {.action = written ? "write" : "read",
                   .site = written ? c.w_site : c.r_site,
                   .cta = s.cta,
                   .warp = by,
                   .lane = its_lane}},
                 "heap", fmt::format("{} bytes of the device's heap", b.bytes),
                 {"Nothing orders the two: the memory may be freed before it is used."},
                 "A barrier between the last use and the free.");
  }
}

void LaunchChecker::misaligned_row(const probe::Who& who, u32 lane, const Hint& h) {
  const u64 address = h.space == Space::Shared ? h.address[lane] % probe::kCtaStride : h.address[lane];
  raise(Check::Misaligned, {actor(who, lane, "matrix row")}, object_kind(h.space, address),
        object_text(h.space, address, h.bytes, nullptr),
        {fmt::format("a row of {} bytes needs an address that {} divides", h.bytes, h.bytes)});
}

// As if nobody had ever written it.
void LaunchChecker::discarded(u64 begin, u64 bytes) {
  process_.reads.ended_to_planes(process_.global.planes(), [](u64) { return true; });
  process_.global.drop(begin, bytes);
  process_.allocations.discarded(begin, bytes);
}

}  // namespace us::sanitizer
