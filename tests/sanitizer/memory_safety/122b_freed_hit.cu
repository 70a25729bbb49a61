// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// A kernel writes to memory that was freed.
#include "../twin.h"

__global__ void kernel(int* data) {
  data[threadIdx.x] = threadIdx.x;  // expect: use-after-free A
}

int main() {
  int* data = zeros(32);
  must(cudaFree(data), "cudaFree");  // expect: use-after-free B
  kernel<<<1, 32>>>(data);
  return ended();
}
