// SPDX-License-Identifier: Apache-2.0
// twin: hit; kinds: 93
// hangs
// may: deadlock
// One lane of each warp executes bar.sync, the others go round it to a store that is for all.
#include "../twin.h"

__global__ void kernel(const int* in, int* out) {
  __shared__ int slot[2];
  const int t = threadIdx.x, warp = t / 32;
  if (t % 32 == 0) {
    slot[warp] = warp;
    BAR_SYNC(1, 64);  // expect: barrier-divergent
    out[warp] = slot[warp ^ 1];
  }
  out[2 + t] = in[t];
}

int main() {
  int *in = iota(64), *out = zeros(66);
  kernel<<<1, 64>>>(in, out);
  return ended();
}
