// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 117
// options: --host-pages
// A result is copied to pinned memory, and read by the host behind the event, or not.
#include "../twin.h"

__global__ void square(int* p) { p[threadIdx.x] *= p[threadIdx.x]; }

int main() {
  int *data = iota(128), *host;
  must(cudaMallocHost(&host, 512), "cudaMallocHost");
  cudaStream_t s;
  cudaEvent_t done;
  cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  cudaEventCreate(&done);
  square<<<1, 128, 0, s>>>(data);
  must(cudaMemcpyAsync(host, data, 512, cudaMemcpyDeviceToHost, s), "copy");  // expect: race-host A
  cudaEventRecord(done, s);
  long sum = 0;
  for (int i = 0; i < 128; ++i) sum += host[i];  // expect: race-host B
  if (sum < 0) std::puts("wrong");
  return ended();
}
