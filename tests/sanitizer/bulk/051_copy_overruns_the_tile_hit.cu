// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 51
// A copy is longer than the shared array that it goes to.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ struct {
    uint64_t bar;
    alignas(128) int tile[32];
  } first;
  __shared__ alignas(128) int next[64];
  KEEP(next);
  int* tile = first.tile;
  uint64_t& bar = first.bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 256);
  BULK_LOAD(tile, in, 256, &bar);  // expect: bounds-shared
  MBAR_WAIT(&bar, 0);
  out[0] = tile[31];
}

int main() {
  int *in = iota(64), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
