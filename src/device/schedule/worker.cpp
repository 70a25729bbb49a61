// SPDX-License-Identifier: Apache-2.0
// One worker: its thread, and what its fibres do. When which cluster runs is schedule.cpp's.
//
//   idle ──take──> non-blocking kernel: a chunk of CTAs in one loop
//        └─admit─> slot: its warps run on fibres; a warp that waits switches straight to the next ready warp of its
//                  CTA, and back to the scheduler only when its CTA has none
//   pass: one round over the resident slots. A slot that ended takes its grid's next cluster. When passes bring nothing
//         (all wait or spin), another cluster is admitted: of another grid first, then of the same, up to its limit.
#include "device/schedule/worker.h"

#include <immintrin.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <bit>
#include <system_error>

#include "device/probe/tell.h"
#include "device/schedule/crash.h"
#include "device/schedule/machine.h"
#include "device/schedule/outside.h"
#include "device/schedule/slot.h"
#include "device/sync/barrier.h"
#include "device/sync/cluster_barrier.h"

namespace us::device {
namespace {
// CTAs of a non-blocking kernel taken at once: neighbours of one worker read neighbouring memory, which the hardware
// prefetches; a grid of another stream must not wait for long.
constexpr u64 kMaxChunk = 1024;
constexpr u32 kMostByChance = 8;  // clusters that are admitted at once

struct Signals {
  explicit Signals(const sigset_t& mask) : mask_(mask) {}
  ~Signals() { pthread_sigmask(SIG_SETMASK, &mask_, nullptr); }
  const sigset_t mask_;
};
}  // namespace

Worker::~Worker() {
  for (auto& s : slots_) free_memory(*s);
  free_memory(loop_slot_);
}

bool Worker::start() try {
  // Signals for the process belong to the application's threads.
  sigset_t all, old;
  sigfillset(&all);
  for (int s : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT}) sigdelset(&all, s);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const Signals before(old);
  thread_ = std::thread([this] { main(); });
  return true;
} catch (const std::system_error&) {
  pulse.idle = true;
  return false;
}

void Worker::main() {
  name_thread();
  CrashGuard guard(this);
  default_mxcsr_ = _mm_getcsr();
  adopt_thread(scheduler);
  prctl(PR_SET_TIMERSLACK, 1ul, 0ul, 0ul, 0ul);  // it sleeps for microseconds
  loop.stack = loop_stacks_.take();
  prepare(loop, loop_entry, this);
  for (;;) {
    if (!resident_.empty()) {
      pass();
    } else if (home_ && !home_->exhausted()) {
      take_from(home_);
    } else {
      pulse.idle.store(true, std::memory_order_relaxed);
      home_ = machine.wait_for_work();
      if (!home_) break;
      pulse.idle.store(false, std::memory_order_relaxed);
    }
  }
  for (auto& s : slots_)
    for (auto& c : s->cta)
      for (auto& w : c->warp) release(w->fibre);
  release(loop);
}

// --- kernels that never block ---

void Worker::take_from(const std::shared_ptr<Grid>& g) {
  Pulse::count(pulse.fruits);
  if (g->yields) {
    if (!admit(g)) return home_.reset();
    while (g->shares && admit(g)) {
    }
    for (u32 more = g->chance.on() ? g->chance.below(kMostByChance) : 0; more && admit(g); --more) {
    }
    return;
  }
  u64 issued = g->next.load(std::memory_order_relaxed);
  u64 left = issued < g->clusters ? g->clusters - issued : 0;
  u64 chunk = std::clamp<u64>(g->chance.on() ? left : left / (machine.workers.size() * 8), 1, kMaxChunk);
  u64 first = g->next.fetch_add(chunk);
  if (first == 0 && g->launch->started) g->launch->started();
  if (first < g->clusters) run_loop(g, first, std::min(chunk, g->clusters - first));
}

void Worker::run_loop(const std::shared_ptr<Grid>& g, u64 first, u64 count) {
  bind(loop_slot_, *this, g);
  loop_first_ = first, loop_count_ = count;
  loop_slot_.abandoned = false;
  enter(loop, loop_slot_, nullptr);
  if (loop_slot_.abandoned) prepare(loop, loop_entry, this);
  std::shared_ptr<Grid> keep = g;
  machine.end_clusters(keep, count);
}

void Worker::loop_entry(void* worker) {
  Worker& self = *static_cast<Worker*>(worker);
  for (;;) {
    self.loop_body();
    self.current = nullptr;
    switch_fibre(self.loop, self.scheduler);
  }
}

