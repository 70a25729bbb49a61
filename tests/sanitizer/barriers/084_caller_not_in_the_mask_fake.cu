// SPDX-License-Identifier: Apache-2.0
// twin: fake; kinds: 84
// The lanes that the mask names call it.
#include "../twin.h"

__global__ void kernel(int* out, unsigned mask) {
  __shared__ int tile[32];
  const int t = threadIdx.x;
  tile[t] = t;
  if (mask >> t & 1) __syncwarp(mask);
  if (mask >> t & 1) out[t] = tile[t ^ 1];
}

int main() {
  int* out = zeros(32);
  kernel<<<1, 32>>>(out, 0xffff);
  return judge(out, 32, [](int i) { return i < 16 ? i ^ 1 : 0; });
}
