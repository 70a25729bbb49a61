// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 88
// Lanes of one warp read what other lanes wrote, without __syncwarp: lanes do not run in step.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;  // expect: race-shared A
  if (t < 16) out[t] = tile[t] + tile[t + 16];  // expect: race-shared B
}

int main() {
  int* out = zeros(16);
  kernel<<<1, 32>>>(out);
  return ended();
}
