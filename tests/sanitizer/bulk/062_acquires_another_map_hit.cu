// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 62
// The acquire fence names the map beside the one that is used.

#include "../tensor.h"

__global__ void kernel(const uint64_t* other, uint64_t* maps, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  for (int i = 0; i < 32; ++i) maps[i] = other[i % 16];  // expect: proxy-tensormap A
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(maps + 16) : "memory");
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, maps, 0, 0, &bar);  // expect: proxy-tensormap B
  MBAR_WAIT(&bar, 0);
  for (int i = 0; i < 32; ++i) out[i] = tile[i];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  const CUtensorMap map = tensor_map(in + 32, {16, 2, 16, 2});
  CUtensorMap* device_maps = device<CUtensorMap>(3, [&](int) { return map; });
  kernel<<<1, 1>>>((const uint64_t*)(device_maps + 2), (uint64_t*)device_maps, out);
  return ended();
}
