// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 29
// The consumers wait for parity 1, which a new barrier grants at once: the copy may still be under way.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 2);
    FENCE_MBAR_INIT();
    MBAR_ARRIVE_EXPECT(&bar, 128);
    BULK_LOAD(tile, in, 128, &bar);  // expect: async-mbarrier A
  }
  __syncwarp();
  MBAR_WAIT(&bar, 1);
  out[t] = tile[t];  // expect: async-mbarrier B
  __syncwarp();
  if (t == 0) MBAR_ARRIVE(&bar);  // the phase could not end before
  MBAR_WAIT(&bar, 0);
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
