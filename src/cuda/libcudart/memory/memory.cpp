// SPDX-License-Identifier: Apache-2.0
// Memory Management: allocation, release, what an address is.
#include "cuda/libcudart/runtime_api.h"
#include "driver/memory/copy.h"
#include "driver/memory/mem_pool.h"

using namespace us::cuda;
using us::memory::Kind;

namespace {

constexpr us::u64 kPitchAlign = 512;

cudaError_t allocate(void** out, size_t bytes, Kind kind, unsigned flags) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    us::u64 at = 0;
    const Error e = c.allocate(bytes, kind, flags, at);
    *out = us::driver::failed(e) ? nullptr : pointer(at);
    return e;
  });
}

cudaError_t allocate_pitched(void** out, size_t* pitch, size_t width, size_t rows) {
  if (!out || !pitch) return done(Error::InvalidValue);
  *pitch = (width + kPitchAlign - 1) / kPitchAlign * kPitchAlign;
  if (*pitch < width || (rows && *pitch > ~size_t{0} / rows)) return done(Error::OutOfMemory);
  return allocate(out, *pitch * rows, Kind::Device, 0);
}

cudaMemoryType type_of(Kind k) {
  switch (k) {
    case Kind::Host:
    case Kind::HostRegistered:
    case Kind::ImportedHost:
      return cudaMemoryTypeHost;
    case Kind::Managed:
      return cudaMemoryTypeManaged;
    default:
      return cudaMemoryTypeDevice;
  }
}

}  // namespace

US_API cudaError_t cudaMalloc(void** out, size_t bytes) { return allocate(out, bytes, Kind::Device, 0); }

US_API cudaError_t cudaMallocManaged(void** out, size_t bytes, unsigned flags) {
  if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return done(Error::InvalidValue);
  return allocate(out, bytes, Kind::Managed, flags);
}

US_API cudaError_t cudaMallocHost(void** out, size_t bytes) { return allocate(out, bytes, Kind::Host, 0); }

US_API cudaError_t cudaHostAlloc(void** out, size_t bytes, unsigned flags) {
  if (flags > 7) return done(Error::InvalidValue);
  return allocate(out, bytes, Kind::Host, flags);
}

US_API cudaError_t cudaMallocPitch(void** out, size_t* pitch, size_t width, size_t height) {
  return allocate_pitched(out, pitch, width, height);
}

US_API cudaError_t cudaMalloc3D(cudaPitchedPtr* out, cudaExtent extent) {
  if (!out) return done(Error::InvalidValue);
  out->xsize = extent.width;
  out->ysize = extent.height;
  return allocate_pitched(&out->ptr, &out->pitch, extent.width, us::driver::times(extent.height, extent.depth));
}

US_API cudaError_t cudaFree(void* p) {
  return in_context([&](Context& c) { return c.free(address(p)); });
}

US_API cudaError_t cudaFreeHost(void* p) {
  return in_context([&](Context& c) { return c.free_host(address(p)); });
}

US_API cudaError_t cudaHostRegister(void* p, size_t bytes, unsigned flags) {
  return in_context([&](Context& c) { return c.register_host(address(p), bytes, flags); });
}

US_API cudaError_t cudaHostUnregister(void* p) {
  return in_context([&](Context& c) { return c.unregister_host(address(p)); });
}

US_API cudaError_t cudaHostGetDevicePointer(void** out, void* host, unsigned flags) {
  if (!out || flags != 0) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    const auto a = c.runtime().registry().find(address(host));
    if (!a || !a->host()) return Error::InvalidValue;
    *out = host;
    return Error::Success;
  });
}

US_API cudaError_t cudaHostGetFlags(unsigned* flags, void* host) {
  if (!flags) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    const auto a = c.runtime().registry().find(address(host));
    if (!a || !a->host()) return Error::InvalidValue;
    *flags =
        (a->flags & ~us::u32{cudaHostAllocPortable}) | cudaHostAllocMapped;  // with unified addresses both always hold
    return Error::Success;
  });
}

US_API cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  if (!free || !total) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    US_TRY(c.sticky());
    us::u64 f = 0, t = 0;
    c.device().mem_info(f, t);
    *free = f;
    *total = t;
    return Error::Success;
  });
}

US_API cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* out, const void* p) {
  if (!out) return done(Error::InvalidValue);
  return in_context([&](Context& c) {
    const auto a = c.runtime().registry().find(address(p));
    *out = {};
    if (!a) {
      out->type = cudaMemoryTypeUnregistered;
      out->device = cudaInvalidDeviceId;
      out->hostPointer = const_cast<void*>(p);
      return Error::Success;
    }
    out->type = type_of(a->kind);
    out->device = static_cast<int>(a->device);
    // memory of a host's pool has no address for a device that was not given it
    const auto* pool = static_cast<const us::driver::MemPool*>(a->pool);
    const bool there = out->type != cudaMemoryTypeHost || !pool || pool->reached_by(a->device);
    out->devicePointer = there ? const_cast<void*>(p) : nullptr;
    out->hostPointer = out->type == cudaMemoryTypeDevice ? nullptr : const_cast<void*>(p);
    return Error::Success;
  });
}

US_API cudaError_t cudaMallocAsync(void** out, size_t bytes, cudaStream_t stream) {
  if (!out) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    us::u64 at = 0;
    const Error e = c.allocate_async(bytes, c.device().pool(), s, at);
    *out = pointer(at);
    return e;
  });
}
US_PTSZ(cudaMallocAsync, (void** out, size_t bytes, cudaStream_t stream), (out, bytes, stream))

US_API cudaError_t cudaFreeAsync(void* p, cudaStream_t stream) {
  return in_stream(stream, [&](Context& c, Stream& s) { return c.free_async(address(p), s); });
}
US_PTSZ(cudaFreeAsync, (void* p, cudaStream_t stream), (p, stream))
