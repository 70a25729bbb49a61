// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// An event is recorded again behind the work, and the other stream waits for that.
#include "../twin.h"

__global__ void add(int* p, int n) {
  p[threadIdx.x] += n;
}

int main() {
  int* p = zeros(64);
  cudaStream_t a, b;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking);
  cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking);
  cudaEventCreate(&done);
  add<<<1, 64, 0, a>>>(p, 1);
  cudaEventRecord(done, a);
  add<<<1, 64, 0, a>>>(p, 2);
  cudaEventRecord(done, a);
  cudaStreamWaitEvent(b, done, 0);
  add<<<1, 64, 0, b>>>(p, 3);
  return judge(p, 64, [](int) { return 6; });
}
