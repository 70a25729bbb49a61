// SPDX-License-Identifier: Apache-2.0
// Peer Context Memory Access.
#include "cuda/libcuda/driver_api.h"
#include "cuda/memory/peers.h"

using namespace us::cuda;

namespace {

// f(own device, device of `peer`) → Error
template <class F>
CUresult with_peer(CUcontext peer, F&& f) {
  return in_current([&](Context& own) {
    Context* other = runtime().find_context(peer);
    if (!other) return Error::InvalidContext;
    return f(own.device().ordinal(), other->device().ordinal());
  });
}

}  // namespace

US_API CUresult cuDeviceCanAccessPeer(int* out, CUdevice device, CUdevice peer) {
  if (const Error e = check_device(device); failed(e)) return result(e);
  if (const Error e = check_device(peer); failed(e)) return result(e);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = can_be_peers(device, peer);
  return CUDA_SUCCESS;
}

US_API CUresult cuDeviceGetP2PAttribute(int* out, CUdevice_P2PAttribute attribute, CUdevice device, CUdevice peer) {
  if (const Error e = check_device(device); failed(e)) return result(e);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (!can_be_peers(device, peer)) return CUDA_ERROR_INVALID_DEVICE;
  return peer_attribute(attribute, device, peer, *out) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

US_API CUresult cuCtxEnablePeerAccess(CUcontext peer, unsigned flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return with_peer(
      peer, [](us::u32 own, us::u32 other) { return own == other ? Error::InvalidDevice : enable_peer(own, other); });
}

US_API CUresult cuCtxDisablePeerAccess(CUcontext peer) { return with_peer(peer, disable_peer); }
