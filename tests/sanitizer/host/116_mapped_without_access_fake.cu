// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 116
// flags: -lcuda
// The device was given access.

#include <cuda.h>

#include "../twin.h"

__global__ void kernel(int* data, int* out) {
  data[threadIdx.x] = threadIdx.x;
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
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  if (cuMemSetAccess(p, bytes, &access, 1)) return verdict(false);
  kernel<<<1, 32>>>((int*)p, out);
  return judge(out, 32, [](int i) { return i; });
}
