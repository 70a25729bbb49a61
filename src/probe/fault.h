// SPDX-License-Identifier: Apache-2.0
// How a launch ended that did not end well: what the device refused, and whose it was.
#pragma once
#include <string>
#include <vector>

#include "probe/events.h"

namespace us::probe {

enum class Refused : u8 {
  Other,  // nothing that has a name here
  Deadlock,
  Trap,
  StackOverflow,
  Global,  // memory that is not there, or that the device has no right to
  Shared,
  Local,
  Free,         // of what the device's malloc did not return
  Alignment,    // of an access
  CopySize,     // of an asynchronous copy
  CopyAddress,  // its alignment
  MbarrierAddress,
  Barrier,         // its number or its count
  Membermask,      // does not name a lane that executes the instruction
  Warpgroup,       // its warps execute different instructions
  ClusterRank,     // a block that the cluster does not have
  ClusterArrival,  // a second one in one phase
  EndedBlock,      // its shared memory
  MatrixOperand,   // of wgmma: outside of the block's shared memory
};

struct Fault {
  struct Spin {  // a warp that waits for memory which nobody changes any more
    u64 cta = 0;
    u32 warp = 0, site = kNoSite;
  };
  Refused refused = Refused::Other;
  u64 cta = 0;
  u32 warp = 0, lanes = 0, site = kNoSite;  // no lanes: of nobody in particular
  std::vector<Spin> spins;                  // Deadlock
};

}  // namespace us::probe
