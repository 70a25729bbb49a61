// SPDX-License-Identifier: Apache-2.0
// What a multiprocessor holds while CTAs are on it: their warps, and where these meet.
#pragma once
#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include "timing/multiprocessor.h"

namespace us::timing {

struct Warp {
  const TimedWarp* work = nullptr;
  u32 place = 0;  // of its CTA in the SM
  u32 visit = 0, times = 1, pc = 0, end = 0;
  double ready = 0, since = 0, begun = 0;
  Stall why = Stall::Wait, blocked = Stall::NotSelected;
  std::array<double, 6> scoreboards{};
  std::array<Stall, 6> of{};
  std::vector<double> copies, matrices;  // when each group will be complete
  double open_copies = 0, open_bulk = 0, stored = 0;
  std::vector<u32> cursors;
  bool live = false, waits = false;

  void wait_until(double at, Stall reason) {
    if (at > ready) ready = at, why = reason;
  }
  bool wanted_room(const Row& r) const {  // in the queue
    return r.pipe == Pipe::Memory && (blocked == Stall::MioThrottle || blocked == Stall::LgThrottle);
  }
  // The time since it issued last, by what it waited for.
  void tell_stalls(std::array<u64, kStalls>& s, double now) {
    const auto add = [&](Stall reason, double cycles) {
      s[static_cast<u32>(reason)] += static_cast<u64>(std::max(0.0, cycles));
    };
    add(Stall::Selected, 1);
    const double free = std::min(now, std::max(ready, since));
    add(why, free - since - 1);
    add(blocked, now - free);
    blocked = Stall::NotSelected;
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
  std::size_t number = 0;  // of those that the SM gets
};

struct Partition {
  std::vector<u32> warps;  // oldest first
  u32 last = ~0u;
  std::array<double, kPipes> free{};
  double dispatch = 0;        // until then the last instruction is on its way to its pipe
  double banks[2] = {};       // until when registers of each are being read
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
