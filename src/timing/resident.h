// SPDX-License-Identifier: Apache-2.0
// What a multiprocessor holds while CTAs are on it: their warps, and where these meet.
#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <vector>

#include "timing/multiprocessor.h"
#include "timing/swapped_words.h"

namespace us::timing {

struct Warp {
  const TimedWarp* work = nullptr;
  u32 place = 0;  // of its CTA in the SM
  u32 visit = 0, times = 1, pc = 0, end = 0;
  double ready = 0, since = 0, begun = 0;
  Stall blocked = Stall::NotSelected;
  struct Held {
    double until = 0;
    Stall why = Stall::Wait;
  };
  std::array<Held, 6> held{};  // since it issued last, one after the other; up to `ready`
  u32 holds = 0;
  std::array<double, 6> scoreboards{};
  std::array<Stall, 6> of{};
  std::vector<double> copies, matrices;  // when each group will be complete
  double open_copies = 0, open_bulk = 0, stored = 0;
  std::vector<u32> cursors;
  u32 left = 0;       // of lanes in a loop around a swap, those that have not done it
  double looked = 0;  // .. when they read their words
  bool live = false, waits = false;

  void wait_until(double at, Stall reason) {
    if (at <= ready) return;
    ready = at;
    if (holds < held.size() && (!holds || held[holds - 1].why != reason)) ++holds;
    held[holds - 1] = {at, reason};
  }
  void issued(double now, u32 stall) {
    since = ready = now, holds = 0;
    wait_until(now + stall, Stall::Wait);
  }
  void jumped(double resolved, double there) {
    wait_until(resolved, Stall::BranchResolving), wait_until(there, Stall::NoInstruction);
  }
  bool wanted_room(const Row& r) const {  // in the queue
    return r.pipe == Pipe::Memory && (blocked == Stall::MioThrottle || blocked == Stall::LgThrottle);
  }
  // What the control word of the next instruction waits for.
  void heed(const Row& r) {
    for (u32 k = 0; k < 6; ++k)
      if (r.control.wait >> k & 1) wait_until(scoreboards[k], of[k]);
    if (r.kind == Row::Kind::AwaitCopies && copies.size() > r.number)
      wait_until(copies[copies.size() - 1 - r.number], Stall::LongScoreboard);
    if (r.kind == Row::Kind::AwaitMatrix && matrices.size() > r.number)
      wait_until(matrices[matrices.size() - 1 - r.number], Stall::Gmma);
  }
  void set(u8 scoreboard, double at, Stall reason) {
    if (at >= scoreboards[scoreboard]) scoreboards[scoreboard] = at, of[scoreboard] = reason;
  }
};

struct Done {  // of an instruction: when what is there
  double result = 0, sources = 0;
  Stall why = Stall::ShortScoreboard;
  double hold = 0;  // the warp goes on then
  Stall hold_why = Stall::Wait;
};

struct Phases {  // an mbarrier
  i64 expected = 0, pending = 0, bytes = 0;
  u64 phase = 0;
  double last = 0, complete = 0;  // of what came in this phase; when the one before was complete
  std::vector<u32> waiting;
  bool came(double at) {  // and a phase is complete with it
    last = std::max(last, at);
    if (pending > 0 || bytes != 0 || expected == 0) return false;
    ++phase;
    complete = last, last = 0, pending = expected;
    return true;
  }
};

struct Meeting {  // at a barrier of a CTA
  u32 arrived = 0;
  double last = 0, release = 0;  // cycles from the last arrival
  std::vector<u32> waiting;
};

inline constexpr u32 kOfCluster = ~0u;  // the number of its barrier

struct Place {  // of a CTA
  u32 live = 0, rank = 0;
  std::map<u32, Meeting> meetings;
  std::map<u64, Phases> mbarriers;
  SwappedWords swapped;
  std::size_t number = 0;  // of those that the SM gets
};

// When nothing could be issued to a pipe, whoever was ready; the latest of it.
class Closings {
 public:
  void add(double begin, double end) {
    if (end <= begin) return;
    if (count_ && begin <= at(count_ - 1).second)
      at(count_ - 1).second = std::max(at(count_ - 1).second, end);
    else
      at(count_++) = {begin, end};
  }
  // Cycles of it between two points in time; of those that are too far back, as many as of the others.
  double within(double from, double to) const {
    double sum = 0, first = to;
    for (u64 k = count_; k && k + kKept > count_ && first > from; --k) {
      const auto& [begin, end] = spans_[(k - 1) % kKept];
      if (end <= from) return sum;
      sum += std::max(0.0, std::min(end, to) - std::max(begin, from)), first = std::min(first, begin);
    }
    return count_ > kKept && first > from && first < to ? sum * (to - from) / (to - first) : sum;
  }

