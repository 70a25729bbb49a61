// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 87
// A reduction by a warp whose lanes beyond n returned.
#include "../twin.h"

__global__ void kernel(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  int v = in[i];
  for (int d = 16; d; d /= 2) v += __shfl_xor_sync(0xffffffff, v, d);  // expect: warp-source A
  if (threadIdx.x % 32 == 0) atomicAdd(out, v);  // expect: warp-source B
}

int main() {
  int *in = iota(128), *out = zeros(1);
  kernel<<<2, 64>>>(in, out, 100);
  return ended();
}
