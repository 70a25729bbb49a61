// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 122
// A thread writes behind an array that it has allocated on the device's heap.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  int* list = new int[n];
  for (int i = 0; i <= n; ++i) list[i] = i;  // expect: bounds-global
  out[threadIdx.x] = list[n - 1];
  delete[] list;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, 12);
  return ended();
}
