// SPDX-License-Identifier: Apache-2.0
// Several devices share one address space, and programs register memory of their own: then what a device may touch is
// asked before each access.
#include <fmt/format.h>

#include "device/access/limits.h"
#include "device/functions/rt.h"
#include "device/schedule/machine.h"

namespace us::device {
namespace {

[[noreturn]] void no_right(Warp& w, u64 address, bool write, u32 lane) {
  die(w, Outcome::IllegalAddress,
      fmt::format(
          "illegal memory access at address {:#x}: memory of another device, which this one may not {} (no peer "
          "access, or no rights to the pool or mapping)",
          address, write ? "write" : "read"),
      1u << lane, probe::Refused::Global);
}

}  // namespace

void require_rights(Warp& w, u64 address, bool write, u32 lane) {
  const GpuOptions& o = machine_of(w).options;
  const bool global = in_global(w, address);
  if (!o.reach || (o.alone && global) || o.reach(address, write) > address) return;
  if (global) no_right(w, address, write, lane);
  Refusal r = refuse_global(w, address);
  die(w, r.outcome, std::move(r.text), 1u << lane, r.what);
}

// Lanes mostly touch memory of one allocation. `how`: bit 0 write, bit 1 a generic address, bytes from bit 8 on.
void rt_MayTouch(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MayTouchArgs>(args);
  const auto& reach = machine_of(w).options.reach;
  if (!reach) return;
  u64 from = 0, to = 0;
  for (u32 l : Lanes(mask)) {
    const u64 address = a.addr[l];
    if (address >= from && address < to) continue;
    const u64 how = a.how[l];
    from = address, to = reach(address, how & 1);
    if (to > address) continue;
    if (how & 2 && !in_global(w, address))
      require_generic(w, address, how >> 8, l);
    else
      require_rights(w, address, how & 1, l);
  }
}

}  // namespace us::device
