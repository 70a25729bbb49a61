// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 113
// A kernel in the default stream is waited for by streams that block.
#include "../twin.h"

__global__ void add(int* p, int n) {
  p[threadIdx.x] += n;
}

int main() {
  int* p = zeros(64);
  cudaStream_t a, b;
  cudaStreamCreate(&a);
  cudaStreamCreate(&b);
  add<<<1, 64, 0, a>>>(p, 1);
  add<<<1, 64>>>(p, 2);
  add<<<1, 64, 0, b>>>(p, 3);
  return judge(p, 64, [](int) { return 6; });
}
