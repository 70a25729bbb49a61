// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 25
// hangs
// One copy brings twice what was expected: the count of bytes goes below zero, and the phase does not end.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
    MBAR_ARRIVE_EXPECT(&bar, 128);
    BULK_LOAD(tile, in, 256, &bar);  // expect: mbarrier-tx
  }
  __syncwarp();
  MBAR_WAIT(&bar, 0);  // expect: deadlock
  out[t] = tile[t];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
