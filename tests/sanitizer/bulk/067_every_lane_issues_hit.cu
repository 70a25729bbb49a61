// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 67
// covers: E9
// Every lane issues the same copy where one is enough (a warning).
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[128];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 32);
    FENCE_MBAR_INIT();
  }
  __syncwarp();
  MBAR_ARRIVE_EXPECT(&bar, 512);
  BULK_LOAD(tile, in, 512, &bar);  // expect: async-duplicate
  MBAR_WAIT(&bar, 0);
  out[t] = tile[4 * t];
}

int main() {
  int *in = iota(128), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
