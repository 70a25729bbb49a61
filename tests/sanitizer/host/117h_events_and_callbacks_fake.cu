// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 117
// options: --host-pages
// The host learns by queries, by a function that a stream runs, and by a free that waits.
#include <atomic>
#include "../twin.h"

__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }
std::atomic<int> called;

int main() {
  int *a, *b, *c, *other = zeros(1);
  must(cudaMallocHost(&a, 256), "cudaMallocHost");
  must(cudaHostAlloc(&b, 256, cudaHostAllocMapped), "cudaHostAlloc");
  must(cudaMallocManaged(&c, 256), "cudaMallocManaged");
  cudaStream_t s;
  cudaEvent_t e;
  cudaStreamCreate(&s);
  cudaEventCreate(&e);
  int* d = zeros(64);
  fill<<<1, 64, 0, s>>>(d, 1);
  cudaMemcpyAsync(a, d, 256, cudaMemcpyDeviceToHost, s);
  cudaEventRecord(e, s);
  while (cudaEventQuery(e) == cudaErrorNotReady) {}
  bool good = a[7] == 1;
  fill<<<1, 64, 0, s>>>(b, 2);
  cudaLaunchHostFunc(s, [](void* p) { called = static_cast<int*>(p)[8]; }, b);
  while (called == 0) {}
  good &= called == 2 && b[9] == 2;
  fill<<<1, 64, 0, s>>>(c, 3);
  while (cudaStreamQuery(s) == cudaErrorNotReady) {}
  good &= c[10] == 3;
  fill<<<1, 64, 0, s>>>(c, 4);
  must(cudaFree(other), "cudaFree");
  good &= c[11] == 4;
  return verdict(good);
}
