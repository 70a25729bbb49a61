// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// flags: -lcuda
// A stream waits for a word that another writes before its kernel.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;  // expect: race-host A
}
__global__ void twice(int* p) {
  p[threadIdx.x] *= 2;  // expect: race-host B
}

int main() {
  int *p = zeros(64), *word = zeros(1);
  const auto at = reinterpret_cast<CUdeviceptr>(word);
  cudaStream_t a, b;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cuStreamWriteValue32(a, at, 1, 0);
  fill<<<1, 64, 0, a>>>(p);
  cuStreamWaitValue32(b, at, 1, CU_STREAM_WAIT_VALUE_GEQ);
  twice<<<1, 64, 0, b>>>(p);
  return ended();
}
