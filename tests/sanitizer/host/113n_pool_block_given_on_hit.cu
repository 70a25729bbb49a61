// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A block that one stream gave back to the pool is still used by another.
#include "../twin.h"

__global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void sum(const int* p, int* out) {
  atomicAdd(out, p[threadIdx.x]);  // expect: free-pending A
}

int main() {
  int *p = nullptr, *out = zeros(1);
  cudaStream_t a, b;
  cudaEvent_t filled, read;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaEventCreateWithFlags(&read, cudaEventDisableTiming);
  cudaMallocAsync(&p, 256, a);
  fill<<<1, 64, 0, a>>>(p);
  cudaEventRecord(filled, a);
  cudaStreamWaitEvent(b, filled, 0);
  sum<<<1, 64, 0, b>>>(p, out);
  cudaEventRecord(read, b);
  cudaFreeAsync(p, a);  // expect: free-pending B
  return ended();
}
