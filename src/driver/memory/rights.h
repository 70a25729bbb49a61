// SPDX-License-Identifier: Apache-2.0
// Which memory a device may touch when there are several: its own, what all can reach, and of the others' what peer
// access, the rights of a pool or those of a mapping allow.
#pragma once
#include <mutex>
#include <set>
#include <shared_mutex>
#include <utility>

#include "driver/error.h"

namespace us::driver {

class Runtime;

class Rights {
 public:
  explicit Rights(Runtime& r) : runtime_(r) {}

  Error enable_peer(u32 device, u32 of);   // PeerAccessAlreadyEnabled
  Error disable_peer(u32 device, u32 of);  // PeerAccessNotEnabled
  void forget_peers(u32 device);           // in both directions

  // The end of what a device may read, or write, from an address on; 0: nothing.
  u64 reach(u32 device, u64 address, bool write) const;

 private:
  u64 reach_of_other(u32 device, u32 owner, u64 address) const;

  Runtime& runtime_;
  mutable std::shared_mutex m_;          // guards peers_
  std::set<std::pair<u32, u32>> peers_;  // who, whose memory
};

}  // namespace us::driver
