// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 95
// hangs
// Three warpgroups ask for 240 registers a thread each; the block has 168 each and nobody gives any back.
#include "../twin.h"

__global__ void __maxnreg__(168) kernel(int* out) {
  const int group = threadIdx.x / 128;
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");  // expect: deadlock
  out[threadIdx.x] = group;
}

int main() {
  int* out = zeros(384);
  kernel<<<1, 384>>>(out);
  return ended();
}
