// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 50
// Half of the box lies outside of the tensor: it is filled with zeros, which may be meant (a note).

#include "../tensor.h"

__global__ void kernel(const __grid_constant__ CUtensorMap map, int row, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, &map, 0, row, &bar);  // expect: tensor-outside
  MBAR_WAIT(&bar, 0);
  for (int i = 0; i < 32; ++i) out[i] = tile[i];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  kernel<<<1, 1>>>(tensor_map(in, {16, 4, 16, 2}), 3, out);
  return ended();
}
