// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A kernel of the same stream uses a block before its cudaFreeAsync, and one that is allocated behind it.
#include "../twin.h"

__global__ void fill(int* p, int n) { p[threadIdx.x] = n + threadIdx.x; }
__global__ void sum(const int* p, int* out) {
  atomicAdd(out, p[threadIdx.x]);
}

int main() {
  int *p = nullptr, *q = nullptr, *out = zeros(1);
  cudaStream_t s;
  cudaStreamCreate(&s);
  cudaMallocAsync(&p, 256, s);
  fill<<<1, 64, 0, s>>>(p, 0);
  sum<<<1, 64, 0, s>>>(p, out);
  cudaFreeAsync(p, s);
  cudaMallocAsync(&q, 256, s);
  fill<<<1, 64, 0, s>>>(q, 1);
  sum<<<1, 64, 0, s>>>(q, out);
  cudaFreeAsync(q, s);
  return judge(out, 1, [](int) { return 63 * 32 * 2 + 64; });
}
