// SPDX-License-Identifier: Apache-2.0
// What all launches of a process share. One lock guards it, and the launches too.
#pragma once
#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>
#include <unordered_set>

#include "sanitizer/aliases.h"
#include "sanitizer/bounds.h"
#include "sanitizer/cells.h"
#include "sanitizer/collector.h"
#include "sanitizer/copied.h"
#include "sanitizer/order.h"
#include "sanitizer/read_marks.h"

namespace us::sanitizer {

struct Options {
  bool strict = false;  // race-volatile is an error: told to who prints
  bool uninitialised_global = true;
};

struct Conflict;
// Every conflict, before findings are made of it: the space, and for shared memory the CTA whose it is.
using ConflictHook = std::function<void(const Conflict&, probe::Space, u64 cta)>;

// Bytes that a launch has read or written.
struct Touched {
  u64 begin = 0, bytes = 0;
  bool write = false;
  u32 site = probe::kNoSite;
  bool fetched = false;  // by a path that has no cells (fetched.h)
  bool waited = true;    // perhaps behind griddepcontrol.wait
};
// Called when a launch has ended, before anybody hears of it.
using TouchedHook = std::function<void(const probe::LaunchInfo&, const std::vector<Touched>&)>;

// Held for a few nanoseconds a million times, or for long and by nobody else.
class Lock {
 public:
  void lock() {
    for (u32 tries = 0; held_.exchange(true, std::memory_order_acquire); tries++) wait(tries);
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  void wait(u32 tries) const {
    if (tries < 64) return std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  std::atomic<bool> held_ = false;
};

struct Process {
  Lock lock;
  Options options;
  Segments segments;  // of global memory
  Shadow global{segments};
  u64 last_cta = ~u64{0};  // whose segment was the last one
  u32 running = 0;         // launches
  u64 launches_begun = 0;
  u64 begun = 0;                              // launches, and times that stores came to where they were not expected
  u32 most_segments = Segments::kCopies / 4;  // at so many a launch that comes behind all others begins to count anew
  bool spent = false;                         // some of a launch was not judged: its segments have no numbers
  std::set<u64> astray;  // launches that stored to what had been taken for only read: those loads were not judged
  Changes changes;
  Allocations allocations{changes};
  Aliases aliases{changes};
  ReadsOfLaunches reads;
  std::unordered_map<u64, UnwrittenCopy> copied;  // words of global memory that hold what nobody wrote
  Collector collector;
  std::map<u64, std::shared_ptr<const probe::LaunchInfo>> launches;
  std::map<u64, Floor> first_segment;  // of launches that have not ended
  std::shared_ptr<const LaunchOrder> order;
  std::map<u64, std::vector<probe::Range>> writing;  // by copies and sets that are not over, by node
  ConflictHook on_conflict;
  std::unordered_set<u64> words;                         // that streams have written, for others to see
  std::function<void(u64, bool by_fence)> on_host_told;  // a kernel does what may tell the host that something is done
  std::function<void(u64)> on_kernel_told;               // a launch sees what the host or a stream may have told it
  TouchedHook on_touched;
  HostStack stack;  // may be empty
};

}  // namespace us::sanitizer
