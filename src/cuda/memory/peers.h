// SPDX-License-Identifier: Apache-2.0
// Peer access between the virtual devices. All of them live in one address space, so any two can be peers.
#pragma once
#include "driver/error.h"

namespace us::cuda {

bool can_be_peers(int device, int peer);           // both must be devices; none is a peer of itself
driver::Error enable_peer(u32 device, u32 peer);   // PeerAccessAlreadyEnabled
driver::Error disable_peer(u32 device, u32 peer);  // PeerAccessNotEnabled
void forget_peers(u32 device);                     // cudaDeviceReset

// What cudaDeviceGetP2PAttribute answers; false: no such attribute.
bool peer_attribute(int attribute, int device, int peer, int& out);

}  // namespace us::cuda
