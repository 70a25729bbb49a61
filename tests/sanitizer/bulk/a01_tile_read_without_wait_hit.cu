// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: -
// covers: A1
// A tensor copy brings a tile; its readers are behind its issue by a barrier, but do not wait at the mbarrier first.
#include "../tensor.h"

__global__ void kernel(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
    MBAR_ARRIVE_EXPECT(&bar, 128);
    TENSOR_LOAD(tile, &map, 0, 0, &bar);  // expect: async-mbarrier A
  }
  __syncthreads();
  out[t] = tile[t];  // expect: async-mbarrier B
  MBAR_WAIT(&bar, 0);
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(tensor_map(in, {8, 4, 8, 4}), out);
  return ended();
}
