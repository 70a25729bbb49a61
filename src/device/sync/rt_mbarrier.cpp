// SPDX-License-Identifier: Apache-2.0
// Runtime functions of mbarrier objects. All CTAs of a cluster run on one worker, so updates are plain.
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "device/sync/mbarrier.h"

namespace us::device {
namespace {
constexpr u64 kDrop = 1, kNoComplete = 2, kExpectTx = 4;
constexpr u64 kParity = 1, kTryWait = 2, kOthersGoOn = 4;
constexpr u32 kPatientTests = 4;  // failing test_wait in a row before it gives way like try_wait

// The phase that a lane waits for: told by its parity, or by the state that its arrival returned.
u64 awaited_phase(u64 state, bool parity) { return parity ? state & 1 : state >> 63; }
bool is_done(u64 word, u64 state, bool parity) { return word >> 63 != awaited_phase(state, parity); }

bool lane_is_done(Warp& w, u32 l, const MbarTestWaitArgs& a) {
  return is_done(*mbarrier_at(w, a.addr[l], l), a.state[l], (a.flags[l] & kParity) != 0);
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

// One lane's operation, before others see it.
using MbarTold = probe::Mbarrier;
void tell(Warp& w, u32 lane, u64 address, MbarTold::Kind kind, Mbarrier before, Mbarrier after, MbarTold m) {
  m.kind = kind, m.address = address;
  m.before = before.word(), m.after = after.word();
  tell_mbarrier(w, 1u << lane, m);
}

}  // namespace

void rt_MbarInit(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarInitArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = mbarrier_at(w, a.addr[l], l);
    const Mbarrier b = Mbarrier::initial(u32(a.count[l]));
    if (w.listener) tell(w, l, a.addr[l], MbarTold::Kind::Init, Mbarrier(*at), b, {.count = u32(a.count[l])});
    record_sync(w, l, probe::SyncOp::Init, a.addr[l], u32(a.count[l]));
    store_mbarrier(w, u32(a.addr[l]), at, b, true);
  }
}

void rt_MbarInval(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarInvalArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = mbarrier_at(w, a.addr[l], l);
    const Mbarrier b = Mbarrier(*at).invalidated();
    if (w.listener) tell(w, l, a.addr[l], MbarTold::Kind::Inval, Mbarrier(*at), b, {});
    store_mbarrier(w, u32(a.addr[l]), at, b, false);
  }
}

void rt_MbarArrive(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarArriveArgs>(args);
  const NoteCode noted = w.listener ? take_next(w) : NoteCode();
  for (u32 l : Lanes(mask)) {
    u64* at = mbarrier_at(w, a.addr[l], l);
    u32 count = u32(a.count[l]);
    u64 flags = a.flags[l];
    Mbarrier b(*at);
    results[l] = b.word();
    if (flags & kExpectTx) b.expect_tx(i32(a.tx[l]));
    if (flags & kDrop) b.drop(count);
    record_sync(w, l, probe::SyncOp::Arrive, a.addr[l], count | (flags & kExpectTx ? u64{u32(a.tx[l])} << 32 : 0));
    bool completed = b.arrive(count);  // .noComplete promises that it does not; undefined otherwise
    if (w.listener)
      tell(w, l, a.addr[l], MbarTold::Kind::Arrive, Mbarrier(*at), b,
           {.count = count,
            .tx = flags & kExpectTx ? i64(i32(a.tx[l])) : 0,
            .drop = (flags & kDrop) != 0,
            .no_complete = (flags & kNoComplete) != 0,
            .expects = (flags & kExpectTx) != 0,
            .order = noted.order,
            .scope = noted.scope,
            .state = results[l],
            .completed = completed});
    store_mbarrier(w, u32(a.addr[l]), at, b, completed);
  }
}

void rt_MbarExpectTx(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarExpectTxArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = mbarrier_at(w, a.addr[l], l);
    Mbarrier b(*at);
    b.expect_tx(i32(a.tx[l]));
    record_sync(w, l, probe::SyncOp::ExpectBytes, a.addr[l], u32(a.tx[l]));
    if (w.listener)
      tell(w, l, a.addr[l], MbarTold::Kind::ExpectTx, Mbarrier(*at), b, {.tx = i32(a.tx[l]), .expects = true});
    store_mbarrier(w, u32(a.addr[l]), at, b, false);
  }
}

void rt_MbarCompleteTx(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarCompleteTxArgs>(args);
  for (u32 l : Lanes(mask)) {
    u64* at = mbarrier_at(w, a.addr[l], l);
    Mbarrier b(*at);
    bool completed = b.complete_tx(i32(a.tx[l]));
    record_sync(w, l, probe::SyncOp::Complete, a.addr[l], u32(a.tx[l]));
    if (w.listener)
      tell(w, l, a.addr[l], MbarTold::Kind::CompleteTx, Mbarrier(*at), b, {.tx = i32(a.tx[l]), .completed = completed});
    store_mbarrier(w, u32(a.addr[l]), at, b, completed);
  }
}

void rt_MbarTestWait(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<MbarTestWaitArgs>(args);
  const NoteCode noted = w.listener ? take_next(w) : NoteCode();
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
  if (w.listener) tell_tests(w, mask, a, done, noted);
  if (w.records) {  // of one lane: the warp waits as one
    const u32 l = first_lane(mask);
    record_sync(w, l, probe::SyncOp::Wait, a.addr[l],
                awaited_phase(a.state[l], a.flags[l] & kParity) | u64{done >> l & 1} << 32);
  }
  for (u32 l : Lanes(mask)) results[l] = done >> l & 1;
}

void rt_MbarPending(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  US_RT_ENTER(ctx);
  for (u32 l : Lanes(mask)) results[l] = Mbarrier(named<MbarPendingArgs>(args).state[l]).pending();
}

}  // namespace us::device
