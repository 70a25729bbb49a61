// SPDX-License-Identifier: Apache-2.0
// Stream Ordered Memory Allocator: pools.
#include "cuda/devices.h"
#include "cuda/libcudart/runtime_api.h"
#include "cuda/memory/pools.h"
#include "driver/memory/mem_pool.h"

using namespace us::cuda;
using us::driver::MemPool;

namespace {

// f(MemPool&) → Error
template <class F>
cudaError_t with_pool(cudaMemPool_t handle, F&& f) {
  MemPool* p = runtime().pools().find(handle);
  return done(p ? f(*p) : Error::InvalidValue);
}
cudaMemPool_t handle_of(MemPool& p) { return reinterpret_cast<cudaMemPool_t>(&p); }
us::driver::Device& device_at(int d) { return runtime().device(static_cast<us::u32>(d)); }

CUmemLocation driver_location(const cudaMemLocation& l) {
  CUmemLocation d{};
  d.type = static_cast<CUmemLocationType>(l.type);
  d.id = l.id;
  return d;
}

constexpr bool is_64_bit(cudaMemPoolAttr a) { return a >= cudaMemPoolAttrReleaseThreshold; }

}  // namespace

US_API cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* out, int device) {
  if (!out) return done(Error::InvalidValue);
  if (!is_device(device)) return done(Error::InvalidDevice);
  *out = handle_of(device_at(device).default_pool());
  return cudaSuccess;
}

US_API cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* out, int device) {
  if (!out) return done(Error::InvalidValue);
  if (!is_device(device)) return done(Error::InvalidDevice);
  *out = handle_of(device_at(device).pool());
  return cudaSuccess;
}

US_API cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (!is_device(device)) return done(Error::InvalidValue);
  return with_pool(pool, [&](MemPool& p) {
    if (p.device() != static_cast<us::u32>(device) || p.sharing() == MemPool::Sharing::Imported)
      return Error::InvalidValue;
    device_at(device).set_pool(p);
    return Error::Success;
  });
}

US_API cudaError_t cudaMemPoolCreate(cudaMemPool_t* out, const cudaMemPoolProps* props) {
  if (!out || !props) return done(Error::InvalidValue);
  initialize_runtime();
  MemPool* made = nullptr;
  static_assert(sizeof(CUmemPoolProps) == sizeof *props);
  const Error e = create_pool(*reinterpret_cast<const CUmemPoolProps*>(props), made);
  if (us::driver::failed(e)) return done(e == Error::NotSupported ? Error::InvalidValue : e);
  *out = handle_of(*made);
  return cudaSuccess;
}

US_API cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) { return done(runtime().pools().destroy(pool)); }

US_API cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
  return with_pool(pool, [&](MemPool& p) {
    p.trim(keep);
    return Error::Success;
  });
}

US_API cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* out) {
  if (!out) return done(Error::InvalidValue);
  return with_pool(pool, [&](MemPool& p) {
    us::u64 value = 0;
    US_TRY(p.get(attribute, value));
    if (is_64_bit(attribute))
      *static_cast<us::u64*>(out) = value;
    else
      *static_cast<int*>(out) = static_cast<int>(value);
    return Error::Success;
  });
}

US_API cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* in) {
  if (!in) return done(Error::InvalidValue);
  return with_pool(pool, [&](MemPool& p) {
    return p.set(attribute,
                 is_64_bit(attribute) ? *static_cast<us::u64*>(in) : static_cast<us::u64>(*static_cast<int*>(in)));
  });
}

// Access cannot be taken away from the owner.
US_API cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* list, size_t count) {
  if (count && !list) return done(Error::InvalidValue);
  return with_pool(pool, [&](MemPool& p) {
    for (size_t i = 0; i < count; ++i) {
      const cudaMemAccessFlags flags = list[i].flags;
      if (list[i].location.type != cudaMemLocationTypeDevice) return Error::InvalidValue;
      if (!is_device(list[i].location.id)) return Error::InvalidDevice;
      if (flags == cudaMemAccessFlagsProtRead) return Error::NotSupported;
      const bool owner = p.owned_by(static_cast<us::u32>(list[i].location.id));
      if (owner && flags == cudaMemAccessFlagsProtNone) return Error::InvalidDevice;
      if (flags != cudaMemAccessFlagsProtNone && flags != cudaMemAccessFlagsProtReadWrite) return Error::InvalidValue;
    }
    for (size_t i = 0; i < count; ++i)
      p.set_reached_by(static_cast<us::u32>(list[i].location.id), list[i].flags != cudaMemAccessFlagsProtNone);
    return Error::Success;
  });
}

US_API cudaError_t cudaMemPoolGetAccess(cudaMemAccessFlags* out, cudaMemPool_t pool, cudaMemLocation* location) {
  if (!out || !location) return done(Error::InvalidValue);
  return with_pool(pool, [&](MemPool& p) {
    CUmemAccess_flags flags{};
    US_TRY(get_access(p, driver_location(*location), flags));
    *out = static_cast<cudaMemAccessFlags>(flags);
    return Error::Success;
  });
}

US_API cudaError_t cudaMallocFromPoolAsync(void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  if (!out) return done(Error::InvalidValue);
  MemPool* p = runtime().pools().find(pool);
  if (!p) return done(Error::InvalidValue);
  return in_stream(stream, [&](Context& c, Stream& s) {
    us::u64 at = 0;
    const Error e = c.allocate_async(bytes, *p, s, at);
    *out = pointer(at);
    return e;
  });
}
US_PTSZ(cudaMallocFromPoolAsync, (void** out, size_t bytes, cudaMemPool_t pool, cudaStream_t stream),
        (out, bytes, pool, stream))

// The same, by location.
namespace {
// f(Home) → Error
template <class F>
cudaError_t at_home(const cudaMemLocation* l, cudaMemAllocationType type, F&& f) {
  if (!l) return done(Error::InvalidValue);
  MemPool::Home home;
  const CUmemLocation location = driver_location(*l);
  const Error e = pool_home(&location, static_cast<int>(type), home);
  return done(us::driver::failed(e) ? e : f(home));
}
}  // namespace

US_API cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t* out, cudaMemLocation* location, cudaMemAllocationType type) {
  if (!out) return done(Error::InvalidValue);
  return at_home(location, type, [&](MemPool::Home home) {
    *out = handle_of(runtime().pools().original(home));
    return Error::Success;
  });
}
US_API cudaError_t cudaMemGetMemPool(cudaMemPool_t* out, cudaMemLocation* location, cudaMemAllocationType type) {
  if (!out) return done(Error::InvalidValue);
  return at_home(location, type, [&](MemPool::Home home) {
    *out = handle_of(runtime().pools().current(home));
    return Error::Success;
  });
}
US_API cudaError_t cudaMemSetMemPool(cudaMemLocation* location, cudaMemAllocationType type, cudaMemPool_t pool) {
  return at_home(location, type, [&](MemPool::Home home) {
    MemPool* p = runtime().pools().find(pool);
    return p ? runtime().pools().set_current(home, *p) : Error::InvalidValue;
  });
}
