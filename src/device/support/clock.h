// SPDX-License-Identifier: Apache-2.0
// The device's clock: %clock64, %globaltimer. Most often the host's. A deterministic machine has one of its own, which
// counts what the device does, so that no result depends on how fast the host is:
//
//   a look at the clock              20 ns
//   nanosleep                        its time; the host gets four times that, while it could submit something
//   a pass in which nothing happens  1 us, after a thousand in a row 100 us: then only time can end the wait. But while
//                                    the host could still submit something, next to nothing
//
// The watch stops the clock to see which loops go on without it.
#pragma once
#include <atomic>

#include "device/gpu.h"

namespace us::device {

u64 now_ns();  // steady host clock

class Clock {
 public:
  explicit Clock(bool deterministic);
  u64 read() {
    if (const u64 at = stopped_at_.load(std::memory_order_relaxed)) [[unlikely]]
      return at;
    if (own_) pass(kLookNs);
    return (own_ ? 0 : now_ns()) + ahead_ns_.load(std::memory_order_relaxed);
  }
  u64 read_since_1970() { return epoch_ns_ + read(); }  // never jumps
  void pass(u64 ns) { ahead_ns_.fetch_add(ns, std::memory_order_relaxed); }
  void slept(u64 ns) {
    if (own_ && !stopped()) wait_for_host(ns), pass(ns);
  }
  void work_was_done() { vain_ = 0, seen_ns_ = 0; }
  void nothing_was_done() {
    if (own_) [[unlikely]]
      pass(step());
  }

  bool stop() {  // false: another worker has
    u64 going = 0;
    return stopped_at_.compare_exchange_strong(going, read());
  }
  void go_on() { stopped_at_.store(0); }
  bool stopped() const { return stopped_at_.load(std::memory_order_relaxed) != 0; }

  HostActivity host;

 private:
  static constexpr u64 kLookNs = 20;
  bool closed(u64 now) const;  // the host waits, and nothing is on its way from it
  u64 step();
  void wait_for_host(u64 slept_ns);

  const bool own_;
  u64 epoch_ns_ = 0;
  // By how much it is ahead of the host's clock, if it has not its own: the watch lets time run when a kernel waits for
  // nothing else.
  std::atomic<u64> ahead_ns_{0};
  std::atomic<u64> stopped_at_{0};  // 0: it runs
  u32 vain_ = 0;                    // passes in a row in which nothing happened; of the only worker
  u64 seen_ns_ = 0;                 // the host's clock at the last one
  u64 slept_ns_ = 0;                // the host's clock at the last sleep
  u64 owed_ns_ = 0;                 // what the host has not got for sleeps until then
};

}  // namespace us::device
