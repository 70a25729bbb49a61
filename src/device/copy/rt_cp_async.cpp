// SPDX-License-Identifier: Apache-2.0
// Runtime functions of cp.async: copies of 4, 8 or 16 bytes by each lane, their groups, and their arrival at an
// mbarrier.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/access/limits.h"
#include "device/copy/transfer.h"
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "device/sync/mbarrier.h"

namespace us::device {
namespace {
[[gnu::noinline, gnu::cold]] void bad_copy(Warp& w, u64 dst, u64 src, u64 bytes, u32 lane) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    die(w, Outcome::IllegalInstruction, fmt::format("cp.async of {} bytes; expected 4, 8 or 16", bytes), 1u << lane,
        probe::Refused::CopySize);
  if (dst % bytes || src % bytes)
    die(w, Outcome::MisalignedAddress,
        fmt::format("cp.async of {} bytes from {:#x} to shared {:#x}: expected addresses divisible by {}", bytes, src,
                    dst, bytes),
        1u << lane, probe::Refused::CopyAddress);
  die(w, Outcome::IllegalAddress,
      fmt::format("cp.async to shared {:#x}, outside the shared memory of the cluster", dst), 1u << lane,
      probe::Refused::Shared);
}
void defer(Warp& w, u32 lane, u64 dst, u64 src, u64 bytes, u64 src_bytes) {
  Transfer t({&w, lane});
  t.dst = w.window + dst;
  t.src = std::bit_cast<const u8*>(src);
  t.bytes = u32(bytes);
  t.src_bytes = u32(std::min(src_bytes, bytes));
  t.beyond = u32(src_bytes - t.src_bytes);
  t.group = w.small_groups[lane];
  t.bulk = false;
  issue(*w.home->slot, std::move(t));
}
// May the launch's device read all of it? False: lanes are asked one by one.
bool may_read(Warp& w, u64 begin, u64 bytes) {
  const GpuOptions& o = machine_of(w).options;
  if (!o.reach || (o.alone && in_global(w, begin) && in_global(w, begin + bytes - 1))) return true;
  return o.reach(begin, false) >= begin + bytes;
}
// All lanes, full copies, places in order and where they may be.
bool one_behind_the_other(Warp& w, u32 mask, const CpAsyncArgs& a) {
  const u64 bytes = a.bytes[0], dst = a.dst[0], src = a.src[0], all = bytes * kWarpSize;
  if (mask != ~0u || (bytes != 4 && bytes != 8 && bytes != 16) || ((dst | src) & (bytes - 1))) return false;
  u64 differ = 0;
  for (u32 l = 0; l < kWarpSize; ++l)
    differ |= (a.bytes[l] ^ bytes) | (a.src_bytes[l] ^ bytes) | (a.dst[l] ^ (dst + l * bytes)) |
              (a.src[l] ^ (src + l * bytes));
  return !differ && !((dst + all) >> 32) && in_shared(w, u32(dst), all) && may_read(w, src, all);
}
}  // namespace

void rt_CpAsync(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpAsyncArgs>(args);
  const bool eager = w.home->slot->worker->machine.options.async.delivery == AsyncDelivery::Eager;
  if (w.listener && eager && one_behind_the_other(w, mask, a)) {
    tell_copy_row(w, mask, a.dst[0], a.src[0], a.bytes[0]);
    std::memmove(w.window + a.dst[0], reinterpret_cast<const u8*>(a.src[0]), a.bytes[0] * kWarpSize);
    return;
  }
  for (u32 l : Lanes(mask)) {
    u64 dst = a.dst[l], src = a.src[l], bytes = a.bytes[l];
    bool size_ok = bytes == 4 || bytes == 8 || bytes == 16;
    if (!size_ok || ((dst | src) & (bytes - 1)) || dst >> 32 || !in_shared(w, u32(dst), bytes)) [[unlikely]]
      bad_copy(w, dst, src, bytes, l);
    if (a.src_bytes[l]) require_rights(w, src, false, l);
    if (w.listener || w.home->slot->worker->machine.options.async.delivery != AsyncDelivery::Eager) [[unlikely]] {
      defer(w, l, dst, src, bytes, a.src_bytes[l]);
      continue;
    }
    deliver_small(w.window + dst, reinterpret_cast<const u8*>(src), u32(bytes), u32(std::min(a.src_bytes[l], bytes)));
  }
}

void rt_CpAsyncCommit(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (w.listener) tell_committed(w, mask, false, w.small_groups);
  for (u32 l : Lanes(mask)) ++w.small_groups[l];
}

// Under eager delivery every group has arrived when it is committed.
static void wait_for_groups(Warp& w, u32 mask, const CpAsyncWaitArgs& a) {
  Slot& s = *w.home->slot;
  if (s.queue.empty()) return;
  u32 before[kWarpSize] = {};
  for (u32 l : Lanes(mask)) {
    const u32 left = u32(a.n[l]), groups = w.small_groups[l];
    before[l] = left == ~0u ? ~0u : groups > left ? groups - left : 0;
  }
  finish_groups(s, w, mask, before, {.bulk = false});
}

void rt_CpAsyncWait(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpAsyncWaitArgs>(args);
  wait_for_groups(w, mask, a);
  if (w.listener) tell_waited(w, mask, false, false, a.n.lane);
}

void rt_CpAsyncMbarArrive(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpAsyncMbarArriveArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = mbarrier_at(w, a.addr[l], l);
    Mbarrier b(*at);
    record_sync(w, l, probe::SyncOp::CopyArrive, a.addr[l], a.noinc[l] != 0);
    if (!a.noinc[l]) b.add_pending(1);  // the arrival that follows was not counted at init
    const auto tell = [&](bool completed) {
      tell_mbarrier(w, 1u << l,
                    {.kind = probe::Mbarrier::Kind::CopiesArrive,
                     .address = a.addr[l],
                     .noinc = a.noinc[l] != 0,
                     .before = *at,
                     .after = b.word(),
                     .completed = completed});
    };
    if (!w.home->slot->queue.empty()) {
      if (w.listener) tell(false);
      store_mbarrier(w, u32(a.addr[l]), at, b, false);
      Transfer t({&w, l});
      t.arrives = true;
      t.mbarrier = i64(a.addr[l]);
      issue(*w.home->slot, std::move(t));
      continue;
    }
    bool completed = b.arrive(1);
    if (w.listener) tell(completed);
    store_mbarrier(w, u32(a.addr[l]), at, b, completed);
  }
}

}  // namespace us::device
