// SPDX-License-Identifier: Apache-2.0
// Stream Ordered Memory Allocator: pools.
#include "cuda/libcuda/driver_api.h"
#include "cuda/memory/pools.h"
#include "driver/memory/mem_pool.h"

using namespace us::cuda;
using us::driver::MemPool;

namespace {

// f(MemPool&) → Error
template <class F>
CUresult with_pool(CUmemoryPool handle, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  MemPool* p = runtime().pools().find(handle);
  return p ? result(f(*p)) : CUDA_ERROR_INVALID_VALUE;
}

constexpr bool is_64_bit(CUmemPool_attribute a) { return a >= CU_MEMPOOL_ATTR_RELEASE_THRESHOLD; }

// f(Home) → Error
template <class F>
CUresult at_home(const CUmemLocation* location, CUmemAllocationType type, F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  MemPool::Home home;
  const Error e = pool_home(location, static_cast<int>(type), home);
  return result(us::driver::failed(e) ? e : f(home));
}

CUresult set_pool(MemPool::Home home, CUmemoryPool pool) {
  return with_pool(pool, [&](MemPool& p) { return runtime().pools().set_current(home, p); });
}

}  // namespace

US_API CUresult cuDeviceGetDefaultMemPool(CUmemoryPool* out, CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = handle_to<CUmemoryPool>(&device(d).default_pool());
  return CUDA_SUCCESS;
}
US_API CUresult cuDeviceGetMemPool(CUmemoryPool* out, CUdevice d) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  *out = handle_to<CUmemoryPool>(&device(d).pool());
  return CUDA_SUCCESS;
}
US_API CUresult cuDeviceSetMemPool(CUdevice d, CUmemoryPool pool) {
  if (const Error e = check_device(d); us::driver::failed(e)) return result(e);
  return set_pool({.device = static_cast<us::u32>(d)}, pool);
}

US_API CUresult cuMemGetDefaultMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return at_home(location, type, [&](MemPool::Home home) {
    *out = handle_to<CUmemoryPool>(&runtime().pools().original(home));
    return Error::Success;
  });
}
US_API CUresult cuMemGetMemPool(CUmemoryPool* out, CUmemLocation* location, CUmemAllocationType type) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return at_home(location, type, [&](MemPool::Home home) {
    *out = handle_to<CUmemoryPool>(&runtime().pools().current(home));
    return Error::Success;
  });
}
US_API CUresult cuMemSetMemPool(CUmemLocation* location, CUmemAllocationType type, CUmemoryPool pool) {
  return at_home(location, type, [&](MemPool::Home home) {
    MemPool* p = runtime().pools().find(pool);
    return p ? runtime().pools().set_current(home, *p) : Error::InvalidValue;
  });
}

US_API CUresult cuMemPoolCreate(CUmemoryPool* out, const CUmemPoolProps* p) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  if (!out || !p) return CUDA_ERROR_INVALID_VALUE;
  MemPool* made = nullptr;
  if (const Error e = create_pool(*p, made); us::driver::failed(e)) return result(e);
  *out = handle_to<CUmemoryPool>(made);
  return CUDA_SUCCESS;
}
US_API CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return initialized() ? result(runtime().pools().destroy(pool)) : CUDA_ERROR_NOT_INITIALIZED;
}
US_API CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t keep) {
  return with_pool(pool, [&](MemPool& p) {
    p.trim(keep);
    return Error::Success;
  });
}

US_API CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* out) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(pool, [&](MemPool& p) {
    us::u64 value = 0;
    US_TRY(p.get(static_cast<int>(attribute), value));
    if (is_64_bit(attribute))
      *static_cast<us::u64*>(out) = value;
    else
      *static_cast<int*>(out) = static_cast<int>(value);
    return Error::Success;
  });
}
US_API CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void* in) {
  if (!in) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(pool, [&](MemPool& p) {
    const us::u64 value =
        is_64_bit(attribute) ? *static_cast<us::u64*>(in) : static_cast<us::u64>(*static_cast<int*>(in));
    return p.set(static_cast<int>(attribute), value);
  });
}

// Access cannot be taken away from the owner.
US_API CUresult cuMemPoolSetAccess(CUmemoryPool pool, const CUmemAccessDesc* list, size_t count) {
  if (count && !list) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(pool, [&](MemPool& p) {
    for (size_t i = 0; i < count; ++i) {
      if (list[i].location.type != CU_MEM_LOCATION_TYPE_DEVICE || !is_device(list[i].location.id))
        return Error::InvalidValue;
      const bool owner = p.owned_by(static_cast<us::u32>(list[i].location.id));
      if (owner && list[i].flags == CU_MEM_ACCESS_FLAGS_PROT_NONE) return Error::InvalidValue;
    }
    for (size_t i = 0; i < count; ++i)
      p.set_reached_by(static_cast<us::u32>(list[i].location.id), list[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE);
    return Error::Success;
  });
}
US_API CUresult cuMemPoolGetAccess(CUmemAccess_flags* out, CUmemoryPool pool, CUmemLocation* location) {
  if (!out || !location) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(pool, [&](MemPool& p) { return get_access(p, *location, *out); });
}

US_API CUresult cuMemAllocFromPoolAsync(CUdeviceptr* out, size_t bytes, CUmemoryPool pool, CUstream stream) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_pool(pool, [&](MemPool& p) {
    StreamRef s;
    us::u64 at = 0;
    US_TRY(driver_stream(stream, s));
    US_TRY(s.context().allocate_async(bytes, p, *s, at));
    *out = at;
    return Error::Success;
  });
}
US_PTSZ(cuMemAllocFromPoolAsync, (CUdeviceptr * out, size_t bytes, CUmemoryPool pool, CUstream stream),
        (out, bytes, pool, stream))
