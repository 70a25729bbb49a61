// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel fit on the modelled device at once.
#pragma once
#include "driver/code/function.h"
#include "driver/device_spec.h"
#include "probe/observer.h"

namespace us::driver {

struct BlockNeeds {
  u32 threads = 0, registers = 0;
  u64 shared = 0;       // static + dynamic
  int carveout = -1;    // percent of the maximum, -1: whatever is best
  bool allowed = true;  // not more dynamic shared memory than the kernel may ask for
};

BlockNeeds needs_of(const Function&, u32 threads, u64 dynamic_shared);  // exact if that can be had: may take a while
BlockNeeds needs_at_hand(const Function&, u32 threads, u64 dynamic_shared);  // of what is known without asking
u32 blocks_per_sm(const DeviceSpec&, const BlockNeeds&);
// May take a while.
probe::Residency residency(const DeviceSpec&, const Function&, u32 threads, u64 dynamic_shared, u32 cluster_blocks);
u32 sms_of_clusters(const DeviceSpec&, u32 blocks);
u32 registers_that_fit(const DeviceSpec&, u32 threads);   // of a thread, where a block of so many must fit on an SM
u32 threads_that_fit(const DeviceSpec&, u32 registers);   // of one block, where a thread takes so many
u64 shared_per_sm(const DeviceSpec&, const BlockNeeds&);  // the split of L1 that the needs lead to, bytes
// The split of a kernel for which nobody wishes one and of which so many blocks fit (by the largest split).
u64 usual_split(const DeviceSpec&, const BlockNeeds&, u32 blocks);
u32 clusters_per_device(const DeviceSpec&, const BlockNeeds&, u32 cluster_blocks);
// A block's share of shared memory when `blocks` blocks are on an SM, as hardware's answer leaves out what the system
// reserves in each. InvalidValue: so many blocks do not fit at all.
Error available_dynamic_shared(const DeviceSpec&, const Function&, u32 blocks, u32 threads, u64& out);
u32 max_potential_cluster(const DeviceSpec&, const Function&);

}  // namespace us::driver
