// SPDX-License-Identifier: Apache-2.0
#include "device/schedule/watch.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/demangle.h"
#include "device/functions/rt.h"
#include "device/probe/tell.h"
#include "device/schedule/machine.h"
#include "device/schedule/outside.h"
#include "device/sync/barrier.h"
#include "device/sync/cluster_barrier.h"
#include "device/sync/mbarrier.h"

namespace us::device {
namespace {
constexpr u32 kLookEvery = 16;  // passes between looks at the clock
constexpr double kPollGraceS = 0.25;
constexpr u32 kQuietPolls = 3;
constexpr u64 kTimeStepNs = 1'000'000'000;  // by which a waiting kernel's clock is advanced at a look
constexpr u32 kTimeSteps = 4000;            // a loop that polls longer than this many steps has no time limit
constexpr double kClockShare = 6;           // of the limit: from then on a loop may have nothing but the clock
constexpr u32 kAskEvery = 256;              // steps between questions whether anybody can answer
constexpr u32 kRepeats = 64;                // looks at which a stopped clock must show nothing new
constexpr u32 kStoppedLooks = 512;          // looks at most
constexpr u32 kMostLocal = 4096;            // bytes of a lane's local memory that are looked at
constexpr size_t kMaxLines = 24;            // of a report

template <class F>
void for_each_warp(const Slot& s, F f) {
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r)
    for (u32 k = 0; k < s.grid->cta_warps; ++k)
      if (Warp& w = *s.cta[r]->warp[k]; !w.ended) f(w);
}

enum class Standing { Stuck, Polling, Timed, Spinning };

Standing standing_of(const Slot& s) {
  Standing worst = Standing::Stuck;
  for_each_warp(s, [&](Warp& w) {
    if (w.wait == Wait::Barrier || w.wait == Wait::Cluster || w.wait == Wait::Warpgroup) return;
    bool polls = w.quiet_polls >= kQuietPolls && w.poll_events == s.events;
    worst = std::max(worst, !polls ? Standing::Spinning : w.read_clock ? Standing::Timed : Standing::Polling);
  });
  return worst;
}

// Fingerprint of a suspended fibre: its registers and live frames. Unchanged means that the loop has no counter either.
__attribute__((no_sanitize("address", "thread"))) u64 fingerprint(const Warp& w, u64 most = ~u64{0}) {
  u64 h = 0xcbf29ce484222325;
  const u8* top = w.fibre.stack.low + w.fibre.stack.bytes;
  if (const u8* sp = static_cast<const u8*>(w.fibre.sp); u64(top - sp) > most) top = sp + most;
  for (auto* p = static_cast<const u64*>(w.fibre.sp); reinterpret_cast<const u8*>(p) < top; ++p)
    h = (h ^ *p) * 0x100000001b3;
  return h | 1;
}

// The same with what its lanes have in local memory.
u64 whole_fingerprint(const Warp& w) {
  u64 h = fingerprint(w);
  const u32 bytes = std::min(grid_of(const_cast<Warp&>(w)).launch->code->local_bytes, kMostLocal);
  for (u32 l = 0; l < kWarpSize; ++l)
    for (u32 k = 0; k < bytes; ++k) h = (h ^ w.local[l * w.local_stride + k]) * 0x100000001b3;
  return h | 1;
}

std::string waits_for(Warp& w) {
  if (w.wait == Wait::Cluster || (w.quiet_polls && w.polled == Wait::Cluster))
    return cluster_barrier_state(*w.home->slot);
  if (w.wait == Wait::Warpgroup) return warpgroup_state(w);
  if (w.wait == Wait::Barrier) return barrier_state(*w.home, w.wait_barrier);
  if (w.quiet_polls) return w.polled == Wait::Barrier ? barrier_state(*w.home, w.wait_barrier) : mbarrier_state(w);
  return "memory that another thread must change (it spins)";
}

std::string ranges(const std::vector<u32>& numbers) {
  std::string text;
  for (size_t k = 0; k < numbers.size();) {
    size_t e = k;
    while (e + 1 < numbers.size() && numbers[e + 1] == numbers[e] + 1) ++e;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", numbers[k]);
    if (e > k) text += fmt::format("-{}", numbers[e]);
    k = e + 1;
  }
  return text;
}

// One line for all warps of a CTA that stand at the same place and wait for the same.
std::string lines_of(Cta& c) {
  std::vector<std::pair<std::string, std::vector<u32>>> groups;
  for (u32 k = 0; k < c.warps; ++k) {
    Warp& w = *c.warp[k];
    if (w.ended) continue;
    std::string line = line_of_call(w), what = (line.empty() ? "" : "at " + line + " ") + "\1 for " + waits_for(w);
    auto same = std::find_if(groups.begin(), groups.end(), [&](auto& g) { return g.first == what; });
    if (same == groups.end())
      groups.push_back({what, {k}});
    else
      same->second.push_back(k);
  }
  std::string text;
  for (auto& [what, warps] : groups) {
    bool one = warps.size() == 1;
    what.replace(what.find('\1'), 1, one ? "waits" : "wait");
    text += fmt::format("\n    {} {} {}", one ? "warp" : "warps", ranges(warps), what);
  }
  return text;
}

// All clusters of the grid that this worker holds; blocks with the same lines together.
std::string describe(const Grid& g, const std::vector<Slot*>& resident) {
  std::vector<std::pair<std::string, std::vector<std::string>>> groups;
  for (const Slot* s : resident)
    for (u32 r = 0; s->grid.get() == &g && r < g.cluster_ctas; ++r) {
      Cta& c = *s->cta[r];
      std::string text = lines_of(c);
      if (text.empty()) continue;
      auto same = std::find_if(groups.begin(), groups.end(), [&](auto& x) { return x.first == text; });
      if (same == groups.end())
        groups.push_back({text, {text_of(c.ctaid)}});
      else
        same->second.push_back(text_of(c.ctaid));
    }
  std::string text = "deadlock: no thread can go on\n  kernel " + demangled(g.launch->code->name);
  for (size_t k = 0; k < groups.size() && k < kMaxLines; ++k) {
    auto& [lines, blocks] = groups[k];
    text += fmt::format("\n  block {}", blocks[0]);
    if (blocks.size() > 1) text += fmt::format(" and {} others", blocks.size() - 1);
    text += lines;
  }
  if (groups.size() > kMaxLines) text += fmt::format("\n  and {} blocks more", groups.size() - kMaxLines);
  return text;
}

// Warps that wait for no object, but for memory.
bool spins(const Warp& w) {
  return w.wait != Wait::Cluster && w.wait != Wait::Warpgroup && w.wait != Wait::Barrier && !w.quiet_polls;
}

bool report(Worker& worker, Slot& s, const std::vector<Slot*>& resident) {
  probe::Fault what = {.refused = probe::Refused::Deadlock, .spins = {}};
  for (const Slot* r : resident) {
    if (r->grid != s.grid) continue;
    for_each_warp(*r, [&](const Warp& w) {
      if (!w.listener) return;
      const bool apart = (w.told->gated & w.live) != 0;
      const u32 at = apart ? w.told->looked : w.probe_site;
      if (spins(w) && (!apart || at != probe::kNoSite)) what.spins.push_back({linear_in_grid(*w.home), w.warp_id, at});
      u32 last = probe::kNoSite;  // lanes that wait for others of their warp
      for (u32 l : Lanes(w.told->gated & w.live)) {
        if (w.told->arrived[l] != last) what.spins.push_back({linear_in_grid(*w.home), w.warp_id, w.told->arrived[l]});
        last = w.told->arrived[l];
      }
    });
  }
  worker.machine.fail(s.grid, Fault{Outcome::Deadlock, describe(*s.grid, resident), std::move(what)});
  return true;
}

bool nobody_else_can_help(const Slot& s) {
  if (!s.queue.empty()) return false;
  for (u32 r = 0; r < s.grid->cluster_ctas; ++r)
    if (const Cta& c = *s.cta[r]; c.ready | c.spun | c.polling) return false;
  return true;
}
}  // namespace

