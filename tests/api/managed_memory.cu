// SPDX-License-Identifier: Apache-2.0
// Managed memory: host and device see each other's writes; advice and prefetch.
#include "api.h"

__managed__ int counter = 5;
__managed__ double sums[3];

__global__ void work(int* p, int n) {
  for (int i = threadIdx.x; i < n; i += blockDim.x) p[i] += i;
  if (threadIdx.x == 0) {
    counter += 1;
    sums[1] = counter * 0.5;
  }
}

int main() {
  constexpr int n = 1000;
  VALUE(counter);
  counter = 10;
  int* p = nullptr;
  SHOW(cudaMallocManaged(&p, n * sizeof(int)));
  for (int i = 0; i < n; ++i) p[i] = 2 * i;
  work<<<1, 128>>>(p, n);
  SHOW(cudaDeviceSynchronize());
  int wrong = 0;
  for (int i = 0; i < n; ++i) wrong += p[i] != 3 * i;
  VALUE(wrong);
  VALUE(counter);
  VALUE(sums[1] * 2);
  cudaMemLocation device = {};
  device.type = cudaMemLocationTypeDevice;
  SHOW(cudaMemAdvise(p, n * sizeof(int), cudaMemAdviseSetReadMostly, device));
  SHOW(cudaMemPrefetchAsync(p, n * sizeof(int), device, 0, nullptr));
  SHOW(cudaDeviceSynchronize());
  int* plain = nullptr;
  MUST(cudaMalloc(&plain, 4096));
  SHOW(cudaMemPrefetchAsync(plain, 4096, device, 0, nullptr));
  SHOW(cudaMemAdvise(plain, 4096, cudaMemAdviseSetReadMostly, device));
  SHOW(cudaGetLastError());
  int copied = 0;
  SHOW(cudaMemcpyFromSymbol(&copied, counter, sizeof copied));
  VALUE(copied);
  SHOW(cudaFree(p));
  return 0;
}