void Worker::loop_body() {
  Slot& s = loop_slot_;
  Grid& g = *s.grid;
  const u32 spin = g.spin_budget;
  for (u32 r = 0; r < g.cluster_ctas; ++r)
    for (u32 n = 0; n < g.cta_warps; ++n) reset(*s.cta[r]->warp[n], spin);
  loop_order_.clear();
  for (u64 k = 0; g.chance.on() && k < loop_count_; ++k) {
    loop_order_.push_back(loop_first_ + k);
    std::swap(loop_order_.back(), loop_order_[g.chance.below(u32(k + 1))]);
  }
  for (u64 n = 0; n < loop_count_; ++n) {
    const u64 k = loop_order_.empty() ? loop_first_ + n : loop_order_[n];
    if (g.failed.load(std::memory_order_relaxed)) break;
    place(s, k);
    count_begun(g);
    for (u32 r = 0; r < g.cluster_ctas; ++r) {
      if (g.listener) tell_begin(*s.cta[r]);
      run_to_end(g, *s.cta[r], spin);
      if (g.listener) tell_end(*s.cta[r]);
      record_end(*s.cta[r]);
      if (g.triggers) trigger(*s.cta[r]);
    }
    if (!s.queue.empty()) deliver_all(s);
  }
  for (u32 r = 0; r < g.cluster_ctas; ++r)
    for (u32 n = 0; n < g.cta_warps; ++n) s.cta[r]->warp[n]->ended = true;
}

// A CTA of a kernel that never blocks: in one call, or a call for each warp.
void Worker::run_to_end(Grid& g, Cta& c, u32 spin) {
  for (u32 n = 0; n < g.cta_warps; ++n) reset_unblocked(*c.warp[n], spin);
  if (g.run_cta) {
    static_assert(sizeof(c.warp[0]) == sizeof(WarpCtx*));  // a row of pointers to warps, which begin with their WarpCtx
    for (u32 n = 0; g.listener && n < g.cta_warps; ++n) begin_telling(*c.warp[n]);
    if (g.listener) ask_quick(c);
    g.run_cta(reinterpret_cast<WarpCtx* const*>(c.warp.data()), reinterpret_cast<WarpCtx**>(&current));
    if (g.listener) tell_last_exits(c);
    return;
  }
  const auto run = g.run;
  u32 left = g.cta_warps == kMaxWarps ? kFullMask : (1u << g.cta_warps) - 1;
  while (left) {
    const u32 n = g.chance.on() ? g.chance.one_of(left) : u32(std::countr_zero(left));
    left &= ~(1u << n);
    current = c.warp[n].get();
    if (g.listener) begin_telling(*c.warp[n]), ask_quick(*c.warp[n]);
    run(current);
    if (g.listener) tell_exits(*c.warp[n]);
  }
}

// --- kernels that can block ---

bool Worker::admit(const std::shared_ptr<Grid>& g) {
  if (resident_.empty()) fresh_start();
  if (g->resident.fetch_add(1) >= g->resident_limit) {
    g->resident.fetch_sub(1);
    return false;
  }
  // Claim first: a grid without clusters left may end at any moment, and take its launch with it.
  u64 cluster = g->next.fetch_add(1);
  if (cluster >= g->clusters) {
    g->resident.fetch_sub(1);
    return false;
  }
  if (cluster == 0 && g->launch->started) g->launch->started();
  if (free_.empty()) {
    slots_.push_back(std::make_unique<Slot>());
    free_.push_back(slots_.back().get());
  }
  Slot& s = *free_.back();
  free_.pop_back();
  resident_.push_back(&s);
  bind(s, *this, g);
  prepare_fibres(s);
  begin(s, cluster);
  return true;
}

void Worker::prepare_fibres(Slot& s) {
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r)
    for (u32 k = 0; k < s.grid->cta_warps; ++k) {
      Warp& w = *s.cta[r]->warp[k];
      w.on_fibre = true;
      if (!w.fibre.stack.low) w.fibre.stack = stacks_.take();
      if (!w.fibre.sp) prepare(w.fibre, warp_entry, &w);
    }
}

bool Worker::start_next(Slot& s) {
  u64 cluster = s.grid->next.fetch_add(1);
  if (cluster >= s.grid->clusters) return false;
  begin(s, cluster);
  return true;
}

