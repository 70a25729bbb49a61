// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 117
// options: --host-pages
// The host reads managed memory that a kernel writes, before and after it has waited.
#include "../twin.h"

__global__ void fill(int* p, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) p[i] = 2 * i;
}

int main() {
  int* p;
  must(cudaMallocManaged(&p, 4000), "cudaMallocManaged");
  fill<<<4, 256>>>(p, 1000);
  must(cudaDeviceSynchronize(), "sync");
  long sum = 0;
  for (int i = 0; i < 1000; ++i) sum += p[i];
  return verdict(sum == 999000);
}
