// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 25
// covers: D3
// may: async-exit
// Two copies bring 256 bytes, 128 were expected: the phase ends early and the rest counts against the next one.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[64];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  for (int i = 0; i < 64; i += 32) BULK_LOAD(tile + i, in + i, 128, &bar);  // expect: mbarrier-tx
  __nanosleep(100000);
}

int main() {
  int *in = iota(64), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
