// SPDX-License-Identifier: Apache-2.0
// The barrier of a cluster (PTX ISA, barrier.cluster): it counts threads of all its CTAs that have not exited. A thread
// that arrives belongs to the phase until all have come; its lane stays set in Warp::cluster_arrived so long.
#pragma once
#include "device/schedule/resident.h"

namespace us::device {

void clear_cluster_barrier(Slot&);
// Lanes of the warp have exited: the phase may be complete now.
void exited_from_cluster(Warp&);
// "the cluster's barrier: missing block [1,0,0] warps 0, 3"
std::string cluster_barrier_state(const Slot&);

}  // namespace us::device
