// SPDX-License-Identifier: Apache-2.0
// Finds launches that can never end. A worker asks after each pass in which nothing happened.
//
//   all warps of a cluster wait at barriers           nobody else can wake them: reported at once
//   ... some in try_wait (or testing in a loop)       reported when all workers have been quiet for a quarter of a
//                                                     second: such a loop may also watch a flag
//   ... and read the clock between the polls          the same, after an hour of the device's time: it is advanced, so
//                                                     that a loop with a time limit ends
//   warps spin on memory                              reported after GpuOptions::spin_limit_s of quiet, if their stacks
//                                                     have been the same at all looks for half of that time
//   ... and their stacks differ at every look         after ten times as long, in loops with barriers a hundred times
// Quiet: no barrier or mbarrier changed, no warp started or ended, on no worker. Barriers in loops that wait do not
// count.
#pragma once
#include <atomic>
#include <vector>

#include "base/types.h"

namespace us::device {

struct Worker;
struct Slot;
struct Warp;

// What a worker tells the others. Written by its worker only.
struct Pulse {
  std::atomic<u64> passes{0}, fruits{0};
  std::atomic<bool> idle{true};
  static void count(std::atomic<u64>& n) { n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

// Have registers and frames of a suspended warp changed since the last call?
bool stack_moved(Warp&);
// Are registers and frames of the slot's suspended warps as they were at the last call?
bool stacks_unchanged(Slot&);

class Watch {
 public:
  void reset() { since_ns_ = 0; }
  bool look(Worker&, const std::vector<Slot*>& resident);  // true: a launch was ended

 private:
  struct Seen {
    u64 passes = 0, fruits = 0;
  };
  void begin(Worker&, u64 now);
  bool others_quiet(Worker&, bool& fruits);
  bool judge(Worker&, Slot&, u64 now);

  u64 since_ns_ = 0;
  u32 looks_ = 0, steps_ = 0;
  std::vector<Seen> seen_;
};

}  // namespace us::device