 private:
  static constexpr u64 kKept = 32;
  std::pair<double, double>& at(u64 k) { return spans_[k % kKept]; }
  std::array<std::pair<double, double>, kKept> spans_{};
  u64 count_ = 0;
};

struct Partition {
  std::vector<u32> warps;  // oldest first
  u32 last = ~0u;
  std::array<double, kPipes> free{};
  double dispatch = 0;   // until then the last instruction is on its way to its pipe
  double banks[2] = {};  // until when registers of each are being read
  std::array<Closings, kPipes> closed;
  Closings undispatched;
  std::vector<double> queue;  // when each place is free
  u32 head = 0;

  // Operands of an instruction are there some cycles after it was issued: reads of others may still be under way.
  static constexpr double kReadCycles = 3;
  double can_read(const Row& r) const {
    double at = 0;
    for (u32 b = 0; b < 2; ++b)
      if (r.reads[b]) at = std::max(at, banks[b] + r.reads[b] - std::max<double>(kReadCycles, r.reads[b]));
    return at;
  }
  void read(const Row& r, double now) {
    for (u32 b = 0; b < 2; ++b)
      if (r.reads[b]) banks[b] = std::max(banks[b], now) + r.reads[b];
  }
  // What the instruction that was issued now keeps others from.
  void close(const Row& r, double now) {
    undispatched.add(now + 1, std::max({dispatch, banks[0] - kReadCycles + 1, banks[1] - kReadCycles + 1}));
    if (r.pipe == Pipe::None) return;
    const auto until = [&](Pipe p) { return free[static_cast<u32>(p)]; };
    double end = until(r.pipe);
    if (r.pipe == Pipe::Fma || r.pipe == Pipe::FmaHeavy) {
      closed[static_cast<u32>(Pipe::FmaHeavy)].add(now + 1, until(Pipe::FmaHeavy));
      end = std::min(until(Pipe::Fma), until(Pipe::FmaHeavy));
      closed[static_cast<u32>(Pipe::Fma)].add(now + 1, end);
      return;
    }
    if (r.pipe == Pipe::Memory) end = std::max(end, queue[head]);
    closed[static_cast<u32>(r.pipe)].add(now + 1, end);
  }
  // The time since the warp issued last, by what it waited for: at last for its turn, while its pipe was open.
  void tell_stalls(std::array<u64, kStalls>& s, Warp& w, const Row& r, double now) const {
    const auto add = [&](Stall reason, double cycles) {
      s[static_cast<u32>(reason)] += static_cast<u64>(std::max(0.0, std::round(cycles)));
    };
    w.blocked = Stall::NotSelected;
    add(Stall::Selected, 1);
    const double ready = std::min(now, std::max(w.ready, w.since));
    double from = w.since + 1;
    for (u32 k = 0; k < w.holds; ++k) {
      const double until = std::min(w.held[k].until, ready);
      add(w.held[k].why, until - from), from = std::max(from, until);
    }
    if (ready >= now) return;
    const double pipe = r.pipe == Pipe::None ? 0 : closed[static_cast<u32>(r.pipe)].within(ready, now);
    const double dispatched = std::min(now - ready - pipe, undispatched.within(ready, now));
    add(throttle(r), pipe);
    add(Stall::Dispatch, dispatched);
    add(Stall::NotSelected, now - ready - pipe - dispatched);
  }
  static Stall throttle(const Row& r) {
    if (r.pipe != Pipe::Memory) return Stall::MathPipeThrottle;
    return r.kind == Row::Kind::Load || r.kind == Row::Kind::Store ? Stall::LgThrottle : Stall::MioThrottle;
  }
  void take(double until) {  // a place
    queue[head] = until;
    head = (head + 1) % queue.size();
  }
  void take_later(double until) {  // the place that was taken last, at least as long
    double& last = queue[(head + queue.size() - 1) % queue.size()];
    last = std::max(last, until);
  }
};

}  // namespace us::timing
