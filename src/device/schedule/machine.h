// SPDX-License-Identifier: Apache-2.0
// All workers and what they share: the queue of grids, printf's buffer, the device heap.
#pragma once
#include <deque>

#include "device/schedule/busy_clock.h"
#include "device/schedule/worker.h"
#include "device/support/clock.h"
#include "device/support/guest_heap.h"
#include "device/support/print.h"
#include "device/support/spin_lock.h"

namespace us::device {

inline constexpr u64 kClosed = u64(1) << 62;  // Grid::next of a grid that issues no more
inline constexpr u64 kIdleSpinNs = 20'000;    // an idle worker looks for work this long before it sleeps

struct Machine {
  explicit Machine(GpuOptions);
  ~Machine();
  void submit(std::unique_ptr<Launch>);
  u64 busy_ns();  // how long grids have been running

  // Worker side
  std::shared_ptr<Grid> wait_for_work();          // null: stop
  std::shared_ptr<Grid> pick(const Grid* avoid);  // a grid with clusters to issue; another than `avoid` if any
  void end_clusters(const std::shared_ptr<Grid>&, u64 count);  // the last one ends the grid
  void fail(const std::shared_ptr<Grid>&, Fault&&);            // first fault wins; no more clusters are issued

  GpuOptions options;
  PrintBuffer print;
  std::function<void(std::string_view)> print_error;
  GuestHeap heap;
  std::vector<std::unique_ptr<Worker>> workers;
  u32 started = 0;  // of them: the system may have too few threads
  Clock clock;
  std::atomic<u32> epoch{0};  // futex: changes with every submission

 private:
  void finish(const std::shared_ptr<Grid>&);
  void wake(u64 wanted);
  void pass_on(const Grid& taken);
  void spin_while(u32 seen);

  SpinLock queue_lock_;  // guards queue_
  BusyClock busy_;
  std::deque<std::shared_ptr<Grid>> queue_;  // grids with clusters left to issue, in order of submission
  // Ended grids, freed by the thread that submits the next one: it allocates at the moment when a worker would free,
  // and the two would sleep on the allocator's lock.
  std::vector<std::shared_ptr<Grid>> retired_;
  std::atomic<u32> sleeping_{0}, looking_{0};
  std::atomic<bool> stopping_{false};
  std::atomic<int> submitter_cpu_{-1};
};

}  // namespace us::device
