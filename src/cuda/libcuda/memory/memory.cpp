// SPDX-License-Identifier: Apache-2.0
// Memory Management: allocation and release. Unified Addressing: what an address is.
#include "cuda/libcuda/driver_api.h"
#include "driver/memory/copy.h"
#include "driver/memory/mem_pool.h"

using namespace us::cuda;
using us::memory::Allocation;
using us::memory::Kind;

namespace {

CUresult allocate(CUdeviceptr* out, size_t bytes, Kind kind, unsigned flags) {
  if (!out || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    us::u64 at = 0;
    const Error e = c.allocate(bytes, kind, flags, at);
    if (!us::driver::failed(e)) *out = at;
    return e;
  });
}

CUresult allocate_host(void** out, size_t bytes, unsigned flags) {
  CUdeviceptr at = 0;
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  const CUresult e = allocate(&at, bytes, Kind::Host, flags);
  if (e == CUDA_SUCCESS) *out = reinterpret_cast<void*>(at);
  return e;
}

// f(Context&) → Error, in the current context, else in the one that made the allocation: releasing needs none.
template <class F>
CUresult release(us::u64 address, F&& f) {
  Context* c = nullptr;
  const Error none = driver_context(c);
  if (none == Error::NotInitialized) return result(none);
  if (!c)
    if (const auto a = runtime().registry().find(address)) c = static_cast<Context*>(a->owner);
  return result(c ? f(*c) : none);
}

// f() → Error; what an address is needs no current context.
template <class F>
CUresult ask(F&& f) {
  return initialized() ? result(f()) : CUDA_ERROR_NOT_INITIALIZED;
}

template <class T>
Error put(void* data, T value) {
  *static_cast<T*>(data) = value;
  return Error::Success;
}

CUmemorytype type_of(const Allocation& a) { return a.host() ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE; }

unsigned long long handle_types(const Allocation& a) {
  using us::driver::MemPool;
  const auto* pool = static_cast<const MemPool*>(a.pool);
  const bool exportable = pool && pool->sharing() == MemPool::Sharing::Exportable;
  return exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
}

// Memory of the host that no device was given yet has no address for them.
bool unreached_host_pool(const Allocation& a) {
  return a.host() && a.pool && !static_cast<const us::driver::MemPool*>(a.pool)->reached_by(a.device);
}

Error attribute(const Allocation& a, CUpointer_attribute which, CUdeviceptr p, void* data) {
  switch (which) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return put(data, handle_to<CUcontext>(a.pool ? nullptr : a.owner));
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return put(data, type_of(a));
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      if (unreached_host_pool(a)) return Error::InvalidValue;
      return put(data, p);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (type_of(a) == CU_MEMORYTYPE_DEVICE && a.kind != Kind::Managed) return Error::InvalidValue;
      return put(data, reinterpret_cast<void*>(p));
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
      return put(data, static_cast<int>(a.sync));
    case CU_POINTER_ATTRIBUTE_BUFFER_ID:
      return put(data, static_cast<unsigned long long>(a.id));
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      return put(data, static_cast<int>(a.kind == Kind::Managed));
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      return put(data, static_cast<int>(a.device));
    case CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE:
      return put(data, static_cast<int>(a.kind == Kind::Device));
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
    case CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR:
      return put(data, static_cast<CUdeviceptr>(a.address));
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
    case CU_POINTER_ATTRIBUTE_MAPPING_SIZE:
      return put(data, static_cast<size_t>(a.bytes));
    case CU_POINTER_ATTRIBUTE_MAPPED:
      return put(data, 1);
    case CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES:
      return put(data, handle_types(a));
    case CU_POINTER_ATTRIBUTE_ACCESS_FLAGS:
      return put(data, a.kind == Kind::Mapped ? a.flags : 3u);
    case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
      return put(data, handle_to<CUmemoryPool>(a.pool));
    case CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID:
      return put(data, static_cast<unsigned long long>(a.id));
    default:
      return Error::NotSupported;
  }
}

}  // namespace

US_API CUresult cuMemAlloc(CUdeviceptr* out, size_t bytes) { return allocate(out, bytes, Kind::Device, 0); }

US_API CUresult cuMemAllocManaged(CUdeviceptr* out, size_t bytes, unsigned flags) {
  if (flags != CU_MEM_ATTACH_GLOBAL && flags != CU_MEM_ATTACH_HOST) return CUDA_ERROR_INVALID_VALUE;
  return allocate(out, bytes, Kind::Managed, flags);
}

US_API CUresult cuMemAllocPitch(CUdeviceptr* out, size_t* pitch, size_t width, size_t height, unsigned element) {
  constexpr size_t kAlign = 512;
  if (!pitch || (element != 4 && element != 8 && element != 16)) return CUDA_ERROR_INVALID_VALUE;
  *pitch = (width + kAlign - 1) / kAlign * kAlign;
  if (*pitch < width) return CUDA_ERROR_OUT_OF_MEMORY;
  return allocate(out, us::driver::times(*pitch, height), Kind::Device, 0);
}

