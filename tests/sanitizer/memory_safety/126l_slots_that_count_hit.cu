// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 126
// may: uninitialised-load
// A warp sums 32 words of global memory of which 16 were written, and adds that to a counter.
#include "../twin.h"

__global__ void kernel(const int* in, int* sum) {
  int v = in[threadIdx.x];  // expect: uninitialised B
  for (int d = 16; d; d /= 2) v += __shfl_down_sync(~0u, v, d);
  if (threadIdx.x == 0) atomicAdd(sum, v);  // expect: uninitialised A
}

int main() {
  int *in, *sum = zeros(1), from[16] = {};
  must(cudaMalloc(&in, 128), "cudaMalloc");
  must(cudaMemcpy(in, from, 64, cudaMemcpyHostToDevice), "cudaMemcpy");
  kernel<<<1, 32>>>(in, sum);
  return ended();
}
