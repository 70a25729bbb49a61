// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 122
// A kernel writes to the ends of an array of managed memory and of one of mapped host memory.
#include "../twin.h"

__global__ void kernel(int* managed, int* mapped, int n) {
  managed[n - 1] = 1;
  mapped[n - 1] = 2;
}

int main() {
  int *managed = nullptr, *host = nullptr, *mapped = nullptr;
  must(cudaMallocManaged(&managed, 100), "cudaMallocManaged");
  must(cudaHostAlloc(&host, 100, cudaHostAllocMapped), "cudaHostAlloc");
  must(cudaHostGetDevicePointer(&mapped, host, 0), "cudaHostGetDevicePointer");
  kernel<<<1, 1>>>(managed, mapped, 25);
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return verdict(managed[24] == 1 && host[24] == 2);
}
