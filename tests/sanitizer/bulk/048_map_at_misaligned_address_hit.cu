// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 48
// The tensor map lies in global memory at a multiple of 32 bytes; 64 are needed.

#include "../tensor.h"

__global__ void kernel(const char* map, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, map, 0, 0, &bar);  // expect: misaligned
  for (int i = 0; i < 32; ++i) out[i] = 1;
}

int main() {
  int *in = iota(64), *out = zeros(32);
  const int offset = 32;
  CUtensorMap map = tensor_map(in, {16, 4, 16, 2});
  char* space;
  must(cudaMalloc(&space, 512), "cudaMalloc");
  must(cudaMemcpy(space + offset, &map, sizeof(map), cudaMemcpyHostToDevice), "cudaMemcpy");
  kernel<<<1, 1>>>(space + offset, out);
  return ended();
}
