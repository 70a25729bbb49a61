// SPDX-License-Identifier: Apache-2.0
// flags: -lcuda
// Mapped memory under the rights a program gives it: copies, sets and kernels;
// what an allocation remembers of its properties.
#include <cstring>
#include <vector>

#include "cu.h"

__global__ void load(const int* from, int* to) { *to = *from; }
__global__ void store(int* to) { *to = 77; }

static CUmemAccessDesc rights(CUmemAccess_flags f) {
  CUmemAccessDesc a = {};
  a.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  a.flags = f;
  return a;
}

int main() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  MUST(cudaFree(nullptr));
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  const size_t unit = 2u << 20;
  CUmemGenericAllocationHandle h = 0, c = 0, shared = 0;

  // properties
  CU(cuMemCreate(&h, 2 * unit, &prop, 0));
  prop.allocFlags.compressionType = CU_MEM_ALLOCATION_COMP_GENERIC;
  size_t best = 0;
  CU(cuMemGetAllocationGranularity(&best, &prop, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
  VALUE(best);
  CU(cuMemCreate(&c, unit, &prop, 0));
  CUmemAllocationProp told;
  std::memset(&told, 0xff, sizeof told);
  CU(cuMemGetAllocationPropertiesFromHandle(&told, c));
  VALUE(int(told.allocFlags.compressionType));
  VALUE(int(told.allocFlags.usage));
  VALUE(int(told.allocFlags.gpuDirectRDMACapable));
  VALUE(told.type);
  VALUE(told.location.type);
  VALUE(told.location.id);
  VALUE(told.requestedHandleTypes);
  VALUE(told.win32HandleMetaData == nullptr);
  CU(cuMemGetAllocationPropertiesFromHandle(&told, h));
  VALUE(int(told.allocFlags.compressionType));
  prop.allocFlags.compressionType = 2;
  CU(cuMemCreate(&shared, unit, &prop, 0));
  prop.allocFlags.compressionType = 0;
  int fd = -1;
  CU(cuMemExportToShareableHandle(&fd, h, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));

  // mappings
  CUdeviceptr at = 0;
  CU(cuMemAddressReserve(&at, 4 * unit, 0, 0, 0));
  CU(cuMemMap(at, unit, unit, h, 0));
  CU(cuMemMap(at + 1, unit, 0, h, 0));
  CU(cuMemMap(at, unit / 2, 0, h, 0));
  CU(cuMemMap(at, 4 * unit, 0, h, 0));
  CU(cuMemMap(at, unit, 0, h, 1));
  CU(cuMemMap(at, 2 * unit, 0, h, 0));
  CU(cuMemMap(at + 2 * unit, unit, 0, c, 0));
  CU(cuMemUnmap(at, unit));
  int *out, host[4] = {1, 2, 3, 4};
  MUST(cudaMalloc(&out, 64));
  int* const p = reinterpret_cast<int*>(at);
  int* const q = reinterpret_cast<int*>(at + 2 * unit);

  // no rights yet
  unsigned long long flags = 9;
  CU(cuMemGetAccess(&flags, &prop.location, at));
  VALUE(flags);
  SHOW(cudaMemcpy(p, host, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
  SHOW(cudaMemset(p, 0, 16));

  CUmemAccessDesc all = rights(CU_MEM_ACCESS_FLAGS_PROT_READWRITE), read = rights(CU_MEM_ACCESS_FLAGS_PROT_READ);
  CU(cuMemSetAccess(at, unit, &all, 1));
  CU(cuMemSetAccess(at, 2 * unit, &all, 0));
  CUmemAccessDesc wrong = all;
  wrong.location.id = 99;
  CU(cuMemSetAccess(at, 2 * unit, &wrong, 1));
  wrong = all;
  wrong.flags = static_cast<CUmemAccess_flags>(2);
  CU(cuMemSetAccess(at, 2 * unit, &wrong, 1));
  CU(cuMemSetAccess(at, 3 * unit, &all, 1));
  CU(cuMemGetAccess(&flags, &prop.location, at + unit + 5));
  VALUE(flags);
  SHOW(cudaMemcpy(p, host, 16, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(q, p, 16, cudaMemcpyDeviceToDevice));
  std::vector<int> big(3 * unit / 4, 6);
  SHOW(cudaMemcpy(p, big.data(), 3 * unit, cudaMemcpyHostToDevice));
  SHOW(cudaMemcpy(p, big.data(), 3 * unit + 1, cudaMemcpyHostToDevice));
  store<<<1, 1>>>(p + 1);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemcpy(host, p, 16, cudaMemcpyDeviceToHost));
  VALUE(host[1]);
  VALUE(host[2]);

  // read only
  CU(cuMemSetAccess(at, 2 * unit, &read, 1));
  CU(cuMemGetAccess(&flags, &prop.location, at));
  VALUE(flags);
  load<<<1, 1>>>(p + 1, out);
  SHOW(cudaDeviceSynchronize());
  SHOW(cudaMemcpy(host, out, 4, cudaMemcpyDeviceToHost));
  VALUE(host[0]);

  // taken away from one part
  CUmemAccessDesc none = rights(CU_MEM_ACCESS_FLAGS_PROT_NONE);
  CU(cuMemSetAccess(at + 2 * unit, unit, &none, 1));
  CU(cuMemGetAccess(&flags, &prop.location, at + 2 * unit));
  VALUE(flags);
  store<<<1, 1>>>(p + 2);  // read only: the context ends here
  SHOW(cudaDeviceSynchronize());
  return 0;
}
