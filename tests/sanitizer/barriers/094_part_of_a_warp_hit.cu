// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 94
// Half of a warp executes wgmma.fence.sync.aligned, which is for whole warps.
#include "../twin.h"

__global__ void kernel(int* out) {
  const int t = threadIdx.x;
  if (t % 32 < 16) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");  // expect: warp-converged
  out[t] = t;
}

int main() {
  int* out = zeros(256);
  kernel<<<1, 256>>>(out);
  return ended();
}
