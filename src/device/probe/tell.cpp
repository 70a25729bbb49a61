// SPDX-License-Identifier: Apache-2.0
#include "device/probe/tell.h"

#include <algorithm>
#include <utility>

#include "device/functions/rt.h"
#include "device/schedule/report.h"

namespace us::device {

using probe::Meeting, probe::Who;

namespace {
Meeting of_barrier(MeetingKind kind, const BarrierTold& b) {
  Meeting m;
  m.kind = kind;
  m.id = b.id, m.generation = b.generation, m.threads = b.threads;
  m.arrive_only = b.arrive_only, m.aligned = b.aligned;
  return m;
}
}  // namespace

Who who(const Cta& c) {
  Who w;
  w.cluster = c.slot->cluster;
  w.cta = linear_in_grid(c);
  w.rank = c.cluster_rank;
  return w;
}

Who who(Warp& w, u32 lanes) {
  tell_exits(w);
  w.told->gated &= ~lanes;
  Who r = who(*w.home);
  r.warp = w.warp_id, r.lanes = lanes, r.live = w.live, r.site = w.probe_site;
  return r;
}

void begin_telling(Warp& w) {
  if (w.told->copies) std::fill_n(w.bulk_groups, kWarpSize, 0u), std::fill_n(w.small_groups, kWarpSize, 0u);
  w.told->begin(w.live);
  w.probe_site = probe::kNoSite;
  w.quick = &probe::no_quick;
}

void tell_begin(Cta& c) {
  c.barrier_generation.fill(0);
  c.open_barriers = 0;
  c.slot->grid->listener->cta_begins(who(c), c.threads);
}
void ask_quick(Warp& w) {
  if (probe::Quick* q = w.listener->quick(who(w, w.live))) w.quick = q;
}
void ask_quick(Cta& c) {
  probe::Quick* all[kMaxWarps];
  std::fill_n(all, c.warps, &probe::no_quick);
  c.slot->grid->listener->quick_all(who(c), c.warps, all);
  for (u32 k = 0; k < c.warps; ++k) c.warp[k]->quick = all[k];
}
void tell_last_exits(Cta& c) {
  for (u32 k = 0; k < c.warps; ++k)
    if (Warp& w = *c.warp[k]; !w.quick->ends_untold) tell_exits(w);
}
void tell_end(const Cta& c) { c.slot->grid->listener->cta_ends(who(c)); }
void record_end(const Cta& c) {
  const Warp& w = *c.warp.front();
  if (!w.records) return;
  probe::Record r;
  r.cta = static_cast<u32>(w.record);
  r.code.kind = probe::RecordCode::Kind::End;
  probe::write_record(*w.records, r);
}
void record_sync(Warp& w, u32 lane, probe::SyncOp op, u64 address, u64 value) {
  if (!w.records) return;
  probe::Record r;
  r.site = w.probe_site, r.lanes = 1u << lane;
  r.cta = static_cast<u32>(w.record), r.warp = w.warp_id;
  r.code = {.kind = probe::RecordCode::Kind::Sync,
            .addresses = probe::RecordCode::Addresses::Pair,
            .bytes = static_cast<u32>(op)};
  r.first = address, r.second = value;
  probe::write_record(*w.records, r);
}

namespace {
void tell_gone(Warp& w, u32 gone, u32 site) {
  w.told->live &= ~gone;
  Who r = who(*w.home);
  r.warp = w.warp_id, r.lanes = gone, r.live = w.told->live, r.site = site;
  w.listener->exits(r);
  tell_unfinished(w, gone);
}
}  // namespace

void tell_exits(Warp& w) {
  const u32 gone = w.told->live & ~w.live;
  if (gone) tell_gone(w, gone, w.live ? probe::kNoSite : w.quick->left_at);
}
void tell_exit(Warp& w, u32 lanes) {
  tell_exits(w);
  tell_gone(w, lanes, w.probe_site);
}

void tell_free(Warp& w, u32 lane, u64 address) {
  if (!w.listener || !address) return;
  u64 at[kWarpSize] = {};
  at[lane] = address;
  probe::Hint h;
  h.kind = probe::Hint::Kind::Free, h.address = at;
  w.listener->hint(who(w, 1u << lane), h);
}

void tell_image(Warp& w, u32 lane, probe::Image::Kind kind, u64 object, std::span<const probe::Range> touched) {
  probe::Image i;
  i.kind = kind, i.object = object, i.touched = touched;
  w.listener->image(who(w, 1u << lane), i);
}

void tell_barrier(Warp& w, MeetingKind kind, u32 lanes, const BarrierTold& b) {
  w.listener->meeting(who(w, lanes), of_barrier(kind, b));
}
void tell_barrier_done(const Cta& c, u32 id, u32 generation) {
  c.slot->grid->listener->meeting(who(c), of_barrier(MeetingKind::BarrierDone, {id, generation, 0, false, false}));
}

void tell_whole_barrier(Warp& w, u32 lanes, BarrierStep step, bool aligned) {
  Cta& c = *w.home;
  for (u32 k = 0; k < c.warps; ++k) tell_exits(*c.warp[k]);
  const u32 passed = w.quick->barrier->passed, generation = c.barrier_generation[0] + passed;
  const BarrierTold now{0, generation, 0, false, aligned}, last{0, generation - 1, 0, false, aligned};
  switch (step) {
    case BarrierStep::Arrive:
      c.open_barriers |= 1;
      return tell_barrier(w, MeetingKind::BarrierArrive, lanes, now);
    case BarrierStep::Done:
      if (c.open_barriers & 1) tell_barrier_done(c, 0, c.barrier_generation[0]++ + passed);
      c.open_barriers &= ~1u;
      return;
    case BarrierStep::Leave:
      return tell_barrier(w, MeetingKind::BarrierLeave, lanes, last);
    case BarrierStep::Meet:
      break;
  }
  bool whole = aligned;
  for (u32 k = 0; k < c.warps; ++k) {
    c.warp[k]->probe_site = w.probe_site;
    whole = whole && c.warp[k]->told->live == c.warp[k]->live && c.warp[k]->live;
  }
  Who all = who(c);
  all.site = w.probe_site;
  if (whole && w.listener->all_meet(all, generation)) return void(c.barrier_generation[0]++);
  for (u32 k = 0; k < c.warps; ++k) {
    tell_barrier(*c.warp[k], MeetingKind::BarrierArrive, c.warp[k]->live, now);
  }
  tell_barrier_done(c, 0, c.barrier_generation[0]++ + passed);
  for (u32 k = 0; k < c.warps; ++k) tell_barrier(*c.warp[k], MeetingKind::BarrierLeave, c.warp[k]->live, now);
}

void tell_cluster(Warp& w, MeetingKind kind, u32 lanes) {
  Meeting m;
  m.kind = kind;
  const u32 phases = w.home->slot->cluster_phases;
  m.generation = kind == MeetingKind::ClusterLeave && phases ? phases - 1 : phases;
  m.relaxed = kind == MeetingKind::ClusterArrive && take_next(w).flag;
  w.listener->meeting(who(w, lanes), m);
}

void tell_meeting(Warp& w, MeetingKind kind, u32 lanes) {
  Meeting m;
  m.kind = kind;
  w.listener->meeting(who(w, lanes), m);
}

NoteCode take_next(Warp& w) { return std::exchange(w.told->next, NoteCode()); }

}  // namespace us::device