bool stack_moved(Warp& w) {
  constexpr u64 kFrame = 1024;  // of the function that waits
  const u64 now = fingerprint(w, kFrame), before = std::exchange(w.rest_print, now);
  return now != before;
}

bool stacks_unchanged(Slot& s) {
  bool same = true;
  for_each_warp(s, [&](Warp& w) {
    u64 now = fingerprint(w);
    same &= now == w.spin_print;
    w.spin_print = now;
  });
  return same;
}

void Watch::reset(Worker& worker) {
  since_ns_ = 0;
  if (stopped_ || stopped_looks_) [[unlikely]]
    end_stop(worker);
}

void Watch::end_stop(Worker& worker) {
  if (std::exchange(stopped_, false)) worker.machine.clock.go_on();
  worker.pulse.repeats.store(false, std::memory_order_relaxed);
  stopped_looks_ = last_new_ = 0;
  prints_.clear();
}

void Watch::begin(Worker& worker, const std::vector<Slot*>& resident, u64 now) {
  since_ns_ = now;
  steps_ = 0;
  counts_ = false;
  end_stop(worker);
  for (const Slot* s : resident) for_each_warp(*s, [](Warp& w) { w.read_clock = false; });
  seen_.resize(worker.machine.workers.size());
  for (size_t k = 0; k < seen_.size(); ++k) {
    const Pulse& p = worker.machine.workers[k]->pulse;
    seen_[k] = {p.passes.load(std::memory_order_relaxed), p.fruits.load(std::memory_order_relaxed)};
  }
}

