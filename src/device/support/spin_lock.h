// SPDX-License-Identifier: Apache-2.0
// For critical sections of a few instructions: a sleeping lock would cost a wake-up of many microseconds per collision.
#pragma once
#include <immintrin.h>
#include <sched.h>

#include <atomic>

namespace us::device {

class SpinLock {
 public:
  void lock() {
    for (int tries = 0; held_.exchange(true, std::memory_order_acquire);)
      while (held_.load(std::memory_order_relaxed)) ++tries % 256 ? _mm_pause() : void(sched_yield());
  }
  void unlock() { held_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool> held_{false};
};

}  // namespace us::device
