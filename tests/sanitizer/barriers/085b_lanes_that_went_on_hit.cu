// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 85
// A shuffle of half a warp, whose mask names the other half: that one is at the __syncwarp behind the branch.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  int v = in[t];
  if (t < 16) {
    v += __shfl_xor_sync(0xffffffff, v, 8);  // expect: warp-mask A
  }
  WARP_SYNC(0xffffffff);  // expect: warp-mask B
  out[t] = v;
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(iota(32), out);
  return ended();
}
