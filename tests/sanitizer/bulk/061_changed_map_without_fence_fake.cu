// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 61
// covers: A10
// With the release and the acquire fence of 128 bytes.

#include "../tensor.h"

__global__ void kernel(const uint64_t* other, uint64_t* map, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  for (int i = 0; i < 16; ++i) map[i] = other[i];
  asm volatile("fence.proxy.tensormap::generic.release.gpu;" ::: "memory");
  asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, map, 0, 0, &bar);
  MBAR_WAIT(&bar, 0);
  for (int i = 0; i < 32; ++i) out[i] = tile[i];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  const CUtensorMap maps[2] = {tensor_map(in, {16, 2, 16, 2}), tensor_map(in + 32, {16, 2, 16, 2})};
  CUtensorMap* device_maps = device<CUtensorMap>(2, [&](int i) { return maps[i]; });
  kernel<<<1, 1>>>((const uint64_t*)(device_maps + 1), (uint64_t*)device_maps, out);
  return judge(out, 32, [](int i) { return i + 32; });
}
