// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 63
// The host overwrites a tensor map while a kernel may use it.

#include "../tensor.h"

__global__ void kernel(const CUtensorMap* map, int* out) {
  __shared__ alignas(128) int tile[32];
  __shared__ uint64_t bar;
  MBAR_INIT(&bar, 1);
  FENCE_MBAR_INIT();
  MBAR_ARRIVE_EXPECT(&bar, 128);
  TENSOR_LOAD(tile, map, 0, 0, &bar);  // expect: race-host A
  MBAR_WAIT(&bar, 0);
  for (int i = 0; i < 32; ++i) out[i] = tile[i];
}

int main() {
  int *in = iota(64), *out = zeros(32);
  const CUtensorMap first = tensor_map(in, {16, 2, 16, 2}), second = tensor_map(in + 32, {16, 2, 16, 2});
  CUtensorMap *map = device<CUtensorMap>(1, [&](int) { return first; }), *pinned;
  must(cudaMallocHost(&pinned, sizeof(*pinned)), "cudaMallocHost");
  *pinned = second;
  cudaStream_t one, two;
  cudaStreamCreateWithFlags(&one, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&two, cudaStreamNonBlocking);
  kernel<<<1, 1, 0, one>>>(map, out);
  cudaMemcpyAsync(map, pinned, sizeof(*map), cudaMemcpyHostToDevice, two);  // expect: race-host B
  return ended();
}
