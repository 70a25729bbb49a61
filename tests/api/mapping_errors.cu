// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Reserved addresses and mapped memory, wrong use: ranges, offsets, rights, handles, order of release.
#include "cu.h"

__global__ void store(int* p) { *p = 5; }

size_t unit = 0;
CUmemAllocationProp prop = {};
CUmemAccessDesc both = {};

void creation() {
  CUmemGenericAllocationHandle h = 0;
  size_t g = 0;
  CUmemAllocationProp p = prop;
  CU(cuMemCreate(nullptr, unit, &p, 0));
  CU(cuMemCreate(&h, unit, nullptr, 0));
  p.location.type = CU_MEM_LOCATION_TYPE_INVALID;
  CU(cuMemCreate(&h, unit, &p, 0));
  CU(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  p = prop;
  p.location.id = -1;
  CU(cuMemCreate(&h, unit, &p, 0));
  CU(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  p = prop;
  p.requestedHandleTypes = static_cast<CUmemAllocationHandleType>(0x100);
  CU(cuMemCreate(&h, unit, &p, 0));
  p = prop;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
  CU(cuMemCreate(&h, unit, &p, 0));
  p = prop;
  p.allocFlags.compressionType = 7;
  CU(cuMemCreate(&h, unit, &p, 0));
  CU(cuMemGetAllocationGranularity(nullptr, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CU(cuMemGetAllocationGranularity(&g, nullptr, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CU(cuMemGetAllocationGranularity(&g, &prop, static_cast<CUmemAllocationGranularity_flags>(2)));
  CU(cuMemRelease(0));
  CU(cuMemGetAllocationPropertiesFromHandle(&p, 0));
}

void compression() {
  CUmemGenericAllocationHandle h = 0;
  CUmemAllocationProp p = prop, told = {};
  int can = 9;
  CU(cuDeviceGetAttribute(&can, CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED, 0));
  VALUE(can);
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  p.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  size_t g = 0;
  CU(cuMemGetAllocationGranularity(&g, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  VALUE(g);
  CU(cuMemCreate(&h, unit, &p, 0));
  CU(cuMemGetAllocationPropertiesFromHandle(&told, h));
  VALUE(told.allocFlags.compressionType);
  VALUE(told.allocFlags.usage);
  VALUE(told.allocFlags.gpuDirectRDMACapable);
  VALUE(told.type);
  VALUE(told.location.id);
  CU(cuMemRelease(h));
}

void ranges() {
  CUdeviceptr at = 0, second = 0;
  CUmemGenericAllocationHandle h = 0;
  CU(cuMemAddressReserve(nullptr, unit, 0, 0, 0));
  CU(cuMemAddressReserve(&at, unit, 0, 0, 1));
  CU(cuMemAddressReserve(&at, unit + 1, 0, 0, 0));
  CU(cuMemAddressReserve(&at, unit, 1, 0, 0));
  CU(cuMemAddressReserve(&at, unit, 4096, 0, 0));
  CU(cuMemAddressFree(at, unit));
  CU(cuMemAddressReserve(&at, unit, 8 * unit, 0, 0));
  VALUE(at % (8 * unit));
  CU(cuMemAddressReserve(&second, unit, 0, at, 0));
  VALUE(second != at);
  CU(cuMemAddressFree(second, unit));
  CU(cuMemAddressFree(at, unit));
  CU(cuMemAddressFree(at, unit));
  CU(cuMemAddressFree(0, unit));
  CU(cuMemAddressReserve(&at, 4 * unit, 0, 0, 0));
  CU(cuMemCreate(&h, 2 * unit, &prop, 0));
  CU(cuMemMap(0, unit, 0, h, 0));
  CU(cuMemMap(at, unit, 0, 0, 0));
  CU(cuMemMap(at, 0, 0, h, 0));
  CU(cuMemMap(at, unit, 1, h, 0));
  CU(cuMemMap(at, unit, unit, h, 0));
  CU(cuMemMap(at, 2 * unit, unit, h, 0));
  CU(cuMemMap(at, 3 * unit, 0, h, 0));
  CU(cuMemMap(at, unit, 0, h, 1));
  CU(cuMemMap(at + 1, unit, 0, h, 0));
  CU(cuMemMap(at, 2 * unit, 0, h, 0));
  CU(cuMemMap(at + unit, 2 * unit, 0, h, 0));
  // no rights yet
  SHOW(cudaMemset(reinterpret_cast<void*>(at), 1, 16));
  unsigned long long rights = 9;
  CU(cuMemGetAccess(&rights, &both.location, at));
  VALUE(rights);
  CU(cuMemGetAccess(nullptr, &both.location, at));
  CU(cuMemGetAccess(&rights, nullptr, at));
  CU(cuMemGetAccess(&rights, &both.location, at + 3 * unit));
  CU(cuMemSetAccess(at, 2 * unit, nullptr, 1));
  CU(cuMemSetAccess(at, 2 * unit, &both, 0));
  CU(cuMemSetAccess(at, unit, &both, 1));
  CU(cuMemSetAccess(at, 4 * unit, &both, 1));
  CU(cuMemSetAccess(at + 1, unit, &both, 1));
  CUmemAccessDesc wrong = both;
  wrong.location.id = 99;
  CU(cuMemSetAccess(at, 2 * unit, &wrong, 1));
  wrong = both;
  wrong.flags = static_cast<CUmemAccess_flags>(2);
  CU(cuMemSetAccess(at, 2 * unit, &wrong, 1));
  wrong.flags = CU_MEM_ACCESS_FLAGS_PROT_READ;
  CU(cuMemSetAccess(at, 2 * unit, &wrong, 1));
  CU(cuMemGetAccess(&rights, &both.location, at));
  VALUE(rights);
  CU(cuMemSetAccess(at, 2 * unit, &both, 1));
  SHOW(cudaMemset(reinterpret_cast<void*>(at), 1, 16));
  SHOW(cudaMemset(reinterpret_cast<void*>(at + 2 * unit - 8), 1, 16));
  SHOW(cudaGetLastError());
  store<<<1, 1>>>(reinterpret_cast<int*>(at));
  SHOW(cudaDeviceSynchronize());
  CUmemGenericAllocationHandle again = 0;
  CU(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(at + 3 * unit)));
  CU(cuMemRetainAllocationHandle(&again, nullptr));
  CU(cuMemRetainAllocationHandle(nullptr, reinterpret_cast<void*>(at)));
  CU(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(at + unit)));
  VALUE(again == h);
  CU(cuMemRelease(again));
  CU(cuMemUnmap(at + 2 * unit, unit));
  CU(cuMemUnmap(at, 0));
  CU(cuMemUnmap(at, unit));
  CU(cuMemUnmap(at, 3 * unit));
  CU(cuMemUnmap(at, 2 * unit));
  CU(cuMemUnmap(at, 2 * unit));
  CU(cuMemRelease(h));
  CU(cuMemRelease(h));
  CU(cuMemAddressFree(at, 4 * unit));
}

void sharing() {
  CUmemGenericAllocationHandle h = 0, plain = 0;
  CUmemAllocationProp p = prop;
  int fd = -1;
  p.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
  CU(cuMemCreate(&plain, unit, &p, 0));
  CU(cuMemCreate(&h, unit, &prop, 0));
  CU(cuMemExportToShareableHandle(&fd, plain, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_NONE, 0));
  CU(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 1));
  CU(cuMemExportToShareableHandle(nullptr, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CU(cuMemImportFromShareableHandle(&plain, reinterpret_cast<void*>(-1l), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CU(cuMemRelease(h));
}

int main() {
  MUST(cudaFree(nullptr));
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  both.location = prop.location;
  both.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CU(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  creation();
  compression();
  ranges();
  sharing();
  return 0;
}
