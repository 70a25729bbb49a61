// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"

namespace us::device {
namespace {
constexpr double kSmClockGhz = 1.98;
constexpr u32 kBarriersPerTurn = 8;  // of a loop that waits around barriers; their phases are no progress
}  // namespace

void rt_Yield(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<YieldArgs>(args);
  const u64 site = a.site[first_lane(mask)];
  w.line = u32(site);
  if (mask & ~w.polled_lanes) w.quiet_polls = 0;  // lanes that spin on something else
  worker_of(w).give_way(w);
  if (site & kYieldAroundBarrier) w.idle_arrivals = w.spin * kBarriersPerTurn;
}

void rt_LanesWait(WarpCtx* ctx, u32, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  worker_of(w).give_way(w);
}

void rt_Nanosleep(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<NanosleepArgs>(args);
  w.read_clock = true;
  machine_of(w).clock.slept(u32(a.ns[first_lane(mask)]));
  worker_of(w).give_way(w);
  w.spin = 1;  // a loop that sleeps lets the other lanes of its warp run at its next turn, too
}

void rt_Trap(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  die(US_RT_ENTER(ctx), Outcome::Trap, "trap instruction", mask, probe::Refused::Trap);
}

void rt_Unimplemented(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<UnimplementedArgs>(args);
  u32 l = first_lane(mask);
  auto* text = reinterpret_cast<const char*>(a.text[l]);
  die(w, Outcome::NotSupported,
      fmt::format("instruction not implemented: {} (PTX line {})", text ? text : "?", a.line[l]), mask);
}

void rt_BadIndirectCall(WarpCtx* ctx, u32 mask, const u64* args, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<BadIndirectCallArgs>(args);
  die(w, Outcome::IllegalInstruction,
      fmt::format("indirect call through {:#x}, which is no function", a.addr[first_lane(mask)]), mask);
}

void trigger(Cta& c) {
  if (c.triggered) return;
  c.triggered = true;
  Grid& g = *c.slot->grid;
  if (g.untriggered.fetch_sub(1) == 1 && g.launch->triggered) g.launch->triggered();
}

void rt_GridTrigger(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  if (w.listener) tell_meeting(w, MeetingKind::GridTrigger, mask);
  trigger(*w.home);
}

// The grids before this one run beside it, perhaps on this very thread.
static void wait_for_predecessors(Warp& w, u32 mask) {
  const auto* done = grid_of(w).launch->predecessors_done.get();
  if (!done || done->load(std::memory_order_acquire)) return;
  if (!w.on_fibre)
    die(w, Outcome::NotSupported, "internal: a kernel that was compiled as never blocking waits for other grids", mask);
  while (!done->load(std::memory_order_acquire)) worker_of(w).give_way(w);
}
void rt_GridWait(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  wait_for_predecessors(w, mask);
  if (w.listener) tell_meeting(w, MeetingKind::GridWait, mask);
}

void rt_GlobalTimer(WarpCtx* ctx, u32 mask, const u64*, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  w.read_clock = true;
  u64 ns = machine_of(w).clock.read_since_1970();
  for (u32 l : Lanes(mask)) results[l] = ns;
}

void rt_Clock(WarpCtx* ctx, u32 mask, const u64*, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  w.read_clock = true;
  u64 cycles = u64(double(machine_of(w).clock.read()) * kSmClockGhz);
  for (u32 l : Lanes(mask)) results[l] = cycles;
}

// One fibre runs all lanes of a warp in program order: what the named lanes wrote before is there. Compiled code calls
// this only after it has brought the lanes together.
void rt_WarpSync(WarpCtx* ctx, u32, const u64*, u64*) {
  US_RT_ENTER(ctx);
  asm volatile("" ::: "memory");
}

void rt_MemFence(WarpCtx* ctx, u32, const u64*, u64*) {
  US_RT_ENTER(ctx);
  asm volatile("lock orq $0, (%%rsp)" ::: "memory", "cc");
}

}  // namespace us::device
