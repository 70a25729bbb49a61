// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 49
// The tensor map tells of 8 rows, the memory holds 4.

#include "../tensor.h"

__global__ void kernel(const __grid_constant__ CUtensorMap map, int row, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, &map, 0, row, &bar);  // expect: bounds-global
  MBAR_WAIT(&bar, 0);
  for (int i = 0; i < 32; ++i) out[i] = tile[i];
}

int main() {
  int* out = zeros(32);
  int* in = iota(64);
  kernel<<<1, 1>>>(tensor_map(in, {16, 8, 16, 2}), 4, out);
  return ended();
}
