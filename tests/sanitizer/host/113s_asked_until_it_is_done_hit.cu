// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// An event of one stream is asked for once, and another stream goes on whatever the answer.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;  // expect: race-host A
}
__global__ void twice(int* p) {
  p[threadIdx.x] *= 2;  // expect: race-host B
}

int main() {
  int* p = zeros(64);
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&done, cudaEventDisableTiming);
  fill<<<1, 64, 0, a>>>(p);
  cudaEventRecord(done, a);
  twice<<<1, 64, 0, b>>>(p);
  return ended();
}
