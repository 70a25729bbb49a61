// SPDX-License-Identifier: Apache-2.0
// Runtime functions of mbarrier objects. All CTAs of a cluster run on one worker, so updates are plain.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "device/access/limits.h"
#include "device/copy/transfer.h"
#include "device/functions/rt.h"
#include "device/schedule/machine.h"
#include "device/sync/mbarrier.h"

namespace us::device {
namespace {
constexpr u64 kDrop = 1, kNoComplete = 2, kExpectTx = 4;
constexpr u64 kParity = 1, kTryWait = 2, kOthersGoOn = 4;
constexpr u32 kPatientTests = 4;  // failing test_wait in a row before it gives way like try_wait

[[gnu::noinline, gnu::cold]] void bad_address(Warp& w, u64 addr, u32 lane) {
  bool misaligned = addr % 8 != 0;
  die(w, misaligned ? Outcome::MisalignedAddress : Outcome::IllegalAddress,
      fmt::format("mbarrier at shared address {:#x}: {}", addr,
                  misaligned ? "expected an address divisible by 8" : "outside the shared memory that a block has"),
      1u << lane);
}

u64* word_at(Warp& w, u64 addr, u32 lane) {
  if (addr % 8 || addr >> 32 || !in_shared(w, u32(addr), 8)) [[unlikely]]
    bad_address(w, addr, lane);
  return reinterpret_cast<u64*>(w.window + addr);
}

void phase_completed(Slot& s, u32 addr) {
  s.phases++;
  Cta& c = *s.cta[addr / kCtaSharedStride];
  for (u32 k : Lanes(c.polling)) {
    Warp& w = *c.warp[k];
    if (w.wait_addr != addr && !w.wait_lanes_differ) continue;
    w.wait_done = true;
    c.polling &= ~(1u << k);
    c.ready |= 1u << k;
  }
}

void store(Warp& w, u32 addr, u64* at, Mbarrier b, bool completed) {
  *at = b.word();
  Slot& s = *w.home->slot;
  s.events++;
  if (completed) phase_completed(s, addr);
}

// The phase that a lane waits for: told by its parity, or by the state that its arrival returned.
u64 awaited_phase(u64 state, bool parity) { return parity ? state & 1 : state >> 63; }
bool is_done(u64 word, u64 state, bool parity) { return word >> 63 != awaited_phase(state, parity); }

bool lane_is_done(Warp& w, u32 l, const MbarTestWaitArgs& a) {
  return is_done(*word_at(w, a.addr[l], l), a.state[l], (a.flags[l] & kParity) != 0);
}

// Mostly all lanes ask the same.
u32 lanes_done(Warp& w, u32 mask, const MbarTestWaitArgs& a) {
  const u32 first = first_lane(mask);
  u32 same = 0;
  for (u32 l = 0; l < kWarpSize; ++l) {
    const u64 differ =
        (a.addr[l] ^ a.addr[first]) | (a.state[l] ^ a.state[first]) | ((a.flags[l] ^ a.flags[first]) & kParity);
    same |= u32{differ == 0} << l;
  }
  u32 done = lane_is_done(w, first, a) ? same & mask : 0;
  for (u32 l : Lanes(mask & ~same))
    if (lane_is_done(w, l, a)) done |= 1u << l;
  return done;
}

void remember_wait(Warp& w, u32 mask, const MbarTestWaitArgs& a) {
  u32 first = first_lane(mask);
  w.wait_addr = u32(a.addr[first]);
  w.wait_parity = awaited_phase(a.state[first], a.flags[first] & kParity);
}

// Sleep until the first lane's mbarrier completes its phase, or the scheduler wants an answer.
u32 wait_for_phase(Warp& w, u32 mask, const MbarTestWaitArgs& a) {
  Cta& c = *w.home;
  u32 first = first_lane(mask), bit = 1u << w.warp_id;
  w.wait_lanes_differ = 0;
  for (u32 l : Lanes(mask))
    w.wait_lanes_differ |=
        a.addr[l] != a.addr[first] || awaited_phase(a.state[l], a.flags[l] & kParity) != w.wait_parity;
  w.wait = Wait::Mbarrier;
  w.wait_mask = mask;
  w.wait_done = false;
  c.polling |= bit;
  c.ready &= ~bit;
  worker_of(w).leave(w);
  c.polling &= ~bit;
  w.wait = Wait::None;
  return w.wait_done && !w.wait_lanes_differ ? mask : lanes_done(w, mask, a);
}

}  // namespace

void complete_tx(Slot& s, u32 address, u32 bytes) {
  u64* at = reinterpret_cast<u64*>(s.window + address);
  Mbarrier b(*at);
  const bool completed = b.complete_tx(i32(bytes));
  *at = b.word();
  s.events++;
  if (completed) phase_completed(s, address);
}

void arrive_at(Slot& s, u32 address) {
  u64* at = reinterpret_cast<u64*>(s.window + address);
  Mbarrier b(*at);
  const bool completed = b.arrive(1);
  *at = b.word();
  s.events++;
  if (completed) phase_completed(s, address);
}

std::string mbarrier_state(const Warp& w) {
  u32 in_cta = w.wait_addr % kCtaSharedStride;
  Mbarrier b(*reinterpret_cast<const u64*>(w.window + w.wait_addr));
  if (!b.initialised()) return fmt::format("mbarrier at shared+{:#x}: not initialised", in_cta);
  std::string text = fmt::format("mbarrier at shared+{:#x} phase {}: {} of {} arrivals pending", in_cta, w.wait_parity,
                                 b.pending(), b.expected());
  if (b.tx() != 0) text += fmt::format(", tx {} bytes missing", b.tx());
  if (b.phase() != w.wait_parity) text += " (of the phase after it)";
  return text;
}

void rt_MbarInit(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarInitArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = word_at(w, a.addr[l], l);
    store(w, u32(a.addr[l]), at, Mbarrier::initial(u32(a.count[l])), true);
  }
}

