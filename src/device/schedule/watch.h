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
//   ... and read the clock, and nobody outside of     after a sixth of the limit the clock is advanced for an hour, as
//   the device can answer (outside.h)                 above, then stopped: if from then on the stacks only repeat
//                                                     themselves, nothing but the clock moved them
// Quiet: no barrier or mbarrier changed, no warp started or ended, on no worker. Barriers in loops that wait do not
// count.
#pragma once
#include <atomic>
#include <unordered_map>
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
  std::atomic<bool> repeats{false};  // the clock is stopped, and the resident warps only repeat themselves
  static void count(std::atomic<u64>& n) { n.store(n.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

// Have registers and frames of a suspended warp changed since the last call?
bool stack_moved(Warp&);
// Are registers and frames of the slot's suspended warps as they were at the last call?
bool stacks_unchanged(Slot&);

class Watch {
 public:
  void reset(Worker&);
  bool look(Worker&, const std::vector<Slot*>& resident);  // true: a launch was ended

 private:
  struct Seen {
    u64 passes = 0, fruits = 0;
  };
  void begin(Worker&, const std::vector<Slot*>& resident, u64 now);
  bool others_quiet(Worker&, bool& fruits);
  bool judge(Worker&, Slot&, u64 now);
  void end_stop(Worker&);
  bool only_clock(Worker&, const std::vector<Slot*>& resident, u64 now);
  bool repeats(const std::vector<Slot*>& resident);
  bool others_repeat(const Worker&) const;

  u64 since_ns_ = 0;
  u32 looks_ = 0, steps_ = 0;
  std::vector<Seen> seen_;
  bool stopped_ = false;                                      // the clock, by this one
  bool counts_ = false;                                       // something goes on without the clock
  u32 stopped_looks_ = 0, last_new_ = 0;                      // since the clock was stopped
  std::unordered_map<const Warp*, std::vector<u64>> prints_;  // of stacks, since then
};

}  // namespace us::device
