// SPDX-License-Identifier: Apache-2.0
// Setting up resident clusters: memory, contexts, positions.
#pragma once
#include "device/schedule/resident.h"

namespace us::device {

// Prepare a slot for any cluster of `g` (memory, CTAs, warps; no fibres).
void bind(Slot&, Worker&, const std::shared_ptr<Grid>& g);
// Give the slot's CTAs the positions of cluster number `cluster`.
void place(Slot&, u64 cluster);
// Fresh state of a warp before its code starts.
void reset(Warp&, u32 spin_budget);
// The same for a warp that has been reset once and runs a kernel that never blocks: what such a kernel can change.
inline void reset_unblocked(Warp& w, u32 spin_budget) {
  w.live = w.seen_live;
  w.spin = spin_budget;
  w.local_top = 0;
  w.cluster_arrived = 0;
  w.cluster_counted = false;
}
// Lanes of the CTA's warp that hold a thread.
u32 lanes_of_warp(const Grid&, u32 warp);
// The CTA has ended before others of its cluster: who touches its shared memory from now on is told so.
void close_shared(Cta&);
void open_shared(Slot&);
// The CTA in whose closed shared memory the host address lies, or null.
const Cta* closed_cta(const Slot&, const void* address);
void free_memory(Slot&);

}  // namespace us::device
