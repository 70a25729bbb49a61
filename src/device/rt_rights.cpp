// SPDX-License-Identifier: Apache-2.0
// Several devices share one address space: what one of them may touch of the others' memory is asked before each access.
#include <fmt/format.h>

#include "device/machine.h"
#include "device/rt.h"

namespace us::device {
namespace {

[[noreturn]] void no_right(Warp& w, u64 address, bool write, u32 lane) {
  die(w, Outcome::IllegalAddress,
      fmt::format(
          "illegal memory access at address {:#x}: memory of another device, which this one may not {} (no peer "
          "access, or no rights to the pool or mapping)",
          address, write ? "write" : "read"),
      1u << lane);
}

}  // namespace

void require_rights(Warp& w, u64 address, bool write, u32 lane) {
  const auto& reach = machine_of(w).options.reach;
  if (reach && reach(address, write) <= address) no_right(w, address, write, lane);
}

// Lanes mostly touch memory of one allocation.
void rt_MayTouch(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& reach = machine_of(w).options.reach;
  if (!reach) return;
  u64 from = 0, to = 0;
  for (u32 l : Lanes(mask)) {
    const u64 address = args[l];
    if (address >= from && address < to) continue;
    const bool write = args[32 + l];
    from = address, to = reach(address, write);
    if (to <= address) no_right(w, address, write, l);
  }
}

}  // namespace us::device
