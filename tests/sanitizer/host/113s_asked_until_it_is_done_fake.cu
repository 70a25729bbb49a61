// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// An event of one stream is asked for until it is done, then another stream goes on.
#include "../twin.h"

__global__ void fill(int* p) {
  p[threadIdx.x] = threadIdx.x;
}
__global__ void twice(int* p) {
  p[threadIdx.x] *= 2;
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
  while (cudaEventQuery(done) == cudaErrorNotReady) {
  }
  twice<<<1, 64, 0, b>>>(p);
  return judge(p, 64, [](int i) { return 2 * i; });
}
