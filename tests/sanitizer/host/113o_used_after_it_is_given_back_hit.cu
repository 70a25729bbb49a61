// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A kernel of the same stream uses a block behind its cudaFreeAsync.
#include "../twin.h"

__global__ void fill(int* p, int n) { p[threadIdx.x] = n + threadIdx.x; }
__global__ void sum(const int* p, int* out) {
  atomicAdd(out, p[threadIdx.x]);  // expect: use-after-free
}

int main() {
  int *p = nullptr, *q = nullptr, *out = zeros(1);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocAsync(&p, 256, s);
  fill<<<1, 64, 0, s>>>(p, 0);
  cudaFreeAsync(p, s);
  sum<<<1, 64, 0, s>>>(p, out);
  return ended();
}
