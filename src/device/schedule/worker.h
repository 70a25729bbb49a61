// SPDX-License-Identifier: Apache-2.0
// A worker thread: takes clusters in index order, runs them, and keeps those that wait. See README.md for the picture.
#pragma once
#include <thread>

#include "device/schedule/resident.h"
#include "device/schedule/watch.h"

namespace us::device {

struct Machine;

// What the signal handler saw; filled by it, read by the scheduler.
struct Crash {
  int signal = 0;
  int code = 0;
  const void* address = nullptr;
  const void* pc = nullptr;
};

struct Worker {
  Worker(Machine& m, u32 index_of_worker) : machine(m), index(index_of_worker) {}
  ~Worker();
  bool start();  // false: the system has no thread for it
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  // Called on fibres. A warp that waits has left Cta::ready before it calls leave().
  void leave(Warp&);                 // run others; returns when the warp is ready and chosen again
  void give_way(Warp&);              // let every other warp run first
  void may_break(Warp&);             // if chance says so, others run first
  void let_look(Warp&);              // who spins sees what others did before this one goes on
  [[noreturn]] void abandon(Warp&);  // the launch has failed: never comes back

  Machine& machine;
  u32 index;
  Warp* current = nullptr;  // the warp whose code runs now; null while the scheduler runs
  Fibre scheduler;          // this thread's own stack
  Fibre loop;               // runs whole CTAs of kernels that never block
  bool crashed = false;
  Crash crash;
  Pulse pulse;
  std::string scratch;  // for text of runtime functions: a fault may leave them at any point

 private:
  static void warp_entry(void*);
  static void loop_entry(void*);
  void main();
  void take_from(const std::shared_ptr<Grid>&);
  void run_loop(const std::shared_ptr<Grid>&, u64 first, u64 count);
  void run_to_end(Grid&, Cta&, u32 spin);
  void loop_body();
  bool admit(const std::shared_ptr<Grid>&);
  void shuffle_residents();
  bool start_next(Slot&);  // the slot takes its grid's next cluster
  void begin(Slot&, u64 cluster);
  void take_turn(Grid&);
  void run_round(Slot&);
  void enter(Fibre&, Slot&, Warp*);
  struct Round {
    bool fruit = false;      // something happened
    bool old_fruit = false;  // ... in a cluster that had been stuck before
    bool spinning = false;
  };
  void pass();
  size_t visit(size_t resident_index, Round&);
  void visit_backwards(Round&);
  bool spins_in_vain();
  void rest();
  bool spinning_moved();
  bool admit_more();
  void fresh_start();
  void forget(size_t resident_index);
  void drop(Slot&);
  void prepare_fibres(Slot&);
  void warp_ended(Warp&);
  void take_crash(Slot&, Warp&);

  std::thread thread_;
  u32 default_mxcsr_ = 0;
  StackPool stacks_{kWarpStackBytes}, loop_stacks_{kLoopStackBytes};
  Slot loop_slot_;
  u64 loop_first_ = 0, loop_count_ = 0;
  std::vector<u64> loop_order_;               // by chance
  std::vector<std::unique_ptr<Slot>> slots_;  // all ever made, apart from loop_slot_
  std::vector<Slot*> resident_, free_;        // resident_: in order of admission
  std::shared_ptr<Grid> home_;                // the grid this worker takes clusters from
  u32 spinning_ = 0;                          // resident clusters with a warp that gave way in its last round
  u32 looks_ = 0;                             // left: see let_look
  u32 fruitless_ = 0;                         // passes in a row that brought nothing
  u64 turns_begun_ = 0;                       // passes of CTAs that share loops
  bool stuck_ = false;                        // the clusters resident for longer wait for others
  Watch watch_;
  u32 burst_ = 1;                     // clusters to admit when all are stuck
  u64 quiet_ns_ = 0, rested_ns_ = 0;  // since when nothing has happened; when it slept last. 0: not yet
  u32 patience_ = 0;  // fruitless passes of spinning warps before another cluster is admitted all the same
};

}  // namespace us::device
