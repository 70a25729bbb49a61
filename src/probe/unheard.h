// SPDX-License-Identifier: Apache-2.0
// Strategy::Records, in CTAs whose accesses to shared and local memory the listener only counts.
#pragma once
#include "probe/events.h"

namespace us::probe {

// An access of a whole warp whose cost is known. It is that of each of the same kind and size whose lanes lie as far
// apart: compiled code counts these, and records the others.
struct Unheard {
  u64 times = 0;               // that were counted
  u64 code = 0;                // RecordCode::pack(), without addresses; 0: there is none
  u32 distances[kLanes] = {};  // of shared memory: bytes from lane 0; the low half
};

}  // namespace us::probe