// Quiet: idle, or making passes without fruit. A worker that makes no passes is busy with long-running code.
bool Watch::others_quiet(Worker& worker, bool& fruits) {
  bool quiet = true;
  fruits = false;
  for (size_t k = 0; k < seen_.size(); ++k) {
    if (k == worker.index) continue;
    const Pulse& p = worker.machine.workers[k]->pulse;
    u64 passes = p.passes.load(std::memory_order_relaxed);
    if (!p.idle.load(std::memory_order_relaxed) && passes == seen_[k].passes) quiet = false;
    seen_[k].passes = passes;
    fruits |= p.fruits.load(std::memory_order_relaxed) != seen_[k].fruits;
  }
  return quiet;
}

// Has the slot waited for longer than anybody waits for something that comes? Stacks that stand and then move are those
// of loops without a counter that end and begin again: somebody answers.
bool waits_for_good(Slot& s, u64 now, double quiet_s, double limit) {
  const bool same = stacks_unchanged(s);
  if (same)
    s.stood = true;
  else
    s.moved_ns = now;
  if (s.stood) return same && quiet_s > limit && double(now - s.moved_ns) * 1e-9 > limit / 2;
  return quiet_s > (s.idle_events ? 100 : 10) * limit;
}

bool Watch::judge(Worker& worker, Slot& s, u64 now) {
  const double limit = worker.machine.options.spin_limit_s, quiet_s = double(now - since_ns_) * 1e-9;
  switch (standing_of(s)) {
    case Standing::Stuck:
      return true;
    case Standing::Polling:
      return quiet_s > std::min(kPollGraceS, limit);
    case Standing::Timed:
      // Nobody but the clock can end the wait: let time run, so that a time limit is soon over.
      if (quiet_s < std::min(kPollGraceS, limit)) return false;
      worker.machine.clock.pass(kTimeStepNs);
      return ++steps_ > kTimeSteps;
    case Standing::Spinning:
      break;
  }
  if (quiet_s < limit / 2) return false;
  return waits_for_good(s, now, quiet_s, limit);
}

// Has no warp shown a stack since the clock was stopped that it had not shown before, for some time?
bool Watch::repeats(const std::vector<Slot*>& resident) {
  ++stopped_looks_;
  for (const Slot* s : resident) {
    for_each_warp(*s, [&](const Warp& w) {
      std::vector<u64>& seen = prints_[&w];
      const u64 now = whole_fingerprint(w);
      if (std::find(seen.begin(), seen.end(), now) == seen.end()) seen.push_back(now), last_new_ = stopped_looks_;
    });
  }
  return stopped_looks_ - last_new_ >= kRepeats;
}

bool Watch::others_repeat(const Worker& worker) const {
  return std::ranges::all_of(worker.machine.workers, [&](const auto& w) {
    return w.get() == &worker || w->pulse.idle.load() || w->pulse.repeats.load();
  });
}

// Does nothing but the clock move what is here, and everything that is on the device?
bool Watch::only_clock(Worker& worker, const std::vector<Slot*>& resident, u64 now) {
  Clock& clock = worker.machine.clock;
  if (!clock.stopped()) {
    if (worker.pulse.repeats.load(std::memory_order_relaxed)) end_stop(worker);
    const double share = worker.machine.options.spin_limit_s / kClockShare;
    if (counts_ || double(now - since_ns_) * 1e-9 < share) return false;
    bool spins_by_clock = false, spins_without = false;
    for (const Slot* s : resident)
      for_each_warp(*s, [&](const Warp& w) { (w.read_clock ? spins_by_clock : spins_without) |= spins(w); });
    if (!spins_by_clock || spins_without) return false;
    if (steps_ % kAskEvery == 0 && can_answer(worker.machine)) return false;
    clock.pass(kTimeStepNs);
    if (++steps_ <= kTimeSteps) return false;
    stopped_ = clock.stop();
    stopped_looks_ = last_new_ = 0;
    prints_.clear();
    return false;
  }
  const bool same = repeats(resident);
  worker.pulse.repeats.store(same);
  if (!stopped_) return false;
  if (same && others_repeat(worker)) return !can_answer(worker.machine);
  if (stopped_looks_ > kStoppedLooks) counts_ = true, end_stop(worker);
  return false;
}

bool Watch::look(Worker& worker, const std::vector<Slot*>& resident) {
  for (Slot* s : resident)
    if (nobody_else_can_help(*s)) return report(worker, *s, resident);
  if (since_ns_ && ++looks_ % kLookEvery) return false;
  u64 now = now_ns();
  bool fruits = false;
  if (since_ns_ == 0) return begin(worker, resident, now), false;
  bool quiet = others_quiet(worker, fruits);
  if (fruits) return begin(worker, resident, now), false;
  if (!quiet) return false;
  if (only_clock(worker, resident, now)) {
    end_stop(worker);
    return report(worker, *resident.front(), resident);
  }
  for (Slot* s : resident)
    if (judge(worker, *s, now)) return report(worker, *s, resident);
  return false;
}

}  // namespace us::device
