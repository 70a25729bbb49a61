// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 113
// needs: two devices
// A copy to a peer starts while a kernel of the first device may still write the source.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;  // expect: race-host A
}

int main() {
  int *p = zeros(64), *q = nullptr;
  cudaStream_t a, b;
  cudaEvent_t filled;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  must(cudaSetDevice(1), "cudaSetDevice");
  cudaMalloc(&q, 256);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaSetDevice(0);
  fill<<<1, 64, 0, a>>>(p);
  cudaSetDevice(1);
  cudaMemcpyPeerAsync(q, 1, p, 0, 256, b);  // expect: race-host B
  cudaDeviceSynchronize();
  return ended();
}
