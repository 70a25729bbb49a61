// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// A kernel in the default stream is not waited for by a non-blocking stream.
#include "../twin.h"

__global__ void add(int* p, int n) {
  p[threadIdx.x] += n;  // expect: race-host
}

int main() {
  int* p = zeros(64);
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  add<<<1, 64, 0, a>>>(p, 1);
  add<<<1, 64>>>(p, 2);
  add<<<1, 64, 0, b>>>(p, 3);
  return ended();
}
