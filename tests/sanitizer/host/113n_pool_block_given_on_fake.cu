// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A block is given back to the pool behind the event of the stream that used it last.
#include "../twin.h"

__global__ void fill(int* p) { p[threadIdx.x] = threadIdx.x; }
__global__ void sum(const int* p, int* out) {
  atomicAdd(out, p[threadIdx.x]);
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
  cudaStreamWaitEvent(a, read, 0);
  cudaFreeAsync(p, a);
  return judge(out, 1, [](int) { return 63 * 32; });
}
