// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 44
// A bulk copy from an address that is a multiple of 8 only.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int skip = 2, bytes = 16;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, bytes);
  BULK_LOAD(tile, in + skip, bytes, &bar);  // expect: misaligned
  out[0] = 1;
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
