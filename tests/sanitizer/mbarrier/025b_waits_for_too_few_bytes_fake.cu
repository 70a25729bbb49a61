// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 25
// Two copies bring what was expected, one of them before it is: the count is below zero for a while.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  const int t = threadIdx.x;
  if (t == 0) {
    MBAR_INIT(&bar, 1);
    FENCE_MBAR_INIT();
    BULK_LOAD(tile + 32, in + 32, 128, &bar);
    MBAR_ARRIVE_EXPECT(&bar, 256);
    BULK_LOAD(tile, in, 128, &bar);
  }
  __syncwarp();
  MBAR_WAIT(&bar, 0);
  out[t] = tile[t];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 32>>>(in, out);
  return twin::judge(out, 32, [](int i) { return i; });
}