void rt_MbarInval(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarInvalArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = word_at(w, a.addr[l], l);
    store(w, u32(a.addr[l]), at, Mbarrier(*at).invalidated(), false);
  }
}

void rt_MbarArrive(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarArriveArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = word_at(w, a.addr[l], l);
    u32 count = u32(a.count[l]);
    u64 flags = a.flags[l];
    Mbarrier b(*at);
    results[l] = b.word();
    if (flags & kExpectTx) b.expect_tx(i32(a.tx[l]));
    if (flags & kDrop) b.drop(count);
    bool completed = b.arrive(count);  // .noComplete promises that it does not; undefined otherwise
    store(w, u32(a.addr[l]), at, b, completed);
  }
}

void rt_MbarExpectTx(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarExpectTxArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = word_at(w, a.addr[l], l);
    Mbarrier b(*at);
    b.expect_tx(i32(a.tx[l]));
    store(w, u32(a.addr[l]), at, b, false);
  }
}

void rt_MbarCompleteTx(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarCompleteTxArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = word_at(w, a.addr[l], l);
    Mbarrier b(*at);
    bool completed = b.complete_tx(i32(a.tx[l]));
    store(w, u32(a.addr[l]), at, b, completed);
  }
}

void rt_MbarTestWait(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarTestWaitArgs>(args);
  u32 done = lanes_done(w, mask, a);
  if (done) {
    w.failing_tests = 0;
    w.quiet_polls = 0;
  } else {
    remember_wait(w, mask, a);
    count_failed_poll(w, mask, Wait::Mbarrier);
    u64 flags = a.flags[first_lane(mask)];
    bool may_block = (flags & kTryWait) || ++w.failing_tests >= kPatientTests;
    if ((flags & kOthersGoOn) && mask != w.live) may_block = false, w.spin = 1;  // the loop around gives way at once
    if (may_block && w.on_fibre) done = wait_for_phase(w, mask, a);
  }
  for (u32 l : Lanes(mask)) results[l] = done >> l & 1;
}

