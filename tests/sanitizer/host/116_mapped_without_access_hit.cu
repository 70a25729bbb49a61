// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 116
// flags: -lcuda
// Memory is mapped, and nobody was given access to it.

#include <cuda.h>

#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;  // expect: bounds-global
  out[threadIdx.x] = threadIdx.x;
}

int main() {
  int* out = zeros(32);
  const size_t bytes = 2 << 20;
  CUmemAllocationProp kind = {};
  kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  kind.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemGenericAllocationHandle memory;
  CUdeviceptr p = 0;
  if (cuMemCreate(&memory, bytes, &kind, 0)) return verdict(false);
  if (cuMemAddressReserve(&p, bytes, 0, 0, 0) || cuMemMap(p, bytes, 0, memory, 0)) return verdict(false);
  kernel<<<1, 32>>>((int*)p, out);
  return ended();
}
