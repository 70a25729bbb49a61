// SPDX-License-Identifier: Apache-2.0
// flags: --default-stream per-thread
// With per-thread default streams, threads do not wait for one another.
#include <thread>

#include "api.h"

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {}
}
__global__ void set(int* p, int v) { *p = v; }

int main() {
  int *flag = nullptr, *d = nullptr, h = 0;
  MUST(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  MUST(cudaMalloc(&d, 2 * sizeof(int)));
  *flag = 1;  // code is loaded before anything waits: loading may synchronise
  wait_for<<<1, 1>>>(flag);
  set<<<1, 1>>>(d, 0);
  MUST(cudaDeviceSynchronize());
  *flag = 0;
  wait_for<<<1, 1>>>(flag);
  set<<<1, 1>>>(d, 4);
  SHOW(cudaStreamQuery(nullptr));
  SHOW(cudaStreamQuery(cudaStreamPerThread));
  std::thread([&] {
    int other = 0;
    SHOW(cudaStreamQuery(nullptr));
    set<<<1, 1>>>(d + 1, 9);
    SHOW(cudaMemcpy(&other, d + 1, sizeof(int), cudaMemcpyDeviceToHost));
    VALUE(other);
  }).join();
  *static_cast<volatile int*>(flag) = 1;
  SHOW(cudaMemcpy(&h, d, sizeof(int), cudaMemcpyDeviceToHost));
  VALUE(h);
  SHOW(cudaStreamQuery(nullptr));
  return 0;
}
