// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A stream waits for an event that is recorded later, which is no wait.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;  // expect: race-host A
}
__global__ void twice(const int* p, int* out) {
  out[threadIdx.x] = 2 * p[threadIdx.x];  // expect: race-host B
}

int main() {
  int *p = zeros(64), *out = zeros(64);
  cudaStream_t a, b;
  cudaEvent_t filled;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  cudaStreamWaitEvent(b, filled, 0);
  fill<<<1, 64, 0, a>>>(p);
  cudaEventRecord(filled, a);
  twice<<<1, 64, 0, b>>>(p, out);
  return ended();
}
