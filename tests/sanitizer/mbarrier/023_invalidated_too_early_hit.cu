// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 23
// may: async-exit
// The barrier is invalidated while a copy that completes at it may be under way.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  BULK_LOAD(tile, in, 128, &bar);  // expect: mbarrier-state B
  MBAR_INVAL(&bar);  // expect: mbarrier-state A
  __nanosleep(100000);
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
