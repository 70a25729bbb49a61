// SPDX-License-Identifier: Apache-2.0
// What compiled code tells about accesses that a device refuses: misaligned ones, and those outside of what the thread
// may touch. One call covers all accesses of a block that were tested together; which of them is at fault is found
// here, off the hot path.
//
//   args[0]      address of a table of words: count, then one BadAccess each, then texts and offsets
//   args[1 + k]  the base of access k
#pragma once
#include "device/abi/abi.h"

namespace us::device {

struct BadAccess {
  enum Where : u64 {
    AtBase,  // all lanes at base + offset
    Rows,    // base points to 32 addresses, offset to be added
  };         // greater: byte offset in the table of 32 offsets from base
  enum Rule : u64 {
    Misaligned,  // a multiple of `bytes`
    Global,      // in the global part of the address space
    Shared,      // an offset in the cluster's window, inside what a block has
    Local,       // an offset in the lane's local memory
    Param,       // in the kernel's parameters
  };
  u64 offset = 0, bytes = 0;
  u64 text = 0;  // byte offset in the table of the source line; 0: that of the call
  u64 where = AtBase;
  u64 rule = Misaligned;
};
// Does a lane of the warp break the rule with an access there? For the interpreter, which tests each access.
bool refused(const WarpCtx&, u64 rule, u64 address, u64 bytes);

}  // namespace us::device
