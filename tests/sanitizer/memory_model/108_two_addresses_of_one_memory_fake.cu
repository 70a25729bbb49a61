// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 108
// flags: -lcuda
// With the fence.

#include <cuda.h>

#include "../twin.h"

__global__ void kernel(int* one, int* two, int* out) {
  *one = 42;
  asm volatile("fence.proxy.alias;" ::: "memory");
  int value;
  LOAD(value, "weak", two);
  *out = value;
}

int* map(CUmemGenericAllocationHandle memory, size_t bytes) {
  CUdeviceptr p = 0;
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  bool bad = cuMemAddressReserve(&p, bytes, 0, 0, 0) || cuMemMap(p, bytes, 0, memory, 0);
  bad = bad || cuMemSetAccess(p, bytes, &access, 1);
  if (bad) std::puts("mapping failed"), std::exit(2);
  return (int*)p;
}

int main() {
  int* out = zeros(1);
  const size_t bytes = 2 << 20;
  CUmemAllocationProp kind = {};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle memory;
  if (cuMemCreate(&memory, bytes, &kind, 0)) return verdict(false);
  int *one = map(memory, bytes), *two = map(memory, bytes);
  must(cudaMemset(one, 0, bytes), "cudaMemset");
  kernel<<<1, 1>>>(one, two, out);
  return judge(out, 1, [](int) { return 42; });
}
