// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 87
// Sums of half warps under a mask of the half; lanes beyond it give what nobody uses, or what is used.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  const int t = threadIdx.x;
  if (t >= 16) return;
  int v = in[t];
  for (int d = 8; d; d /= 2) v += __shfl_down_sync(0xffff, v, d);  // expect: warp-source A
  __shared__ int all[16];
  all[t] = v;
  __syncwarp(0xffff);
  if (t == 0) out[0] = all[12];  // expect: warp-source B
}

int main() {
  int *in = iota(32), *out = zeros(1);
  kernel<<<1, 32>>>(in, out);
  return ended();
}
