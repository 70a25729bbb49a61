// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 43
// The tile of a tensor copy begins at a multiple of 64 bytes; 128 are needed.

#include "../tensor.h"

__global__ void kernel(const __grid_constant__ CUtensorMap map, int* out) {
  __shared__ alignas(256) int space[128];
  __shared__ uint64_t bar;
  int* tile = space + 16;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, &map, 0, 0, &bar);  // expect: misaligned
  for (int i = 0; i < 32; ++i) out[i] = 1;
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 1>>>(tensor_map(in, {16, 4, 16, 2}), out);
  return ended();
}