US_API CUresult cuMemFree(CUdeviceptr p) {
  return release(p, [&](Context& c) { return c.free(p); });
}

US_API CUresult cuMemAllocHost(void** out, size_t bytes) { return allocate_host(out, bytes, 0); }
US_API CUresult cuMemHostAlloc(void** out, size_t bytes, unsigned flags) {
  return flags > 7 ? CUDA_ERROR_INVALID_VALUE : allocate_host(out, bytes, flags);
}
US_API CUresult cuMemFreeHost(void* p) {
  const auto at = reinterpret_cast<us::u64>(p);
  return release(at, [&](Context& c) { return c.free_host(at); });
}

US_API CUresult cuMemHostRegister(void* p, size_t bytes, unsigned flags);
US_API CUresult cuMemHostRegister(void* p, size_t bytes, unsigned flags) {
  return in_current([&](Context& c) { return c.register_host(reinterpret_cast<us::u64>(p), bytes, flags); });
}
US_API CUresult cuMemHostUnregister(void* p) {
  return in_current([&](Context& c) { return c.unregister_host(reinterpret_cast<us::u64>(p)); });
}

US_API CUresult cuMemHostGetDevicePointer(CUdeviceptr* out, void* p, unsigned flags) {
  if (!out || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context&) {
    const auto a = runtime().registry().find(reinterpret_cast<us::u64>(p));
    if (!a || !a->host()) return Error::InvalidValue;
    *out = reinterpret_cast<CUdeviceptr>(p);
    return Error::Success;
  });
}

US_API CUresult cuMemHostGetFlags(unsigned* out, void* p) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context&) {
    const auto a = runtime().registry().find(reinterpret_cast<us::u64>(p));
    if (!a || a->kind != Kind::Host) return Error::InvalidValue;
    *out = (a->flags & ~us::u32{CU_MEMHOSTALLOC_PORTABLE}) | CU_MEMHOSTALLOC_DEVICEMAP;
    return Error::Success;
  });
}

US_API CUresult cuMemGetInfo(size_t* free, size_t* total) {
  if (!free || !total) return CUDA_ERROR_INVALID_VALUE;
  return in_current([&](Context& c) {
    us::u64 f = 0, t = 0;
    c.device().mem_info(f, t);
    *free = f;
    *total = t;
    return Error::Success;
  });
}

US_API CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr p) {
  return in_current([&](Context&) {
    const auto a = runtime().registry().find(p);
    if (!a) return Error::NotFound;
    if (base) *base = a->address;
    if (bytes) *bytes = a->bytes;
    return Error::Success;
  });
}

US_API CUresult cuMemAllocAsync(CUdeviceptr* out, size_t bytes, CUstream stream) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return in_stream(stream, [&](Context& c, Stream& s) {
    us::u64 at = 0;
    US_TRY(c.allocate_async(bytes, c.device().pool(), s, at));
    *out = at;
    return Error::Success;
  });
}
US_PTSZ(cuMemAllocAsync, (CUdeviceptr * out, size_t bytes, CUstream stream), (out, bytes, stream))

US_API CUresult cuMemFreeAsync(CUdeviceptr p, CUstream stream) {
  return in_stream(stream, [&](Context& c, Stream& s) { return c.free_async(p, s); });
}
US_PTSZ(cuMemFreeAsync, (CUdeviceptr p, CUstream stream), (p, stream))

US_API CUresult cuPointerGetAttribute(void* data, CUpointer_attribute which, CUdeviceptr p) {
  if (!data) return CUDA_ERROR_INVALID_VALUE;
  return ask([&] {
    const auto a = runtime().registry().find(p);
    return a ? attribute(*a, which, p, data) : Error::InvalidValue;
  });
}

// The only one that can be set.
US_API CUresult cuPointerSetAttribute(const void* value, CUpointer_attribute which, CUdeviceptr p) {
  if (!value || which != CU_POINTER_ATTRIBUTE_SYNC_MEMOPS) return CUDA_ERROR_INVALID_VALUE;
  return ask([&] {
    return runtime().registry().set_sync(p, *static_cast<const int*>(value) != 0) ? Error::Success
                                                                                  : Error::InvalidValue;
  });
}

// Unlike the single form: what an address does not have reads as zero.
US_API CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute* which, void** data, CUdeviceptr p) {
  if (!which || !data) return CUDA_ERROR_INVALID_VALUE;
  return ask([&] {
    const auto a = runtime().registry().find(p);
    Allocation none;
    none.device = ~0u - 1;  // CU_DEVICE_INVALID
    for (unsigned i = 0; i < count; ++i) {
      const bool kind_of_memory = which[i] == CU_POINTER_ATTRIBUTE_MEMORY_TYPE;
      const Error e = !a && kind_of_memory ? put(data[i], 0) : attribute(a ? *a : none, which[i], a ? p : 0, data[i]);
      if (e == Error::InvalidValue)
        put(data[i], static_cast<void*>(nullptr));
      else
        US_TRY(e);
    }
    return Error::Success;
  });
}
