// SPDX-License-Identifier: Apache-2.0
// Device Management: what has to do with the context.
#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"
#include "cuda/memory/peers.h"

using namespace us::cuda;

US_API cudaError_t cudaSetDevice(int device) {
  initialize_runtime();
  if (!is_device(device)) return done(Error::InvalidDevice);
  thread_state().device = static_cast<us::u32>(device);
  make_current(&runtime().device(static_cast<us::u32>(device)).primary_for_runtime());
  return cudaSuccess;
}

US_API cudaError_t cudaGetDevice(int* out) {
  initialize_runtime();
  if (!out) return done(Error::InvalidValue);
  const ThreadState& t = thread_state();
  const bool current = !t.stack.empty() && alive(t.stack.back());
  *out = static_cast<int>(current ? t.stack.back().context->device().ordinal() : t.device);
  return cudaSuccess;
}

US_API cudaError_t cudaDeviceSynchronize() {
  return in_context([](Context& c) { return c.synchronize(); });
}

// Everything of the device is gone, errors included; the next call makes a new context.
US_API cudaError_t cudaDeviceReset() {
  ThreadState& t = thread_state();
  const us::u32 device =
      !t.stack.empty() && alive(t.stack.back()) ? t.stack.back().context->device().ordinal() : t.device;
  runtime().device(device).reset_primary();
  forget_peers(device);
  t.device = device;
  return cudaSuccess;
}

US_API cudaError_t cudaSetDeviceFlags(unsigned flags) {
  const unsigned waiting = flags & cudaDeviceScheduleMask;  // one way at most
  if ((flags & ~0x3fu) || (waiting & (waiting - 1))) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    c.flags = flags;
    return Error::Success;
  });
}

US_API cudaError_t cudaGetDeviceFlags(unsigned* out) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    *out = c.flags | cudaDeviceMapHost;
    return Error::Success;
  });
}

US_API cudaError_t cudaDeviceGetLimit(size_t* out, cudaLimit limit) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    us::u64 value = 0;
    US_TRY(c.sticky());
    US_TRY(c.get_limit(limit, value));
    *out = value;
    return Error::Success;
  });
}

US_API cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  return in_context([&](Context& c) {
    US_TRY(c.sticky());
    return c.set_limit(limit, value);
  });
}

// Preferences of hardware that has them; ours has one unified cache, and the bank width is fixed.
US_API cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* out) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    *out = static_cast<cudaFuncCache>(c.cache_config.load());
    return Error::Success;
  });
}

US_API cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    c.cache_config = config;
    return Error::Success;
  });
}

US_API cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* out) {
  if (!out) return done(Error::InvalidValue);
  *out = cudaSharedMemBankSizeFourByte;
  return cudaSuccess;
}

US_API cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig) { return cudaSuccess; }
