// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Reserved addresses and mapped memory: a range that grows, two views of one memory, sharing by descriptor, wrong use.
#include <unistd.h>

#include <vector>

#include "cu.h"

__global__ void fill(int* p, int n, int first) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = first + i;
}

int main() {
  MUST(cudaFree(nullptr));
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  prop.location.id = 0;
  prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  size_t unit = 0, best = 0;
  CU(cuMemGetAllocationGranularity(&unit, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CU(cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  VALUE(unit);
  VALUE(best);

  CUdeviceptr range = 0, other = 0;
  CUmemGenericAllocationHandle a = 0, b = 0, again = 0;
  CU(cuMemAddressReserve(&range, 4 * unit, 0, 0, 0));
  VALUE(range % unit);
  CU(cuMemCreate(&a, unit, &prop, 0));
  CU(cuMemCreate(&b, unit, &prop, 0));
  CU(cuMemCreate(&again, unit + 4096, &prop, 0));
  CU(cuMemCreate(&again, 0, &prop, 0));
  CU(cuMemCreate(&again, unit, &prop, 1));
  CU(cuMemMap(range, unit, 0, a, 0));
  CU(cuMemMap(range, unit, 0, b, 0));
  CU(cuMemMap(range + unit, unit, 0, b, 0));
  CU(cuMemMap(range + 4 * unit, unit, 0, b, 0));
  CUmemAccessDesc access = {};
  access.location = prop.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  CU(cuMemSetAccess(range, 2 * unit, &access, 1));
  CU(cuMemSetAccess(range + 2 * unit, unit, &access, 1));
  unsigned long long flags = 9;
  CU(cuMemGetAccess(&flags, &prop.location, range));
  VALUE(flags);

  const int n = static_cast<int>(2 * unit / sizeof(int));
  fill<<<n / 256, 256>>>(reinterpret_cast<int*>(range), n, 5);
  SHOW(cudaDeviceSynchronize());
  std::vector<int> host(n, -1);
  SHOW(cudaMemcpy(host.data(), reinterpret_cast<void*>(range), 2 * unit, cudaMemcpyDeviceToHost));
  bool right = true;
  for (int i = 0; i < n; ++i) right &= host[i] == 5 + i;
  VALUE(right);
  SHOW(cudaMemset(reinterpret_cast<void*>(range), 0, 16));
  cudaPointerAttributes pa = {};
  SHOW(cudaPointerGetAttributes(&pa, reinterpret_cast<void*>(range + 64)));
  VALUE(pa.type);
  VALUE(pa.device);

  // one memory at two addresses
  CU(cuMemAddressReserve(&other, unit, 0, 0, 0));
  CU(cuMemMap(other, unit, 0, b, 0));
  CU(cuMemSetAccess(other, unit, &access, 1));
  fill<<<1, 32>>>(reinterpret_cast<int*>(other), 32, 700);
  SHOW(cudaMemcpy(host.data(), reinterpret_cast<void*>(range + unit), 128, cudaMemcpyDeviceToHost));
  VALUE(host[31]);

  // properties, references
  CUmemAllocationProp told = {};
  CU(cuMemGetAllocationPropertiesFromHandle(&told, a));
  VALUE(told.location.type);
  VALUE(told.requestedHandleTypes);
  CU(cuMemRetainAllocationHandle(&again, reinterpret_cast<void*>(range)));
  CU(cuMemRelease(again));

  // by descriptor
  int fd = -1;
  CUmemGenericAllocationHandle imported = 0;
  CU(cuMemExportToShareableHandle(&fd, a, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  VALUE(fd >= 0);
  CU(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<long>(fd)), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  close(fd);
  CU(cuMemUnmap(other, unit));
  CU(cuMemMap(other, unit, 0, imported, 0));
  CU(cuMemSetAccess(other, unit, &access, 1));
  fill<<<1, 32>>>(reinterpret_cast<int*>(other), 32, 900);
  SHOW(cudaMemcpy(host.data(), reinterpret_cast<void*>(range), 128, cudaMemcpyDeviceToHost));
  VALUE(host[31]);
  CU(cuMemRelease(imported));

  // released memory stays while it is mapped
  CU(cuMemRelease(a));
  CU(cuMemRelease(b));
  SHOW(cudaMemcpy(host.data(), reinterpret_cast<void*>(range), 128, cudaMemcpyDeviceToHost));
  VALUE(host[0]);
  CU(cuMemAddressFree(range, 4 * unit));
  CU(cuMemUnmap(range, unit / 2));
  CU(cuMemUnmap(range, 2 * unit));
  CU(cuMemUnmap(other, unit));
  CU(cuMemAddressFree(range, unit));
  CU(cuMemAddressFree(range, 4 * unit));
  CU(cuMemAddressFree(other, unit));
  CU(cuMemAddressReserve(&other, 0, 0, 0, 0));
  CU(cuMemAddressReserve(&other, 1000, 0, 0, 0));
  CU(cuMemAddressReserve(&other, unit, 3 * unit, 0, 0));
  CU(cuMemFree(range));
  prop.location.id = 99;
  CU(cuMemCreate(&a, unit, &prop, 0));
  prop.location.id = 0;
  prop.type = CU_MEM_ALLOCATION_TYPE_INVALID;
  CU(cuMemCreate(&a, unit, &prop, 0));
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  CU(cuMemCreate(&a, size_t{1} << 50, &prop, 0));
  return 0;
}
