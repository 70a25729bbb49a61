// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82, 118
// Warp 0 fills a table and waits at a barrier in its branch; the other warp goes on.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int table[32];
  const int t = threadIdx.x;
  if (t < 32) {
    table[t] = 3 * t;  // expect: race-shared A
    __syncthreads();  // expect: barrier-divergent
  }
  out[t] = table[t % 32];  // expect: race-shared B
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
