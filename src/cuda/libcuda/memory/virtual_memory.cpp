// SPDX-License-Identifier: Apache-2.0
// Virtual Memory Management.
#include "driver/memory/virtual_memory.h"
#include "cuda/libcuda/driver_api.h"

using namespace us::cuda;
using us::driver::PhysicalDesc;
using us::driver::VirtualMemory;

namespace {

// f(VirtualMemory&) → Error
template <class F>
CUresult with_memory(F&& f) {
  if (!initialized()) return CUDA_ERROR_NOT_INITIALIZED;
  return result(f(runtime().virtual_memory()));
}

Error check_location(const CUmemLocation& l) {
  switch (l.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      return is_device(l.id) ? Error::Success : Error::InvalidDevice;
    case CU_MEM_LOCATION_TYPE_HOST:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      return Error::Success;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
      return l.id >= 0 ? Error::Success : Error::InvalidValue;
    default:
      return Error::InvalidValue;
  }
}

// What an H200 grants: compressible memory of a device that knows it.
us::u8 grants_compression(const CUmemAllocationProp& p) {
  using us::driver::Attribute;
  if (p.allocFlags.compressionType != CU_MEM_ALLOCATION_COMP_GENERIC || p.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return 0;
  const auto device = static_cast<us::u32>(p.location.id);
  return us::cuda::attribute_of(device, Attribute::GENERIC_COMPRESSION_SUPPORTED) ? CU_MEM_ALLOCATION_COMP_GENERIC : 0;
}

Error desc_of(const CUmemAllocationProp& p, PhysicalDesc& out) {
  constexpr unsigned kWindows = CU_MEM_HANDLE_TYPE_WIN32 | CU_MEM_HANDLE_TYPE_WIN32_KMT;
  if (p.type != CU_MEM_ALLOCATION_TYPE_PINNED) return Error::InvalidValue;
  if (p.allocFlags.compressionType > CU_MEM_ALLOCATION_COMP_GENERIC) return Error::InvalidValue;
  if (p.requestedHandleTypes & kWindows) return Error::InvalidValue;
  US_TRY(check_location(p.location));
  out = {.location = p.location.type,
         .id = p.location.id,
         .handle_types = static_cast<us::u32>(p.requestedHandleTypes),
         .usage = p.allocFlags.usage,
         .compression = grants_compression(p),
         .rdma = p.allocFlags.gpuDirectRDMACapable};
  return Error::Success;
}

bool is_access(CUmemAccess_flags f) {
  return f == CU_MEM_ACCESS_FLAGS_PROT_NONE || f == CU_MEM_ACCESS_FLAGS_PROT_READ ||
         f == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

}  // namespace

US_API CUresult cuMemAddressReserve(CUdeviceptr* out, size_t bytes, size_t align, CUdeviceptr hint,
                                    unsigned long long flags) {
  if (!out || flags) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) {
    us::u64 at = 0;
    US_TRY(v.reserve(bytes, align, hint, at));
    *out = at;
    return Error::Success;
  });
}

US_API CUresult cuMemAddressFree(CUdeviceptr at, size_t bytes) {
  return with_memory([&](VirtualMemory& v) { return v.free_range(at, bytes); });
}

US_API CUresult cuMemCreate(CUmemGenericAllocationHandle* out, size_t bytes, const CUmemAllocationProp* p,
                            unsigned long long flags) {
  if (!out || !p || flags) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) {
    PhysicalDesc d;
    us::u64 handle = 0;
    US_TRY(desc_of(*p, d));
    US_TRY(v.create(bytes, d, handle));
    *out = handle;
    return Error::Success;
  });
}

US_API CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return with_memory([&](VirtualMemory& v) { return v.release(handle); });
}

US_API CUresult cuMemMap(CUdeviceptr at, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                         unsigned long long flags) {
  if (flags) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) { return v.map(at, bytes, offset, handle); });
}

US_API CUresult cuMemUnmap(CUdeviceptr at, size_t bytes) {
  return with_memory([&](VirtualMemory& v) { return v.unmap(at, bytes); });
}

US_API CUresult cuMemSetAccess(CUdeviceptr at, size_t bytes, const CUmemAccessDesc* list, size_t count) {
  if (!list || count == 0) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) {
    for (size_t i = 0; i < count; ++i) {
      if (us::driver::failed(check_location(list[i].location))) return Error::InvalidValue;
      if (!is_access(list[i].flags)) return Error::InvalidValue;
    }
    for (size_t i = 0; i < count; ++i)
      US_TRY(v.set_access(at, bytes, list[i].location.type, list[i].location.id, list[i].flags));
    return Error::Success;
  });
}

US_API CUresult cuMemGetAccess(unsigned long long* out, const CUmemLocation* location, CUdeviceptr at) {
  if (!out || !location) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) {
    us::u32 flags = 0;
    US_TRY(check_location(*location));
    US_TRY(v.get_access(at, location->type, location->id, flags));
    *out = flags;
    return Error::Success;
  });
}

US_API CUresult cuMemGetAllocationGranularity(size_t* out, const CUmemAllocationProp* p,
                                              CUmemAllocationGranularity_flags which) {
  if (!out || !p || which > CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory&) {  // the same for all locations, those that do not exist too
    *out = VirtualMemory::kGranularity;
    return Error::Success;
  });
}

US_API CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* out, CUmemGenericAllocationHandle handle) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) {
    PhysicalDesc d;
    US_TRY(v.describe(handle, d));
    *out = {};
    out->type = CU_MEM_ALLOCATION_TYPE_PINNED;
    out->requestedHandleTypes = static_cast<CUmemAllocationHandleType>(d.handle_types);
    out->location.type = static_cast<CUmemLocationType>(d.location);
    out->location.id = d.id;
    out->allocFlags.compressionType = d.compression;
    out->allocFlags.gpuDirectRDMACapable = d.rdma;
    out->allocFlags.usage = static_cast<unsigned short>(d.usage);
    return Error::Success;
  });
}

US_API CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* out, void* address) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  return with_memory([&](VirtualMemory& v) {
    us::u64 handle = 0;
    US_TRY(v.retain_at(reinterpret_cast<us::u64>(address), handle));
    *out = handle;
    return Error::Success;
  });
}

US_API CUresult cuMemExportToShareableHandle(void* out, CUmemGenericAllocationHandle handle,
                                             CUmemAllocationHandleType type, unsigned long long flags) {
  if (!out || flags || type == CU_MEM_HANDLE_TYPE_NONE) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return with_memory([&](VirtualMemory& v) { return v.export_fd(handle, *static_cast<int*>(out)); });
}

US_API CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* out, void* os_handle,
                                               CUmemAllocationHandleType type) {
  if (!out) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  return with_memory([&](VirtualMemory& v) {
    us::u64 handle = 0;
    US_TRY(v.import_fd(static_cast<int>(reinterpret_cast<long>(os_handle)), handle));
    *out = handle;
    return Error::Success;
  });
}
