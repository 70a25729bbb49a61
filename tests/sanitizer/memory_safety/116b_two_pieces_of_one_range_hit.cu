// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 116
// A range of addresses is mapped by one piece of two, and a copy reaches into the other.
#include "../twin.h"

#define GET(name)                                                                                                \
  ({                                                                                                             \
    void* f = nullptr;                                                                                           \
    cudaDriverEntryPointQueryResult found;                                                                       \
    must(cudaGetDriverEntryPointByVersion(#name, &f, 12000, cudaEnableDefault, &found), #name);                  \
    reinterpret_cast<decltype(&name)>(f);                                                                        \
  })

__global__ void kernel(int* p, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  if (threadIdx.x == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
  }
  __syncwarp();
  p[threadIdx.x] = threadIdx.x;
  p[32 + threadIdx.x] = 32 + threadIdx.x;  // expect: bounds-global A
  asm volatile("fence.proxy.async;" ::: "memory");
  __syncwarp();
  if (threadIdx.x == 0) {
    MBAR_ARRIVE_EXPECT(&bar, 256);
    BULK_LOAD(tile, p, 256, &bar);
  }
  MBAR_WAIT(&bar, 0);
  out[threadIdx.x] = tile[2 * threadIdx.x];
}

int main() {
  must(cudaFree(nullptr), "cudaFree");
  int* out = zeros(32);
  const size_t piece = 2 << 20;
  CUdeviceptr at = 0;
  CUmemAllocationProp prop = {};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  GET(cuMemAddressReserve)(&at, 2 * piece, 0, 0, 0);
  CUmemGenericAllocationHandle handle[2];
  CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  for (int k = 0; k < 1; ++k) {
    GET(cuMemCreate)(&handle[k], piece, &prop, 0);
    GET(cuMemMap)(at + k * piece, piece, 0, handle[k], 0);
    GET(cuMemSetAccess)(at + k * piece, piece, &access, 1);
  }
  kernel<<<1, 32>>>(reinterpret_cast<int*>(at + piece) - 32, out);
  return ended();
}
