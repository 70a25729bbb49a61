// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 53
// A tile is set to zero by threads and then filled by a bulk copy, without a proxy fence between.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
  }
  tile[t] = 0;  // expect: proxy-async A
  __syncthreads();
  if (t == 0) {
    MBAR_ARRIVE_EXPECT(&bar, 128);
    BULK_LOAD(tile, in, 128, &bar);  // expect: proxy-async B
  }
  MBAR_WAIT(&bar, 0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(32), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
