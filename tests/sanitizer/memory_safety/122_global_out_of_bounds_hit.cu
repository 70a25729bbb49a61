// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// The last thread writes one element behind the allocation.
#include "../twin.h"

__global__ void kernel(int* data, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i <= n) data[i] = i;  // expect: bounds-global
}

int main() {
  int* data = zeros(128);  // 512 bytes
  kernel<<<5, 32>>>(data, 128);
  return ended();
}
