// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 53
// covers: A6
// A bulk copy overwrites what other threads may still read; nothing orders the reads before it.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar, next;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    MBAR_INIT(&next, 1);
    FENCE_MBAR_INIT();
    MBAR_ARRIVE_EXPECT(&bar, 128);
    BULK_LOAD(tile, in, 128, &bar);
  }
  __syncthreads();
  MBAR_WAIT(&bar, 0);
  if (t < 32) out[t] = tile[t];  // expect: race-shared A
  if (t == 32) {
    MBAR_ARRIVE_EXPECT(&next, 128);
    BULK_LOAD(tile, in + 32, 128, &next);  // expect: race-shared B
    MBAR_WAIT(&next, 0);
    out[32] = tile[0];
  }
}

int main() {
  int *in = iota(64), *out = zeros(33);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