void Worker::begin(Slot& s, u64 cluster) {
  Grid& g = *s.grid;
  open_shared(s);
  place(s, cluster);
  s.abandoned = s.breaks = false;
  s.fresh = true;
  s.idle_events = 0;
  s.stood = false;
  s.ctas_running = g.cluster_ctas;
  s.events++;
  for (u32 r = 0; r < g.cluster_ctas; ++r) {
    Cta& c = *s.cta[r];
    for (u32 n = 0; n < g.cta_warps; ++n) reset(*c.warp[n], g.spin_budget);
    c.ready = g.cta_warps == kMaxWarps ? kFullMask : (1u << g.cta_warps) - 1;
    c.spun = c.polling = 0;
    c.running_warps = g.cta_warps;
    clear_barriers(c);
  }
  clear_cluster_barrier(s);
  for (u32 r = 0; g.listener && r < g.cluster_ctas; ++r) {
    tell_begin(*s.cta[r]);
    for (u32 n = 0; n < g.cta_warps; ++n) ask_quick(*s.cta[r]->warp[n]);
  }
  count_begun(g);
}

void Worker::warp_entry(void* arg) {
  Warp& w = *static_cast<Warp*>(arg);
  for (;;) {
    Worker& self = *w.home->slot->worker;
    w.home->slot->grid->run(&w);
    self.warp_ended(w);
    self.leave(w);  // comes back for a warp of another CTA
  }
}

void Worker::warp_ended(Warp& w) {
  Cta& c = *w.home;
  w.ended = true;
  w.live = 0;
  if (w.listener) tell_exits(w);
  c.ready &= ~(1u << w.warp_id);
  c.slot->events++;
  if (--c.running_warps != 0) return threads_exited(w);
  deliver_all(*c.slot);
  if (c.slot->grid->triggers) trigger(c);
  if (w.listener) tell_end(c);
  record_end(c);
  exited_from_cluster(w);
  if (--c.slot->ctas_running) close_shared(c);
}

void Worker::leave(Warp& w) {
  Cta& c = *w.home;
  if (u32 ready = c.ready; ready && !c.slot->grid->failed.load(std::memory_order_relaxed)) {
    u32 later = ready & ~((2u << w.warp_id) - 1);
    Chance& chance = c.slot->grid->chance;
    Warp& next = *c.warp[chance.on() ? chance.one_of(ready) : u32(std::countr_zero(later ? later : ready))];
    if (&next == &w) return;
    current = &next;
    switch_fibre(w.fibre, next.fibre);
  } else {
    current = nullptr;
    switch_fibre(w.fibre, scheduler);
  }
}

// Others: of its CTA, or of other clusters.
void Worker::may_break(Warp& w) {
  Slot& s = *w.home->slot;
  if (!w.on_fibre || !s.grid->chance.breaks()) return;
  if (s.grid->chance.below(2)) return leave(w);
  s.breaks = true;
  current = nullptr;
  switch_fibre(w.fibre, scheduler);
}

// Who waits for a word by a loop and finds it changed late has heard, by the word's last value, of all that was done
// in the meantime: what it should have waited for once more is ordered by luck. So a loop that spins has a look as soon
// as somebody writes. Not for ever: spinning loops must be seen to make nothing.
void Worker::let_look(Warp& w) {
  Slot& s = *w.home->slot;
  if (!w.on_fibre || s.grid->chance.on() || !looks_ || (!spinning_ && !w.home->spun)) return;
  --looks_;
  s.breaks = true;
  current = nullptr;
  switch_fibre(w.fibre, scheduler);
}

void Worker::give_way(Warp& w) {
  Cta& c = *w.home;
  if (w.told) w.told->spun = true;
  // A warp that waits for warps which are waiting themselves spins in vain at each of its turns: its budget shrinks
  // every time.
  constexpr u32 kLastStep = 5, kLeast = 2;
  const Grid& g = *c.slot->grid;
  w.spin = g.shares ? g.spin_budget : std::max(g.spin_budget >> w.gave_way, kLeast);
  if (w.gave_way < kLastStep) ++w.gave_way;
  if (!w.on_fibre) return;
  c.ready &= ~(1u << w.warp_id);
  c.spun |= 1u << w.warp_id;
  leave(w);
}

void Worker::abandon(Warp& w) {
  w.home->slot->abandoned = true;
  current = nullptr;
  switch_fibre(w.on_fibre ? w.fibre : loop, scheduler);
  US_UNREACHABLE();
}

}  // namespace us::device
