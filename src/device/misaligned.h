// SPDX-License-Identifier: Apache-2.0
// What compiled code tells about accesses that may be misaligned. One call covers all accesses of a block that were tested
// together; which of them is at fault is found here, off the hot path.
//
//   args[0]      address of a table of words: count, then one MisalignedAccess each, then texts and offsets
//   args[1 + k]  the base of access k
#pragma once
#include "base/types.h"

namespace us::device {

struct MisalignedAccess {
  enum Where : u64 {
    AtBase,   // all lanes at base + offset
    Unknown,  // the address is not told: base has its low bits
    Rows,     // base points to 32 addresses, offset to be added
  };          // greater: byte offset in the table of 32 offsets from base
  u64 offset = 0, bytes = 0;
  u64 text = 0;  // byte offset in the table of the source line; 0: that of the call
  u64 where = AtBase;
};

}  // namespace us::device
