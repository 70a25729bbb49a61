// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 117
// options: --host-pages
// A kernel tells the host by a flag in mapped memory that its results are there.
#include "../twin.h"

__global__ void work(volatile int* flag, int* result) {
  result[threadIdx.x] = 3 * threadIdx.x;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0) *flag = 1;
}

int main() {
  int* shared;
  must(cudaHostAlloc(&shared, 4096, cudaHostAllocMapped), "cudaHostAlloc");
  shared[0] = 0;
  work<<<1, 64>>>(shared, shared + 64);
  while (*static_cast<volatile int*>(shared) == 0) {}
  bool good = true;
  for (int i = 0; i < 64; ++i) good &= shared[64 + i] == 3 * i;
  must(cudaDeviceSynchronize(), "sync");
  return verdict(good);
}
