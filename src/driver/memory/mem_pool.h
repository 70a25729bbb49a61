// SPDX-License-Identifier: Apache-2.0
// Memory for stream-ordered allocation: freed blocks are kept and given out again, until a synchronisation releases
// what is above the threshold.
#pragma once
#include <atomic>
#include <map>
#include <mutex>

#include "driver/error.h"
#include "memory/heap.h"
#include "memory/registry.h"

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

  // Which pool of which process an imported one is.
  struct Origin {
    u64 process = 0, pool = 0;
    bool operator==(const Origin&) const = default;
  };
  enum class Sharing { None, Exportable, Imported };  // Imported: another process's, gives out nothing

  // Where its memory is: on the device, in the host's memory, or in either (managed). `place` tells the homes of one
  // kind apart, as CUDA numbers them: the type of a location and its number.
  struct Home {
    enum class Kind : u8 { Device, Host, Managed } kind = Kind::Device;
    u32 device = 0;  // whose heap managed memory is taken from; 0 for the host's
    u64 place = 0;
    bool operator==(const Home&) const = default;
  };

  MemPool(memory::Heap& heap, Home home, u64 max_bytes, Sharing sharing = Sharing::None)
      : heap_(heap), home_(home), max_bytes_(max_bytes), sharing_(sharing) {}
  ~MemPool() { trim(0); }
  MemPool(const MemPool&) = delete;
  MemPool& operator=(const MemPool&) = delete;

  u32 device() const { return home_.device; }
  const Home& home() const { return home_; }
  memory::Kind memory_kind() const;
  Sharing sharing() const { return sharing_; }
  const Origin& origin() const { return origin_; }
  void set_origin(const Origin& o) { origin_ = o; }  // before the program knows the pool
  // Devices that were given its memory, and the one that has it.
  bool reached_by(u32 device) const { return owned_by(device) || visitors_.load() >> device % kMostDevices & 1; }
  bool owned_by(u32 device) const { return home_.kind == Home::Kind::Device && device == home_.device; }
  void set_reached_by(u32 device, bool on);
  u64 take(u64 bytes);                                // 0: no memory
  bool share(u64 address, memory::SharedPages& out);  // Heap::share, of what was taken
  void put(u64 address, u64 bytes);                   // as it was taken
  void trim(u64 keep);                                // bytes that may stay reserved
  void synchronized();                                // the moment at which what is above the threshold goes back
  Error get(int attribute, u64& value) const;
  Error set(int attribute, u64 value);  // the high-water marks may only be set to 0

  static u64 rounded(u64 bytes);

 private:
  static constexpr u32 kMostDevices = 64;
  u64 reserved() const { return taken_ + kept_; }
  void release_down_to(u64 keep);
  u64 from_home(u64 bytes);
  u64 from_file(u64 bytes);
  void to_home(u64 address, u64 bytes);

  memory::Heap& heap_;
  const Home home_;
  const u64 max_bytes_;  // 0: no limit
  const Sharing sharing_;
  Origin origin_;
  std::atomic<u64> visitors_{0};
  mutable std::mutex m_;          // guards the members below
  std::multimap<u64, u64> free_;  // size → address
  u64 threshold_ = 0, kept_ = 0;
  u64 taken_ = 0, used_ = 0;  // what is given out: in units of the pool, and as it was asked for
  u64 used_high_ = 0, reserved_high_ = 0;
  u64 reuse_[4] = {1, 1, 1, 1};
  // Of an exportable pool in the host's memory: files from the start, by address.
  std::map<u64, memory::SharedPages> files_;
};

}  // namespace us::driver
