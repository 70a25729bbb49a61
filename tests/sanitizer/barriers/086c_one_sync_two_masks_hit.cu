// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 86
// Lanes meet at one __syncwarp with different masks.
#include "../twin.h"
__global__ void kernel(int* out) {
  __shared__ int s[32];
  const int t = threadIdx.x;
  s[t] = t;
  const unsigned mask = t < 16 ? 0x0000ffffu : 0xffffffffu;
  WARP_SYNC(mask);  // expect: warp-mask
  out[t] = s[t ^ 1];
}
int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out);
  return ended();
}
