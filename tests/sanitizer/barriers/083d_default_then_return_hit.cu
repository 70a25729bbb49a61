// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82, 83
// Threads without work skip the barrier and go on to a store that is for all.
#include "../twin.h"

__global__ void kernel(int* out, int n) {
  __shared__ int slot[64];
  const int t = threadIdx.x;
  slot[t] = t;
  __syncthreads();
  if (t < n) {
    out[64 + t] = slot[t ^ 1];
    __syncthreads();  // expect: barrier-divergent A
  }
  out[t] = slot[t ^ 2];  // expect: barrier-divergent B
}

int main() {
  int* out = zeros(128);
  kernel<<<1, 64>>>(out, 40);
  return ended();
}
