// SPDX-License-Identifier: Apache-2.0
#include "device/sync/cluster_barrier.h"

#include <fmt/format.h>

#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/sync/barrier.h"

namespace us::device {
namespace {

template <class F>
void for_each_warp(const Slot& s, F f) {
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r)
    for (u32 k = 0; k < s.grid->cta_warps; ++k) f(*s.cta[r]->warp[k]);
}

void complete(Slot& s) {
  s.cluster_missing = 0;
  s.cluster_phases++;
  s.events++;
  s.idle_events += !s.cluster_busy;
  for_each_warp(s, [](Warp& w) {
    w.cluster_arrived = 0;
    w.cluster_counted = false;
    if (w.wait == Wait::Cluster) w.home->ready |= 1u << w.warp_id;
  });
}

// All lanes of the warp that are left have come: one warp fewer is missing.
void settle(Warp& w) {
  Slot& s = *w.home->slot;
  if (w.cluster_counted || (w.live & ~w.cluster_arrived)) return;
  w.cluster_counted = true;
  if (--s.cluster_missing == 0) complete(s);
}

void notice_exits(Warp& w) {
  if (w.live == w.seen_live) return;
  w.seen_live = w.live;
  threads_exited(w);
}

void arrive(Warp& w, u32 lanes) {
  Slot& s = *w.home->slot;
  notice_exits(w);
  if (u32 again = w.cluster_arrived & lanes)
    die(w, Outcome::IllegalInstruction,
        "barrier.cluster.arrive: these threads have arrived at this phase already; expected barrier.cluster.wait "
        "between two arrivals",
        again, probe::Refused::ClusterArrival);
  if (w.listener) tell_cluster(w, MeetingKind::ClusterArrive, lanes);
  if (!s.cluster_missing) {
    s.cluster_busy = false;
    for_each_warp(s, [&](const Warp& other) { s.cluster_missing += !other.ended; });
  }
  s.cluster_busy |= comes_busy(w);
  w.cluster_arrived |= lanes;
  settle(w);
}

}  // namespace

void clear_cluster_barrier(Slot& s) {
  s.cluster_missing = 0;
  for_each_warp(s, [](Warp& w) {
    w.cluster_arrived = 0;
    w.cluster_counted = false;
  });
}

void exited_from_cluster(Warp& w) {
  if (w.home->slot->cluster_missing) settle(w);
}

std::string cluster_barrier_state(const Slot& s) {
  std::string missing;
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r) {
    std::string warps;
    for (u32 k = 0; k < s.grid->cta_warps; ++k) {
      const Warp& w = *s.cta[r]->warp[k];
      const u32 lanes = w.ended ? 0 : w.live & ~w.cluster_arrived;
      if (!lanes) continue;
      warps += fmt::format("{}{}", warps.empty() ? "" : ", ", k);
      if (lanes != w.live) warps += fmt::format(" (lanes {:#010x})", lanes);
    }
    if (!warps.empty())
      missing += fmt::format("{}block {} warps {}", missing.empty() ? "" : "; ", text_of(s.cta[r]->ctaid), warps);
  }
  return "the cluster's barrier" + (missing.empty() ? std::string() : ": missing " + missing);
}

static void wait_for_phase(Warp& w, u32 mask) {
  if (!w.on_fibre)
    die(w, Outcome::NotSupported, "internal: a kernel that was compiled as never blocking waits at a barrier", mask);
  w.home->ready &= ~(1u << w.warp_id);
  w.wait = Wait::Cluster;
  w.wait_mask = mask;
  worker_of(w).leave(w);
  w.wait = Wait::None;
}

void rt_ClusterArrive(WarpCtx* ctx, u32 mask, const u64*, u64*) { arrive(US_RT_ENTER(ctx), mask); }

void rt_ClusterWait(WarpCtx* ctx, u32 mask, const u64*, u64*) {
  Warp& w = US_RT_ENTER(ctx);
  notice_exits(w);
  if (w.cluster_arrived & mask) wait_for_phase(w, mask);
  if (w.listener) tell_cluster(w, MeetingKind::ClusterLeave, mask);
}

void rt_ClusterPoll(WarpCtx* ctx, u32 mask, const u64*, u64* results) {
  Warp& w = US_RT_ENTER(ctx);
  notice_exits(w);
  const u32 done = mask & ~w.cluster_arrived;
  for (u32 l : Lanes(mask)) results[l] = done >> l & 1;
  if (done && w.listener) tell_cluster(w, MeetingKind::ClusterLeave, done);
  if (done)
    w.quiet_polls = 0;
  else
    count_failed_poll(w, mask, Wait::Cluster);
}

}  // namespace us::device
