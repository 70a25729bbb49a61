// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 44
// A bulk copy of 24 bytes.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  const int bytes = 24;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, bytes);
  BULK_LOAD(tile + 4, in + 4, bytes, &bar);  // expect: async-operand
  out[0] = 1;
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 1>>>(in, out);
  return ended();
}
