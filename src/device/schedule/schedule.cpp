// SPDX-License-Identifier: Apache-2.0
// Which resident cluster runs next, and when another is admitted.
#include <immintrin.h>
#include <time.h>

#include <algorithm>
#include <bit>

#include "device/schedule/crash.h"
#include "device/schedule/machine.h"
#include "device/schedule/worker.h"

namespace us::device {
namespace {
constexpr u32 kPatience = 8;        // fruitless passes between looks at the stacks of spinning warps
constexpr u32 kLongPatience = 256;  // ... before the first cluster that is admitted although they may get on
constexpr u32 kMaxBurst = 32;       // clusters admitted at once when all are stuck
constexpr u32 kPollAfter = 2;       // fruitless passes before a waiting try_wait returns false
constexpr u32 kMostLooks = 1024;    // by who spins, at what others have written
constexpr u32 kRestAfter = 64;      // fruitless passes before looks at the clock: is it time to sleep?
constexpr u64 kReadyNs =
    80'000;  // without sleep: longer than a nap takes, or two who wait for each other sleep in turn
constexpr u64 kShortestNapNs = 5'000, kLongestNapNs = 50'000;
constexpr u64 kNapEveryNs = 1'000'000;  // also where something moves
constexpr u32 kLookAt = 64;             // warps whose stacks tell whether something moves

bool any(const Slot& s, u32 Cta::*set) {
  return std::any_of(s.cta.begin(), s.cta.begin() + s.grid->cluster_ctas,
                     [&](const auto& c) { return (*c).*set != 0; });
}
}  // namespace

void Worker::enter(Fibre& f, Slot& s, Warp* w) {
  current = w;
  switch_fibre(scheduler, f);
  if (!crashed) return;
  crashed = false;
  landed_on(scheduler);
  _mm_setcsr(default_mxcsr_);
  Warp& culprit = *current;
  current = nullptr;
  take_crash(s, culprit);
}

void Worker::take_crash(Slot& s, Warp& w) {
  s.abandoned = true;
  machine.fail(s.grid, crash_fault(w, crash));
}

// Of CTAs that share loops. There is an end to it: chains through large grids would take very long.
void Worker::take_turn(Grid& g) {
  if (--g.turns_left == 0) g.shares = false, g.spin_budget = machine.options.spin_budget;
}

void Worker::run_round(Slot& s) {
  bool poll = fruitless_ >= kPollAfter;
  u32 n = s.grid->cluster_ctas;
  for (u32 r = 0; r < n; ++r) {
    Cta& c = *s.cta[r];
    c.ready |= c.spun | (poll ? c.polling : 0);
    c.spun = 0;
  }
  for (bool again = true; again;) {
    again = false;
    for (u32 r = 0; r < n; ++r) {
      Cta& c = *s.cta[r];
      while (c.ready) {
        if (s.abandoned || s.grid->failed.load(std::memory_order_relaxed)) return;
        Chance& chance = s.grid->chance;
        Warp& w = *c.warp[chance.on() ? chance.one_of(c.ready) : u32(std::countr_zero(c.ready))];
        if (s.grid->shares) take_turn(*s.grid);
        enter(w.fibre, s, &w);
        again = true;
        if (!s.breaks) continue;
        s.breaks = false;
        s.events++;
        return;
      }
    }
    // Nobody can go on without it. Late: nor with less than what completes a phase that somebody may poll.
    const bool late = machine.options.async.delivery == AsyncDelivery::Late;
    for (const u64 phases = s.phases; !again && deliver_one(s);) {
      again = any(s, &Cta::ready);
      if (!late || s.phases != phases) break;
    }
  }
}

void Worker::pass() {
  Pulse::count(pulse.passes);
  Round sum;
  if (machine.options.seed) shuffle_residents();
  if (!resident_.empty() && resident_.front()->grid->shares)
    visit_backwards(sum);
  else
    for (size_t k = 0; k < resident_.size();) k += visit(k, sum);
  if (sum.old_fruit) fruitless_ = 0, stuck_ = false;
  if (sum.fruit) {
    Pulse::count(pulse.fruits);
    quiet_ns_ = rested_ns_ = 0;
    machine.clock.work_was_done();
    watch_.reset(*this);
    return;
  }
  ++fruitless_;
  if (resident_.empty()) return;
  machine.clock.nothing_was_done();
  if ((!sum.spinning || spins_in_vain()) && admit_more()) return;
  if (watch_.look(*this, resident_)) return;
  rest();
}

// Who shares a loop with others sees what they did in the pass before. The last one begins, later any: of CTAs that
// swap a word whoever begins has it.
void Worker::visit_backwards(Round& sum) {
  const size_t all = resident_.size(), first = all - (turns_begun_++ * u64{0x9e3779b9} >> 8) % all;
  for (size_t k = first; k-- > 0;) visit(k, sum);
  const size_t gone = all - resident_.size();
  for (size_t k = resident_.size(); k-- > first - gone;) visit(k, sum);
}

void Worker::shuffle_residents() {
  for (size_t k = 1; k < resident_.size(); ++k)
    if (Chance& chance = resident_[k]->grid->chance; chance.on())
      std::swap(resident_[k], resident_[chance.below(u32(k + 1))]);
}

// Warps wait for the host, or for other workers. Whoever is to answer may need this core, so sleep, but not for long: a
// little at first, more the longer it takes. Offering the core instead (sched_yield) costs 3 to 8 ms a time on a busy
// machine.
void Worker::rest() {
  if (fruitless_ < kRestAfter) return _mm_pause();
  const u64 now = now_ns();
  if (!quiet_ns_) quiet_ns_ = now;
  if (!rested_ns_) rested_ns_ = now;
  const u64 quiet = now - quiet_ns_;
  if (quiet < kReadyNs) return _mm_pause();
  if (spinning_moved() && now - rested_ns_ < kNapEveryNs) {
    quiet_ns_ = now;
    return;
  }
  if (!stuck_ && machine.pick(nullptr)) return;  // it counts passes until it admits another cluster
  const timespec nap{0, long(std::clamp(quiet / 8, kShortestNapNs, kLongestNapNs))};
  nanosleep(&nap, nullptr);
  rested_ns_ = now_ns();
}

// Has a loop that waits ended since the last time? Loops that wait for the host make no events. A look at some of them
// will do.
bool Worker::spinning_moved() {
  u32 looks = 0;
  bool moved = false;
  for (Slot* s : resident_)
    for (u32 r = 0; r < s->grid->cluster_ctas; ++r)
      for (u32 spun = s->cta[r]->spun; spun && looks < kLookAt; spun &= spun - 1, ++looks)
        moved |= stack_moved(*s->cta[r]->warp[size_t(std::countr_zero(spun))]);
  return moved;
}

// One round of one slot. Returns by how much to advance: 0 if the slot has left.
size_t Worker::visit(size_t k, Round& sum) {
  Slot& s = *resident_[k];
  const u64 before = s.events, idle_before = s.idle_events;
  spinning_ -= s.spins, s.spins = false;
  run_round(s);
  if (s.abandoned || s.grid->failed.load(std::memory_order_relaxed)) {
    drop(s);
    forget(k);
    sum.fruit = sum.old_fruit = true;
    return 0;
  }
  bool fruit = s.events - before != s.idle_events - idle_before;
  sum.fruit |= fruit;
  sum.old_fruit |= fruit && !s.fresh;
  if (s.ctas_running != 0) {
    sum.spinning |= s.spins = any(s, &Cta::spun);
    spinning_ += s.spins;
    if (!fruit) s.fresh = false;
    return 1;
  }
  std::shared_ptr<Grid> g = s.grid;
  bool more = start_next(s);
  if (!more) forget(k);
  machine.end_clusters(g, 1);
  return more;
}

// Warps gave way in every pass. Loops that make progress give way too (each has its budget): only if the stacks stay
// the same do they wait for something. Loops that count as they wait change theirs, so after long patience others are
// admitted: who needs one cluster that is not there yet often needs many, so the next ones come sooner.
bool Worker::spins_in_vain() {
  if (stuck_) return true;
  if (fruitless_ % kPatience) return false;
  bool same = true;
  for (Slot* s : resident_) same &= stacks_unchanged(*s);
  if (same && fruitless_ > kPatience) return stuck_ = true;
  if (fruitless_ < patience_) return false;
  fruitless_ = 0;
  patience_ = std::max(patience_ / 2, kPatience);
  return true;
}

void Worker::fresh_start() {
  fruitless_ = 0, stuck_ = false;
  burst_ = 1, patience_ = kLongPatience;
  looks_ = kMostLooks;
}

bool Worker::admit_more() {
  const Grid* avoid = resident_.back()->grid.get();
  u32 n = 0;
  for (; n < burst_; ++n) {
    std::shared_ptr<Grid> g = machine.pick(avoid);
    if (!g) break;
    if (!g->yields) {
      take_from(g);
      fruitless_ = 0;
      return true;
    }
    if (!admit(g)) break;
    avoid = g.get();
  }
  burst_ = std::min(burst_ * 2, kMaxBurst);
  return n != 0;
}

void Worker::forget(size_t k) {
  Slot* s = resident_[k];
  s->grid->resident.fetch_sub(1);
  resident_.erase(resident_.begin() + std::ptrdiff_t(k));
  free_.push_back(s);
}

// The cluster ends without having finished: its fibres will start afresh.
void Worker::drop(Slot& s) {
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r)
    for (u32 n = 0; n < s.grid->cta_warps; ++n)
      if (Warp& w = *s.cta[r]->warp[n]; !w.ended) {
        w.ended = true;
        prepare(w.fibre, warp_entry, &w);
      }
  s.ctas_running = 0;
  machine.end_clusters(s.grid, 1);
}

}  // namespace us::device
