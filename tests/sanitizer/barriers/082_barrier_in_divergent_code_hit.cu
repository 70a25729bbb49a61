// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 82
// The halves of a warp come to different __syncthreads.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[64];
  const int t = threadIdx.x;
  if (t % 32 < 16) {
    tile[t] = t;
    BAR_SYNC(1, 64);  // expect: barrier-divergent A
  } else {
    tile[t] = t + 100;
    BAR_SYNC(1, 64);  // expect: barrier-divergent B
  }
  out[t] = tile[t];
}

int main() {
  int* out = zeros(64);
  kernel<<<1, 64>>>(out);
  return ended();
}
