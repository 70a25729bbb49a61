// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// needs: two devices
// A copy to a peer waits for the event behind the kernel of the first device.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;
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
  cudaEventRecord(filled, a);
  cudaSetDevice(1);
  cudaStreamWaitEvent(b, filled, 0);
  cudaMemcpyPeerAsync(q, 1, p, 0, 256, b);
  cudaDeviceSynchronize();
  return judge(q, 64, [](int i) { return i; });
}
