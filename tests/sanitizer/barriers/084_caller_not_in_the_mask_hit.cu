// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 84
// All lanes call __syncwarp with a mask that names half of them.
#include "../twin.h"

__global__ void kernel(int* out, unsigned mask) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  __syncwarp(mask);  // expect: warp-mask
  out[t] = t;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, 0xffff);
  return ended();
}
