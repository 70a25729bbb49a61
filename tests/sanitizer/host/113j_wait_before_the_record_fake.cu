// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A stream waits for an event that has been recorded.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;
}
__global__ void twice(const int* p, int* out) {
  out[threadIdx.x] = 2 * p[threadIdx.x];
}

int main() {
  int *p = zeros(64), *out = zeros(64);
  cudaStream_t a, b;
  cudaEvent_t filled;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreateWithFlags(&filled, cudaEventDisableTiming);
  fill<<<1, 64, 0, a>>>(p);
  cudaEventRecord(filled, a);
  cudaStreamWaitEvent(b, filled, 0);
  twice<<<1, 64, 0, b>>>(p, out);
  return judge(out, 64, [](int i) { return 2 * i; });
}
