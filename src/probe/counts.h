// SPDX-License-Identifier: Apache-2.0
// What compiled code counts when somebody asked for it: one of these for each site, of each worker, without atomics.
#pragma once
#include "base/types.h"

namespace us::probe {

struct Count {
  u64 warps = 0;    // times a warp executed the instruction: at least one lane was active and its guard true
  u64 lanes = 0;    // ... and for how many lanes
  u64 read = 0;     // bytes, of all lanes; an atomic reads and writes
  u64 written = 0;  // bytes
  Count& operator+=(const Count& o) {
    warps += o.warps, lanes += o.lanes, read += o.read, written += o.written;
    return *this;
  }
  bool operator==(const Count&) const = default;
};
enum class Counter : u8 { Lanes, Read, Written };  // Lanes counts the warp too

}  // namespace us::probe
