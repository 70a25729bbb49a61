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
  h.kind == Hint::Kind::MatrixRow ? find(who) : at(who);
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
      return frees(who, h.address[std::countr_zero(who.lanes)]);
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
void LaunchChecker::frees(const probe::Who& who, u64 address) {
  Allocations& all = process_.allocations;
  const u32 lane = static_cast<u32>(std::countr_zero(who.lanes));
  all.will_free({true, key(who.cta), who.site, who.warp, lane});
  const Allocations::Block* const old = all.live(address) ? nullptr : all.freed(address);
  if (!old || !old->by.known || old->begin != address) return;
  raise(Check::InvalidFree, {actor(who, lane, "free"), freed_by(old->by)}, "heap",
        fmt::format("{} bytes of the device's heap", old->bytes), {"it was freed before"}, "Free it once.");
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
