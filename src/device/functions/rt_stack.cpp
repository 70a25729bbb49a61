// SPDX-License-Identifier: Apache-2.0
// alloca: each lane's local memory has frames that grow up from its start and this stack that grows down from its end.
#include <fmt/format.h>

#include "device/functions/rt.h"

namespace us::device {

static u64 end_of(const Warp& w) { return w.local_stride - kLocalBefore - kLocalBehind; }

void rt_StackAlloc(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<StackAllocArgs>(args);
  w.stack_touched = true;
  for (u32 l : Lanes(mask)) {
    const u64 bytes = a.bytes[l], align = a.align[l] ? a.align[l] : 8, top = end_of(w) - w.stack_used[l];
    if (bytes > kAllocaBytes || w.stack_used[l] + bytes + align > kAllocaBytes)
      die(w, Outcome::HardwareStackError,
          fmt::format("alloca of {} bytes: {} of {} are taken", bytes, w.stack_used[l], kAllocaBytes), 1u << l);
    const u64 at = (top - bytes) & ~(align - 1);
    w.stack_used[l] = u32(end_of(w) - at);
    results[l] = at;
  }
}

void rt_StackSave(WarpCtx* ctx, u32 mask, const u64*, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) results[l] = end_of(w) - w.stack_used[l];
}

void rt_StackRestore(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<StackRestoreArgs>(args);
  for (u32 l : Lanes(mask)) w.stack_used[l] = u32(end_of(w) - a.address[l]);
}

}  // namespace us::device
