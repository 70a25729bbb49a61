// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 88
// The old idiom with volatile shared memory instead of __syncwarp (a warning).
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ volatile int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;  // expect: race-volatile A
  if (t < 16) out[t] = tile[t + 16];  // expect: race-volatile B
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return ended();
}