void rt_MbarPending(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) results[l] = Mbarrier(named<MbarPendingArgs>(args).state[l]).pending();
}

// --- cp.async ----------------------------------------------------------------------------------------------------------

namespace {
[[gnu::noinline, gnu::cold]] void bad_copy(Warp& w, u64 dst, u64 src, u64 bytes, u32 lane) {
  if (bytes != 4 && bytes != 8 && bytes != 16)
    die(w, Outcome::IllegalInstruction, fmt::format("cp.async of {} bytes; expected 4, 8 or 16", bytes), 1u << lane);
  if (dst % bytes || src % bytes)
    die(w, Outcome::MisalignedAddress,
        fmt::format("cp.async of {} bytes from {:#x} to shared {:#x}: expected addresses divisible by {}", bytes, src,
                    dst, bytes),
        1u << lane);
  die(w, Outcome::IllegalAddress,
      fmt::format("cp.async to shared {:#x}, outside the shared memory of the cluster", dst), 1u << lane);
}
void defer(Warp& w, u32 lane, u64 dst, u64 src, u64 bytes, u64 src_bytes) {
  Transfer t;
  t.dst = w.window + dst;
  t.src = std::bit_cast<const u8*>(src);
  t.bytes = u32(bytes);
  t.src_bytes = u32(src_bytes);
  t.owner = &w;
  t.lane = u8(lane);
  t.group = w.small_groups[lane];
  t.bulk = false;
  issue(*w.home->slot, std::move(t));
}
}  // namespace

void rt_CpAsync(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpAsyncArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64 dst = a.dst[l], src = a.src[l], bytes = a.bytes[l];
    bool size_ok = bytes == 4 || bytes == 8 || bytes == 16;
    if (!size_ok || ((dst | src) & (bytes - 1)) || dst >> 32 || !in_shared(w, u32(dst), bytes)) [[unlikely]]
      bad_copy(w, dst, src, bytes, l);
    if (a.src_bytes[l]) require_rights(w, src, false, l);
    if (w.home->slot->worker->machine.options.async.delivery != AsyncDelivery::Eager) [[unlikely]] {
      defer(w, l, dst, src, bytes, std::min(a.src_bytes[l], bytes));
      continue;
    }
    deliver_small(w.window + dst, reinterpret_cast<const u8*>(src), u32(bytes), u32(std::min(a.src_bytes[l], bytes)));
  }
}

void rt_CpAsyncCommit(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) ++w.small_groups[l];
}

// Under eager delivery every group has arrived when it is committed.
void rt_CpAsyncWait(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpAsyncWaitArgs>(args);
  Slot& s = *w.home->slot;
  if (s.queue.empty()) return;
  u32 before[kWarpSize] = {};
  for (u32 l : Lanes(mask)) {
    const u32 left = u32(a.n[l]), groups = w.small_groups[l];
    before[l] = left == ~0u ? ~0u : groups > left ? groups - left : 0;
  }
  finish_groups(s, w, mask, before, {.bulk = false});
}

void rt_CpAsyncMbarArrive(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<CpAsyncMbarArriveArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = word_at(w, a.addr[l], l);
    Mbarrier b(*at);
    if (!a.noinc[l]) b.add_pending(1);  // the arrival that follows was not counted at init
    if (!w.home->slot->queue.empty()) {
      store(w, u32(a.addr[l]), at, b, false);
      Transfer t;
      t.arrives = true;
      t.mbarrier = i64(a.addr[l]);
      t.owner = &w;
      t.lane = u8(l);
      issue(*w.home->slot, std::move(t));
      continue;
    }
    bool completed = b.arrive(1);
    store(w, u32(a.addr[l]), at, b, completed);
  }
}

}  // namespace us::device
