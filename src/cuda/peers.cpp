// SPDX-License-Identifier: Apache-2.0
#include "cuda/peers.h"

#include <cuda.h>

#include <mutex>
#include <set>

#include "cuda/devices.h"

namespace us::cuda {
namespace {

struct Peers {
  std::mutex m;
  std::set<std::pair<u32, u32>> enabled;  // (who, whose memory)
};
Peers& peers() {
  static Peers* const p = new Peers;
  return *p;
}

}  // namespace

bool can_be_peers(int device, int peer) { return device != peer && is_device(device) && is_device(peer); }

driver::Error enable_peer(u32 device, u32 peer) {
  const std::lock_guard lock(peers().m);
  return peers().enabled.insert({device, peer}).second ? driver::Error::Success
                                                       : driver::Error::PeerAccessAlreadyEnabled;
}

driver::Error disable_peer(u32 device, u32 peer) {
  const std::lock_guard lock(peers().m);
  return peers().enabled.erase({device, peer}) ? driver::Error::Success : driver::Error::PeerAccessNotEnabled;
}

void forget_peers(u32 device) {
  const std::lock_guard lock(peers().m);
  std::erase_if(peers().enabled, [&](const auto& pair) { return pair.first == device || pair.second == device; });
}

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
