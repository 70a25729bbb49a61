// SPDX-License-Identifier: Apache-2.0
// A barrier counts threads. A warp whose remaining lanes all come counts 32, also when it is the CTA's partial last
// warp; lanes that come on their own (diverged, not .aligned) count one each, and the warp's last part fills up to 32.
// Without a count the barrier waits for every warp that has not ended: exited threads do not hold it up.
#include "device/sync/barrier.h"

#include <fmt/format.h>

#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/sync/cluster_barrier.h"

namespace us::device {
namespace {

u32 target(const Cta& c, const Barrier& b) { return b.expected ? b.expected : kWarpSize * c.running_warps; }

void complete(Cta& c, u32 id) {
  Barrier& b = c.barriers[id];
  if (b.red_op) {
    u32 value = b.red_op == 1 ? b.red_count : b.red_op == 2 ? b.red_false == 0 : b.red_count != 0;
    for (u32 k : Lanes(b.waiting)) c.warp[k]->red_value = value;
    c.barrier_red[id] = value;
  }
  if (b.partial) (*c.parts)[id].fill(0);
  c.ready |= b.waiting;
  c.slot->events++;
  c.slot->idle_events += !b.busy;
  if (c.slot->grid->listener) tell_barrier_done(c, id, c.barrier_generation[id]);
  c.barrier_generation[id]++;
  c.open_barriers &= ~(1u << id);
  b = Barrier();
}

// Threads by which the arrival of `lanes` advances the count, when the warp may come in parts.
u32 count_part(Cta& c, Warp& w, u32 id, u32 lanes) {
  if (!c.parts) c.parts = std::make_unique<std::array<std::array<u32, kMaxWarps>, kNamedBarriers>>();
  c.barriers[id].partial = true;
  u32& came = (*c.parts)[id][w.warp_id];
  u32 before = u32(std::popcount(came));
  came |= lanes;
  if (w.live & ~came) return u32(std::popcount(came)) - before;
  came = 0;
  return kWarpSize - before;
}

void count_exits(Warp& w) {
  w.seen_live = w.live;
  threads_exited(w);
}

[[gnu::noinline]] void mismatch(Warp& w, u32 id, u32 count, u32 mask) {
  Cta& c = *w.home;
  Barrier& b = c.barriers[id];
  auto threads = [&](u32 n) { return n ? n : kWarpSize * c.warps; };
  if (threads(b.expected) == threads(count)) return;
  die(w, Outcome::IllegalInstruction,
      fmt::format("barrier {}: this arrival expects {} threads, the arrivals before it expect {}", id, threads(count),
                  threads(b.expected)),
      mask, probe::Refused::Barrier);
}

[[gnu::noinline]] void check_operands(Warp& w, u32 id, u64 count, bool arrive_only, u32 mask) {
  if (id >= kNamedBarriers)
    die(w, Outcome::IllegalInstruction, fmt::format("barrier {}: a block has 16 barriers, 0 to 15", id), mask,
        probe::Refused::Barrier);
  if (count % kWarpSize || count > kMaxWarps * kWarpSize)
    die(w, Outcome::IllegalInstruction,
        fmt::format("barrier {}: a count of {} threads; expected a multiple of 32 up to 1024", id, count), mask,
        probe::Refused::Barrier);
  if (arrive_only && count == 0)
    die(w, Outcome::IllegalInstruction, fmt::format("barrier {}: arrive without a number of threads", id), mask,
        probe::Refused::Barrier);
}

// True: this arrival completed the phase.
bool arrive(Warp& w, u32 id, u32 count, u32 mask) {
  Cta& c = *w.home;
  Barrier& b = c.barriers[id];
  if (!b.open) {
    b.open = true;
    b.expected = count;
    c.open_barriers |= 1u << id;
  } else if (b.expected != count) [[unlikely]] {
    mismatch(w, id, count, mask);
  }
  b.came |= 1u << w.warp_id;
  b.busy |= comes_busy(w);
  b.arrived += mask == w.live && !b.partial ? kWarpSize : count_part(c, w, id, mask);
  if (b.arrived < target(c, b)) return false;
  complete(c, id);
  return true;
}

void wait(Warp& w, u32 id, u32 mask) {
  if (!w.on_fibre)
    die(w, Outcome::NotSupported, "internal: a kernel that was compiled as never blocking waits at a barrier", mask);
  Cta& c = *w.home;
  u32 bit = 1u << w.warp_id;
  c.barriers[id].waiting |= bit;
  c.ready &= ~bit;
  w.wait = Wait::Barrier;
  w.wait_barrier = u8(id);
  w.wait_mask = mask;
  worker_of(w).leave(w);
  w.wait = Wait::None;
}

// Lanes of `mask` that name the same barrier and count as its first lane. Operands of .aligned forms are the same
// anyway.
template <class Args>
u32 same_operands(u32 mask, const Args& a, u32 first) {
  u32 group = 0;
  for (u32 l : Lanes(mask))
    if (a.id[l] == a.id[first] && a.count[l] == a.count[first]) group |= 1u << l;
  return group;
}

enum class Kind { Sync, Arrive, Red, Try, TryRed };

template <Kind kind, class Args>
inline void barrier(Warp& w, u32 mask, const Args& a, u64* results) {
  if (w.live != w.seen_live) count_exits(w);
  if (w.told && w.told->spun) {  // what it waited for has come: who waits for the same has a look, too
    w.told->spun = false;
    worker_of(w).let_look(w);
  }
  for (u32 left = mask; left;) {
    u32 first = first_lane(left);
    u64 id = a.id[first], count = a.count[first];
    u32 group = a.aligned[first] ? left : same_operands(left, a, first);
    left &= ~group;
    const bool told_first = w.listener && (id >= kNamedBarriers || count % kWarpSize);
    if (told_first) [[unlikely]]
      tell_barrier(w, MeetingKind::BarrierArrive, group, {u32(id), 0, u32(count), kind == Kind::Arrive, true});
    if (id >= kNamedBarriers || count)
      check_operands(w, u32(id), count, kind == Kind::Arrive, group);
    else if (kind == Kind::Arrive)
      check_operands(w, u32(id), count, true, group);
    Barrier& b = w.home->barriers[id];
    const BarrierTold told{u32(id), w.home->barrier_generation[id], u32(count), kind == Kind::Arrive,
                           a.aligned[first] != 0};
    if (w.listener) [[unlikely]]
      tell_barrier(w, MeetingKind::BarrierArrive, group, told);
    if constexpr (kind == Kind::Red || kind == Kind::TryRed) {
      u32 trues = 0;
      for (u32 l : Lanes(group)) trues += (a.pred[l] & 1) != 0;
      b.red_op = u8(a.op[first] + 1);
      b.red_count += trues;
      b.red_false += u32(std::popcount(group)) - trues;
      // The last arriver gets its value like the warps it wakes.
      if (kind == Kind::Red) b.waiting |= 1u << w.warp_id;
    }
    bool done = arrive(w, u32(id), u32(count), group);
    if (!done && (kind == Kind::Sync || kind == Kind::Red)) wait(w, u32(id), group);
    if (kind == Kind::Sync || kind == Kind::Red) {
      w.behind_barrier = 1;
      if (w.listener) [[unlikely]]
        tell_barrier(w, MeetingKind::BarrierLeave, group, told);
    }
    if constexpr (kind == Kind::Red)
      for (u32 l : Lanes(group)) results[l] = w.red_value;
  }
}

}  // namespace

void clear_barriers(Cta& c) {
  for (u32 id : Lanes(c.open_barriers)) {
    if (c.barriers[id].partial) (*c.parts)[id].fill(0);
    c.barriers[id] = Barrier();
  }
  c.open_barriers = 0;
}

void threads_exited(Warp& w) {
  Cta& c = *w.home;
  exited_from_cluster(w);
  for (u32 id : Lanes(c.open_barriers)) {
    Barrier& b = c.barriers[id];
    if (b.partial && w.live)
      if (u32& came = (*c.parts)[id][w.warp_id]; came && !(w.live & ~came)) {
        b.arrived += kWarpSize - u32(std::popcount(came));
        came = 0;
      }
    if (b.arrived >= target(c, b)) complete(c, id);
  }
}

std::string barrier_state(const Cta& c, u32 id) {
  const Barrier& b = c.barriers[id];
  std::string missing;
  for (u32 k = 0; k < c.warps; ++k) {
    const Warp& w = *c.warp[k];
    if (w.ended) continue;
    u32 part = b.partial ? (*c.parts)[id][k] : 0;
    if (part)
      missing += fmt::format("{}{} (lanes {:#010x})", missing.empty() ? "" : ", ", k, w.live & ~part);
    else if (!(b.came >> k & 1))
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", k);
  }
  return fmt::format("barrier {}: {} of {} threads arrived{}{}", id, b.arrived, target(c, b),
                     missing.empty() ? "" : "; missing warps ", missing);
}

void rt_BarSync(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  barrier<Kind::Sync>(US_RT_ENTER(ctx), mask, named<BarSyncArgs>(args), results);
}
void rt_BarArrive(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  barrier<Kind::Arrive>(US_RT_ENTER(ctx), mask, named<BarArriveArgs>(args), results);
}
static void note_generation(Warp& w, u32 mask, const PerLane& id, u64* results) {
  for (u32 l : Lanes(mask)) results[l] = id[l] < kNamedBarriers ? w.home->barrier_generation[id[l]] : 0;
}
void rt_BarTryArrive(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<BarTryArriveArgs>(args);
  note_generation(w, mask, a.id, results);
  barrier<Kind::Try>(w, mask, a, results);
}
void rt_BarTryRed(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<BarTryRedArgs>(args);
  note_generation(w, mask, a.id, results);
  barrier<Kind::TryRed>(w, mask, a, results);
}
// They leave a barrier for which they polled.
static void tell_polled(Warp& w, u32 lanes, const PerLane& ids) {
  for (u32 left = lanes; left;) {
    const u32 id = u32(ids[first_lane(left)]);
    u32 group = 0;
    for (u32 l : Lanes(left)) group |= u32{ids[l] == id} << l;
    left &= ~group;
    tell_barrier(w, MeetingKind::BarrierLeave, group, {id, w.home->barrier_generation[id] - 1, 0, false, false});
  }
}
void rt_BarPoll(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  const auto& a = named<BarPollArgs>(args);
  auto& r = named<BarPollResults>(results);
  if (w.live != w.seen_live) count_exits(w);
  u32 done = 0;
  for (u32 l : Lanes(mask)) {
    r.value[l] = w.home->barrier_red[a.id[l]];
    r.done[l] = u32(w.home->barrier_generation[a.id[l]]) != u32(a.generation[l]);
    done |= u32(r.done[l]) << l;
  }
  if (w.listener) [[unlikely]]
    tell_polled(w, done, a.id);
  if (done) {
    w.quiet_polls = 0;
    w.behind_barrier = 1;
  } else {
    w.wait_barrier = u8(a.id[first_lane(mask)]);
    count_failed_poll(w, mask, Wait::Barrier);
  }
}
void rt_BarRed(WarpCtx* ctx, u32 mask, const u64* args, u64* results) {
  barrier<Kind::Red>(US_RT_ENTER(ctx), mask, named<BarRedArgs>(args), results);
}

}  // namespace us::device
