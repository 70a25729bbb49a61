// SPDX-License-Identifier: Apache-2.0
// Memory for stream-ordered allocation: freed blocks are kept and given out again, until a synchronisation releases what
// is above the threshold.
#pragma once
#include <atomic>
#include <map>
#include <mutex>

#include "driver/error.h"
#include "memory/heap.h"

namespace us::driver {

class MemPool {
 public:
  // CUmemPool_attribute
  enum Attribute {
    ReuseFollowEvents = 1,
    ReuseOpportunistic,
    ReuseInternal,
    ReleaseThreshold,
    ReservedNow,
    ReservedHigh,
    UsedNow,
    UsedHigh
  };

  enum class Sharing { None, Exportable, Imported };  // Imported: another process's, gives out nothing

  MemPool(memory::Heap& heap, u32 device, u64 max_bytes, Sharing sharing = Sharing::None)
      : heap_(heap), device_(device), max_bytes_(max_bytes), sharing_(sharing) {}
  ~MemPool() { trim(0); }
  MemPool(const MemPool&) = delete;
  MemPool& operator=(const MemPool&) = delete;

  u32 device() const { return device_; }
  Sharing sharing() const { return sharing_; }
  // Devices other than its own that may touch its memory.
  bool reached_by(u32 device) const { return device == device_ || visitors_.load() >> device % kMostDevices & 1; }
  void set_reached_by(u32 device, bool on);
  u64 take(u64 bytes);               // 0: no memory
  void put(u64 address, u64 bytes);  // as it was taken
  void trim(u64 keep);               // bytes that may stay reserved
  void synchronized();               // the moment at which what is above the threshold goes back
  Error get(int attribute, u64& value) const;
  Error set(int attribute, u64 value);  // the high-water marks may only be set to 0

  static u64 rounded(u64 bytes);

 private:
  static constexpr u32 kMostDevices = 64;
  u64 reserved() const { return taken_ + kept_; }
  void release_down_to(u64 keep);

  memory::Heap& heap_;
  const u32 device_;
  const u64 max_bytes_;  // 0: no limit
  const Sharing sharing_;
  std::atomic<u64> visitors_{0};
  mutable std::mutex m_;
  std::multimap<u64, u64> free_;  // size → address
  u64 threshold_ = 0, kept_ = 0;
  u64 taken_ = 0, used_ = 0;  // what is given out: in units of the pool, and as it was asked for
  u64 used_high_ = 0, reserved_high_ = 0;
  u64 reuse_[4] = {1, 1, 1, 1};
};

}  // namespace us::driver
