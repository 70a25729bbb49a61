// SPDX-License-Identifier: Apache-2.0
// Peer Device Memory Access, and the peer questions of Device Management.
#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"
#include "cuda/memory/peers.h"

using namespace us::cuda;

US_API cudaError_t cudaDeviceCanAccessPeer(int* out, int device, int peer) {
  if (!out) return done(Error::InvalidValue);
  if (!is_device(device) || !is_device(peer)) return done(Error::InvalidDevice);
  *out = can_be_peers(device, peer);
  return cudaSuccess;
}

US_API cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    const us::u32 own = c.device().ordinal();
    if (static_cast<int>(own) == peer) return Error::PeerAccessUnsupported;
    if (!can_be_peers(static_cast<int>(own), peer)) return Error::InvalidDevice;
    return enable_peer(own, static_cast<us::u32>(peer));
  });
}

US_API cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return in_context([&](Context& c) {
    if (!is_device(peer)) return Error::InvalidDevice;
    return disable_peer(c.device().ordinal(), static_cast<us::u32>(peer));
  });
}

US_API cudaError_t cudaDeviceGetP2PAttribute(int* out, cudaDeviceP2PAttr attribute, int device, int peer) {
  if (!out) return done(Error::InvalidValue);
  if (!can_be_peers(device, peer)) return done(Error::InvalidDevice);
  return done(peer_attribute(attribute, device, peer, *out) ? Error::Success : Error::InvalidValue);
}
