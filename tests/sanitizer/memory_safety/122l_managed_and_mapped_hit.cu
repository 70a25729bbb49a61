// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// A kernel writes behind an array of managed memory and one of mapped host memory.
#include "../twin.h"

__global__ void kernel(int* managed, int* mapped, int n) {
  managed[n] = 1;  // expect: bounds-global
  mapped[n] = 2;  // expect: bounds-global
}

int main() {
  int *managed = nullptr, *host = nullptr, *mapped = nullptr;
  must(cudaMallocManaged(&managed, 100), "cudaMallocManaged");
  must(cudaHostAlloc(&host, 100, cudaHostAllocMapped), "cudaHostAlloc");
  must(cudaHostGetDevicePointer(&mapped, host, 0), "cudaHostGetDevicePointer");
  kernel<<<1, 1>>>(managed, mapped, 25);
  return ended();
}
