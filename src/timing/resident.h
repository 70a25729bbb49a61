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
  // Accesses that wait for the unit of loads and stores: all, and what of each scoreboard is theirs.
  u32 queued = 0;
  std::array<u8, 6> pending{};
  bool stores = false;   // something that may not have left
  bool unknown = false;  // when the next instruction may go is not known before they are done

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
    using Kind = Row::Kind;
    unknown = queued && (r.kind == Kind::Fence || r.kind == Kind::AwaitCopies || r.kind == Kind::CommitBulk);
    for (u32 k = 0; k < 6; ++k)
      if (r.control.wait >> k & 1) wait_until(scoreboards[k], of[k]), unknown = unknown || pending[k];
    if (r.kind == Row::Kind::AwaitCopies && copies.size() > r.number)
      wait_until(copies[copies.size() - 1 - r.number], Stall::LongScoreboard);
    if (r.kind == Row::Kind::AwaitMatrix && matrices.size() > r.number)
      wait_until(matrices[matrices.size() - 1 - r.number], Stall::Gmma);
  }
  void expect(const Row& r) {
    ++queued;
    for (const u8 k : {r.control.write_scoreboard, r.control.read_scoreboard})
      if (k < 6) ++pending[k];
  }
  void done(const Row& r) {
    --queued;
    for (const u8 k : {r.control.write_scoreboard, r.control.read_scoreboard})
      if (k < 6) --pending[k];
  }
  void set(u8 scoreboard, double at, Stall reason) {
    if (at >= scoreboards[scoreboard]) scoreboards[scoreboard] = at, of[scoreboard] = reason;
  }
};

// A sleep ends where a clock comes to the next multiple of its length (oracle/timing/sleeps.txt); it began anywhere.
inline double waking(double now, double length) {
  constexpr double kUnknown = 100;  // of a register
  return length > 0 ? (std::floor(now / length + 0.5) + 0.5) * length : now + kUnknown;
}

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

}  // namespace us::timing
