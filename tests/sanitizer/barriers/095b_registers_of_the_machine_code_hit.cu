// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 95
// hangs
// Only the machine code says how many registers the threads begin with: 168 each for 384 threads of one block.
#include "../twin.h"

__global__ void __launch_bounds__(384, 1) kernel(int* out) {
  const int group = threadIdx.x / 128;
  asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");  // expect: deadlock
  out[threadIdx.x] = group;
}

int main() {
  int* out = zeros(384);
  kernel<<<1, 384>>>(out);
  return ended();
}
