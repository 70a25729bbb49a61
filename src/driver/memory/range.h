// SPDX-License-Identifier: Apache-2.0
// What is known about the memory that one end of a copy or set names.
#pragma once
#include "driver/error.h"

namespace us::driver {

class Context;

enum Access : u32 { kReads = 1, kWrites = 2, kBoth = 3 };

struct MemoryRange {
  bool known = false;      // else pageable memory of the host
  bool device = false;     // device memory that the host cannot touch
  bool inside = true;      // all of it is memory that may be accessed
  bool host_pool = false;  // memory of the host that no direction names "device"
  bool sync = false;       // work on it that does not wait by itself is waited for (CU_POINTER_ATTRIBUTE_SYNC_MEMOPS)
  u64 write_delta = 0;
  bool pageable() const { return !known; }
};

// `device`: whose rights count; -1: those of the context's device.
MemoryRange range_at(const Context&, u64 address, u64 extent, Access, i32 device = -1);
bool may_set(const Context&, u64 address);                // a set is work of the context's device
bool on_device(const Context&, u64 address, u64 extent);  // kernels may read and write all of it

}  // namespace us::driver
