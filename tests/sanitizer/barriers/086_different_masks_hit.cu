// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 86
// Lanes that are to meet name different sets of lanes.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  if (t < 16) {
    WARP_SYNC(0xffffffff);  // expect: warp-mask
    out[t] = tile[t ^ 1];
  } else {
    WARP_SYNC(0xffff0000);
    out[t] = tile[t ^ 1];
  }
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
