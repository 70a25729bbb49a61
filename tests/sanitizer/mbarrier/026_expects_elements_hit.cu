// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 26
// may: async-exit
// The barrier expects as many bytes as the copy has elements, so it never ends the phase as it should.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 32);
  BULK_LOAD(tile, in, 32 * 4, &bar);  // expect: mbarrier-tx
  __nanosleep(100000);
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
