// SPDX-License-Identifier: Apache-2.0
#include "cuda/memory/peers.h"

#include <cuda.h>

#include "cuda/devices.h"
#include "cuda/state.h"
#include "driver/memory/rights.h"

namespace us::cuda {
bool can_be_peers(int device, int peer) { return device != peer && is_device(device) && is_device(peer); }

driver::Error enable_peer(u32 device, u32 peer) { return runtime().rights().enable_peer(device, peer); }
driver::Error disable_peer(u32 device, u32 peer) { return runtime().rights().disable_peer(device, peer); }
void forget_peers(u32 device) { runtime().rights().forget_peers(device); }

bool peer_attribute(int attribute, int device, int peer, int& out) {
  const bool reachable = can_be_peers(device, peer);
  switch (attribute) {
    case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      out = 0;
      return true;  // all links are alike
    case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
    case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      out = reachable;
      return true;
    case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
      out = 0;
      return true;
    default:
      return false;
  }
}

}  // namespace us::cuda
