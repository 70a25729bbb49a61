// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 93
// hangs
// may: deadlock
// One lane of each warp executes bar.sync, which is for whole warps.
#include "../twin.h"

__global__ void kernel(int* out) {
  __shared__ int slot[2];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  if (lane == 0) {
    slot[warp] = warp;
    BAR_SYNC(1, 64);  // expect: barrier-divergent
    out[warp] = warp;
  }
}

int main() {
  int* out = zeros(2);
  kernel<<<1, 64>>>(out);
  return ended();
}
